//! Several processes on one file, and one that is killed in the middle of writing.

use crate::support::{Place, call, catalog, raw, said, session};
use kennel_state::{AuditFilter, AuditRow, Limits, SessionKey, Store};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Tells a process of these tests that it is to write, and where.
const PATH: &str = "KENNEL_STATE_TEST_PATH";
/// How it calls itself.
const NAME: &str = "KENNEL_STATE_TEST_NAME";
/// How many rows it writes.
const COUNT: &str = "KENNEL_STATE_TEST_COUNT";

/// A writer in a process of its own, with what it says.
struct Writer {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Writer {
    fn start(path: &Path, name: &str, count: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::a_writer", "--nocapture", "--test-threads", "1"])
            .env(PATH, path)
            .env(NAME, name)
            .env(COUNT, count.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The number of the next row that is said to be in the file, if there are more.
    fn acknowledged(&mut self) -> Option<u64> {
        self.lines.find_map(|line| line.unwrap().split("kept ").nth(1).map(|number| number.parse().unwrap()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes when another test has started this one in a process of its own; otherwise there is nothing to do.
#[test]
fn a_writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let (name, count) = (std::env::var(NAME).unwrap(), std::env::var(COUNT).unwrap().parse().unwrap());
    let store = Store::open(path, Limits::default(), |warning| panic!("{warning}"));
    for number in 0..count {
        store.record(AuditRow { principal: name.clone(), ..call(number) });
        store.put_session(SessionKey::of(&format!("{name} {number}")), session(&name));
        store.put_catalog(&name, catalog(&number.to_string()));
        store.put_catalog("shared by all", catalog(&format!("{name} {number}")));
        if number % 3 == 0 {
            said(store.flush());
            println!("\nkept {number}");
        }
    }
    said(store.flush());
    println!("\nkept {}", count - 1);
}

fn is_sound(path: &Path) {
    let verdict: String = raw(path).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

/// The numbers of the rows that a writer has left, from the first on.
fn left_by(store: &Store, name: &str) -> Vec<u64> {
    let filter = AuditFilter { principal: Some(name.to_owned()), ..AuditFilter::default() };
    let mut numbers: Vec<_> = said(store.audit(filter, 999_999)).iter().map(|row| row.request_bytes).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let place = Place::new();
    for round in 0..6_u64 {
        let name = format!("writer {round}");
        let mut writer = Writer::start(&place.path(), &name, u64::MAX);
        let mut last = 0;
        for _ in 0..=round * 7 {
            last = writer.acknowledged().expect("it writes for ever");
        }
        // SIGKILL, while it goes on writing.
        drop(writer);
        is_sound(&place.path());
        let store = place.open();
        let left = left_by(&store, &name);
        assert!(left.len() as u64 > last, "{} of {last} and one", left.len());
        assert!(left.iter().copied().eq(0..left.len() as u64), "without gaps");
        for number in 0..=last {
            assert!(said(store.session(SessionKey::of(&format!("{name} {number}")))).is_some());
        }
        let offer = &said(store.catalog(&name)).unwrap().offers["one"];
        let written: u64 = str::from_utf8(&offer.introduction).unwrap()[12..].trim_end_matches("\" }").parse().unwrap();
        assert!(written >= last, "{written} is older than {last}");
    }
    assert!(place.warnings().is_empty());
}

#[test]
fn several_processes_write_at_once() {
    const ROWS: u64 = 400;
    let place = Place::new();
    let names = ["one", "two", "three"];
    // All of them find no file, and want to make it.
    let mut writers = names.map(|name| Writer::start(&place.path(), name, ROWS));
    let store = place.open();
    for number in 0..ROWS {
        store.record(AuditRow { principal: "here".to_owned(), ..call(number) });
        if number % 10 == 0 {
            said(store.flush());
        }
    }
    for writer in &mut writers {
        while writer.acknowledged() != Some(ROWS - 1) {}
    }
    drop(writers);
    for name in names.into_iter().chain(["here"]) {
        assert!(left_by(&store, name).into_iter().eq(0..ROWS), "{name}");
    }
    assert_eq!(said(store.sessions(None, 999_999)).len() as u64, 3 * ROWS);
    assert!(said(store.catalog("shared by all")).is_some());
    assert_eq!(store.counters().failed, 0);
    drop(store);
    is_sound(&place.path());
    assert_eq!(place.files(), ["kennel.db"]);
    assert!(place.warnings().is_empty());
}

#[test]
fn a_file_is_made_by_all_who_want_it_at_once() {
    for _ in 0..60 {
        let place = Place::new();
        let stores: [_; 6] = std::array::from_fn(|_| place.open());
        for (number, store) in (0..).zip(&stores) {
            store.record(call(number));
            said(store.flush());
        }
        assert_eq!(said(stores[0].audit(AuditFilter::default(), 99)).len(), stores.len());
        // Some close it while others open it.
        let more: [_; 6] = stores.map(|store| {
            drop(store);
            place.open()
        });
        for store in &more {
            said(store.opened());
        }
        assert!(place.warnings().is_empty());
    }
}
