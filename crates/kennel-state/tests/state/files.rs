//! The file itself: whose it is, of which version, and what happens when it is not what it should be.

use crate::support::{Place, call, catalog, raw, said, session};
use kennel_state::{AuditFilter, Limits, SessionKey, StateError, Store, Warning};
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

const LONG: Duration = Duration::from_mins(1);

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_file_is_for_its_user_alone() {
    let place = Place::new();
    let store = place.open();
    store.record(call(1));
    said(store.flush());
    assert_eq!(place.files(), ["kennel.db", "kennel.db-shm", "kennel.db-wal"]);
    for name in place.files() {
        assert_eq!(mode(&place.path().with_file_name(&name)), 0o600, "{name}");
    }
    assert_eq!(mode(place.path().parent().unwrap()), 0o700);
    drop(store);
    assert_eq!(place.files(), ["kennel.db"], "closed, it is one file");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o644)).unwrap();
    said(place.open().opened());
    assert_eq!(mode(&place.path()), 0o600, "rights that others were given are taken back");
}

/// The first version as it was written, and a few rows.
const FIRST: &str = "
    CREATE TABLE catalogs (server TEXT NOT NULL PRIMARY KEY, changed INTEGER NOT NULL, used INTEGER NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE TABLE eras (server TEXT NOT NULL REFERENCES catalogs ON DELETE CASCADE, era TEXT NOT NULL,
        knowledge TEXT NOT NULL, PRIMARY KEY (server, era)) STRICT, WITHOUT ROWID;
    CREATE TABLE offers (server TEXT NOT NULL REFERENCES catalogs ON DELETE CASCADE, kind TEXT NOT NULL,
        era TEXT NOT NULL, version TEXT NOT NULL, introduction BLOB NOT NULL, PRIMARY KEY (server, kind)) STRICT;
    CREATE TABLE pages (server TEXT NOT NULL, kind TEXT NOT NULL, list TEXT NOT NULL, number INTEGER NOT NULL,
        page BLOB NOT NULL, PRIMARY KEY (server, kind, list, number),
        FOREIGN KEY (server, kind) REFERENCES offers ON DELETE CASCADE) STRICT;
    CREATE TABLE sessions (session BLOB NOT NULL PRIMARY KEY, endpoint TEXT NOT NULL, principal TEXT NOT NULL,
        introduction BLOB NOT NULL, version TEXT NOT NULL, log_level TEXT, subscriptions TEXT NOT NULL,
        opened INTEGER NOT NULL, used INTEGER NOT NULL) STRICT;
    CREATE INDEX sessions_by_use ON sessions (used);
    INSERT INTO catalogs VALUES ('files', 1, 4000000000000);
    INSERT INTO eras VALUES ('files', 'legacy', 'spoken');
    INSERT INTO offers VALUES ('files', 'k', 'legacy', '2025-11-25', x'7b7d');
    INSERT INTO pages VALUES ('files', 'k', 'tools', 0, x'5b5d');
    PRAGMA user_version = 1;";

#[test]
fn a_file_of_the_first_version_is_brought_up_to_date_with_its_rows() {
    let place = Place::new();
    fs::create_dir(place.path().parent().unwrap()).unwrap();
    let old = raw(&place.path());
    old.execute_batch(FIRST).unwrap();
    let key = SessionKey::of("id");
    let digest: Vec<u8> = key
        .to_string()
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    old.execute(
        "INSERT INTO sessions VALUES (?1, '/mcp', 'ann', x'7b7d', '2025-06-18', NULL, '[\"a\"]', 5, 6)",
        [digest],
    )
    .unwrap();
    drop(old);
    let store = place.open();
    let catalog = said(store.catalog("files")).unwrap();
    assert_eq!(catalog.eras["legacy"], "spoken");
    assert_eq!(catalog.offers["k"].lists["tools"], ["[]"]);
    let session = said(store.session(key)).unwrap();
    assert_eq!((session.principal.as_str(), session.subscriptions), ("ann", vec!["a".to_owned()]));
    store.record(call(1));
    assert_eq!(said(store.audit(AuditFilter::default(), 9)).len(), 1, "what came later is there, too");
    drop(store);
    let version: i64 = raw(&place.path()).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 5);
    assert!(place.warnings().is_empty());
}

#[test]
fn a_file_that_somebody_reads_is_waited_for() {
    let place = Place::new();
    fs::create_dir(place.path().parent().unwrap()).unwrap();
    let reader = raw(&place.path());
    reader.execute_batch(FIRST).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM catalogs").unwrap();
    let store = place.open();
    // It cannot be changed before that is over.
    let early = store.opened().wait(Duration::from_millis(200));
    assert!(matches!(early, Err(StateError::Late)), "{early:?}");
    reader.execute_batch("COMMIT").unwrap();
    assert!(said(store.catalog("files")).is_some());
    assert!(place.warnings().is_empty());
}

#[test]
fn a_file_of_a_newer_kennel_is_refused_and_left_as_it_is() {
    let place = Place::new();
    place.open().put_catalog("a", catalog("a"));
    raw(&place.path()).execute_batch("PRAGMA user_version = 99; CREATE TABLE later (x);").unwrap();
    let before = fs::read(place.path()).unwrap();
    let store = place.open();
    let error = store.opened().wait(LONG).unwrap_err();
    assert!(matches!(error, StateError::Newer { found: 99, known: 5, .. }), "{error}");
    for word in [place.path().to_str().unwrap(), "newer Kennel", "another directory"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    // Nothing is read and nothing written, but nothing breaks either.
    assert!(store.catalog("a").wait(LONG).is_err());
    store.put_catalog("a", catalog("b"));
    assert!(store.flush().wait(LONG).is_err());
    assert_eq!(store.counters().failed, 1);
    drop(store);
    assert_eq!(place.files(), ["kennel.db"]);
    assert_eq!(fs::read(place.path()).unwrap(), before);
    assert!(matches!(&place.warnings()[..], [Warning::Unkept(StateError::Newer { .. })]));
}

/// Where the file went that was damaged.
fn aside(place: &Place) -> String {
    let warnings = place.warnings();
    let [Warning::MovedAside { path, aside, .. }] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(*path, place.path());
    let name = aside.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with("kennel.db-damaged-") && warnings[0].to_string().contains(&name), "{}", warnings[0]);
    name
}

#[test]
fn a_file_that_is_no_state_is_moved_aside() {
    for rubbish in [&b"this is no database, but it is long enough to be taken for one".repeat(99)[..], &[0xff; 20]] {
        let place = Place::new();
        fs::create_dir(place.path().parent().unwrap()).unwrap();
        fs::write(place.path(), rubbish).unwrap();
        let store = place.open();
        said(store.opened());
        let aside = aside(&place);
        assert_eq!(fs::read(place.path().with_file_name(&aside)).unwrap(), rubbish);
        store.put_catalog("a", catalog("a"));
        drop(store);
        assert_eq!(place.files(), ["kennel.db", &aside]);
        assert_eq!(said(place.open().catalog("a")), Some(catalog("a")));
    }
}

/// Writes rubbish over all of a state but its first page, where the schema is.
fn damage(path: &Path) {
    let length = fs::metadata(path).unwrap().len();
    assert!(length > 3 * 4096);
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(2 * 4096)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(length - 2 * 4096).unwrap()]).unwrap();
}

#[test]
fn damage_that_is_found_later_is_no_end_either() {
    let place = Place::new();
    let store = place.open();
    store.put_catalog("a", catalog("a"));
    store.put_session(SessionKey::of("a"), session("/mcp"));
    drop(store);
    damage(&place.path());
    let store = place.open();
    // Whatever is asked first finds it, and is answered from a new file.
    assert_eq!(said(store.catalog("a")), None);
    store.put_catalog("a", catalog("b"));
    assert_eq!(said(store.catalog("a")), Some(catalog("b")));
    let aside = aside(&place);
    drop(store);
    assert!(place.files().contains(&aside));

    damage(&place.path());
    let store = place.open();
    store.put_catalog("a", catalog("c"));
    said(store.flush());
    assert_eq!(said(store.catalog("a")), Some(catalog("c")), "nor is what was to be written lost");
    self::aside(&place);
}

#[test]
fn what_another_kennel_has_begun_anew_is_not_moved_again() {
    let place = Place::new();
    place.open().put_catalog("a", catalog("a"));
    damage(&place.path());
    let (one, other) = (place.open(), place.open());
    said(one.opened());
    said(other.opened());
    assert_eq!(said(one.catalog("a")), None);
    one.put_catalog("a", catalog("b"));
    said(one.flush());
    assert_eq!(said(other.catalog("a")), Some(catalog("b")), "it finds the damage, and then the new file");
    aside(&place);
}

#[test]
fn a_place_that_cannot_be_written_is_named_with_what_to_do() {
    let place = Place::new();
    let obstacle = place.directory.path().join("obstacle");
    fs::write(&obstacle, "").unwrap();
    for path in [obstacle.join("state/kennel.db"), Path::new("/sys/kennel-state/kennel.db").to_owned()] {
        let store = Store::open(&path, Limits::default(), |_| {});
        let error = store.opened().wait(LONG).unwrap_err();
        assert!(matches!(error, StateError::Unwritable { .. }), "{error}");
        for word in [path.parent().unwrap().to_str().unwrap(), "writable", "another"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        store.record(call(1));
        assert!(store.flush().wait(LONG).is_err());
        assert_eq!(store.counters().failed, 1);
    }
    fs::create_dir_all(place.path()).unwrap();
    let before = mode(&place.path());
    let error = place.open().opened().wait(LONG).unwrap_err();
    assert!(error.to_string().contains(place.path().to_str().unwrap()), "{error}");
    assert_eq!((place.path().is_dir(), mode(&place.path())), (true, before), "it is nobody's to change");
}
