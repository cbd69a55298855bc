//! What is written is read again as it was.

use crate::support::{Place, at, call, catalog, now, raw, said, session};
use kennel_state::{
    Arguments, AuditFilter, AuditRow, Catalog, Kept, Limits, Offer, Outcome, SavedLimits, SavedTool, SessionKey,
    StateError, Store,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

#[test]
fn a_catalog_is_read_as_it_was_written_and_replaced_as_a_whole() {
    let place = Place::new();
    let store = place.open();
    assert_eq!(said(store.catalog("a")), None);
    store.put_catalog("a", catalog("first"));
    store.put_catalog("b", catalog("other"));
    assert_eq!(said(store.catalog("a")), Some(catalog("first")), "also before it is in the file");
    let smaller = Catalog { offers: BTreeMap::new(), ..catalog("second") };
    store.put_catalog("a", smaller.clone());
    drop(store);
    let store = place.open();
    assert_eq!(said(store.catalog("a")), Some(smaller));
    assert_eq!(said(store.catalog("b")), Some(catalog("other")));
    drop(store);
    let connection = raw(&place.path());
    let left: i64 =
        connection.query_row("SELECT count(*) FROM pages WHERE server = 'a'", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "pages go with their offer");
}

#[test]
fn a_session_is_kept_under_a_digest_and_never_under_its_id() {
    let place = Place::new();
    let (id, key) = ("0123456789abcdef-secret", SessionKey::of("0123456789abcdef-secret"));
    let store = place.open();
    let kept = session("/mcp");
    store.put_session(key, kept.clone());
    assert_eq!(said(store.session(key)), Some(kept));
    assert_eq!(said(store.session(SessionKey::of("another"))), None);
    drop(store);
    for name in place.files() {
        let bytes = std::fs::read(place.path().with_file_name(&name)).unwrap();
        assert!(!bytes.windows(id.len()).any(|window| window == id.as_bytes()), "{name}");
    }
    assert_eq!(key.to_string().len(), 64);
    assert!(!format!("{key:?}").contains(&key.to_string()));
}

#[test]
fn sessions_are_found_by_endpoint_and_forgotten_when_nobody_uses_them() {
    let store = Store::in_memory();
    let keys = ["a", "b", "c"].map(SessionKey::of);
    for (key, (endpoint, used)) in keys.into_iter().zip([("/mcp", 10), ("/servers/x/mcp", 20), ("/mcp", 30)]) {
        store.put_session(key, kennel_state::Session { used: at(used), ..session(endpoint) });
    }
    let found = |store: &Store, endpoint, most| -> Vec<_> {
        said(store.sessions(endpoint, most)).into_iter().map(|(key, _)| key).collect()
    };
    assert_eq!(found(&store, None, 9), [keys[2], keys[1], keys[0]]);
    assert_eq!(found(&store, Some("/mcp"), 9), [keys[2], keys[0]]);
    assert_eq!(found(&store, None, 1), [keys[2]]);
    store.touch_session(keys[0], at(25));
    store.touch_session(SessionKey::of("nobody's"), at(99));
    assert_eq!(said(store.expire_sessions(at(25))), 1);
    assert_eq!(found(&store, None, 9), [keys[2], keys[0]]);
    store.remove_session(keys[2]);
    assert_eq!(found(&store, None, 9), [keys[0]]);
}

/// A call that differs from others in all that can be asked for.
fn odd() -> AuditRow {
    AuditRow {
        principal: "ann".to_owned(),
        session: Some(SessionKey::of("s")),
        server: "odd".to_owned(),
        method: "prompts/get".to_owned(),
        tool: None,
        outcome: Outcome::Lost,
        error_code: Some(-31002),
        arguments: Arguments::in_full(b"{\"a\":1}"),
        time: at(1_000_000),
        ..call(99)
    }
}

#[test]
fn calls_are_found_by_all_that_is_kept_of_them_the_newest_first() {
    let store = Store::in_memory();
    store.record(AuditRow { time: at(2_000_000), ..call(1) });
    store.record(odd());
    store.record(AuditRow { time: at(3_000_000), ..call(2) });
    store.record(AuditRow { time: at(3_000_000), ..call(3) });
    let numbers = |filter, most| -> Vec<_> {
        said(store.audit(filter, most)).into_iter().map(|row: AuditRow| row.request_bytes).collect()
    };
    assert_eq!(numbers(AuditFilter::default(), 9), [3, 2, 1, 99]);
    assert_eq!(numbers(AuditFilter::default(), 2), [3, 2]);
    let any = AuditFilter::default;
    let hash = Some(said(store.digest(b"{\"a\":1}")));
    let kept_odd = AuditRow { arguments: Arguments { hash, ..odd().arguments }, ..odd() };
    for filter in [
        AuditFilter { principal: Some("ann".to_owned()), ..any() },
        AuditFilter { session: Some(SessionKey::of("s")), ..any() },
        AuditFilter { server: Some("odd".to_owned()), ..any() },
        AuditFilter { method: Some("prompts/get".to_owned()), ..any() },
        AuditFilter { outcome: Some(Outcome::Lost), ..any() },
        AuditFilter { until: Some(at(2_000_000)), ..any() },
    ] {
        assert_eq!(said(store.audit(filter.clone(), 9)), std::slice::from_ref(&kept_odd), "{filter:?}");
    }
    assert_eq!(numbers(AuditFilter { tool: Some("read".to_owned()), ..any() }, 9), [3, 2, 1]);
    assert_eq!(numbers(AuditFilter { since: Some(at(2_000_000)), until: Some(at(3_000_000)), ..any() }, 9), [1]);
    let both = AuditFilter { server: Some("files".to_owned()), principal: Some("ann".to_owned()), ..any() };
    assert!(numbers(both, 9).is_empty());
}

#[test]
fn arguments_are_kept_by_their_hash_and_only_as_text_where_that_is_wanted() {
    let place = Place::new();
    let store = place.open_with(Limits { argument_bytes: 6, ..Limits::default() });
    let hash = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert_eq!(Arguments::hashed(b"{}"), Arguments { hash: Some(hash.to_owned()), text: None });
    let arguments = Arguments::in_full("12345€".as_bytes());
    store.record(AuditRow { arguments: arguments.clone(), ..call(1) });
    let kept = &said(store.audit(AuditFilter::default(), 1))[0].arguments;
    let digest = said(store.digest("12345€".as_bytes()));
    assert_ne!(Some(&digest), arguments.hash.as_ref(), "nobody else can make it");
    assert_eq!(*kept, Arguments { text: Some("12345".to_owned()), hash: Some(digest) }, "cut, but hashed as a whole");
}

#[test]
fn equal_arguments_have_equal_digests_in_one_state_and_others_in_another() {
    let (place, other) = (Place::new(), Place::new());
    let (store, stranger) = (place.open(), other.open());
    let digest = said(store.digest(b"{\"a\":1}"));
    assert_ne!(digest, said(store.digest(b"{\"a\":2}")));
    assert_ne!(digest, said(stranger.digest(b"{\"a\":1}")), "nobody can make a table of digests");
    let both = [place.open(), place.open()];
    assert!(both.into_iter().all(|another| said(another.digest(b"{\"a\":1}")) == digest), "of several Kennels");
    drop(store);
    let store = place.open();
    store.record(AuditRow { arguments: Arguments::hashed(b"{\"a\":1}"), ..call(1) });
    let kept = said(store.audit(AuditFilter::default(), 1)).remove(0);
    assert_eq!(kept.arguments.hash, Some(digest), "also after a restart");
}

#[test]
fn digests_that_anybody_could_have_made_are_removed_with_the_step_to_those_with_a_key() {
    let place = Place::new();
    drop(said_open(&place));
    let plain = Arguments::hashed(b"{}").hash.unwrap();
    let file = raw(&place.path());
    let row = "INSERT INTO audit (time, principal, server, method, micros, outcome, request_bytes, response_bytes, \
               arguments_hash) VALUES (1, 'a', 'b', 'c', 1, 'succeeded', 1, 1, ?1)";
    file.execute(row, [&plain]).unwrap();
    file.execute_batch("DROP TABLE keys; PRAGMA user_version = 3").unwrap();
    drop(file);
    let kept = said(place.open().audit(AuditFilter::default(), 9));
    assert_eq!((kept.len(), &kept[0].arguments.hash), (1, &None));
}

fn said_open(place: &Place) -> Store {
    let store = place.open();
    said(store.opened());
    store
}

#[test]
fn what_is_too_old_or_too_much_is_removed() {
    let place = Place::new();
    let day = Duration::from_hours(24);
    let limits = Limits { audit_age: 10 * day, audit_rows: 6000, session_age: 10 * day, ..Limits::default() };
    let store = place.open_with(Limits { catalog_age: 10 * day, audit_waiting: 20_000, ..limits });
    let old = now() - 11 * day;
    for number in 0..12_000 {
        store.record(AuditRow { time: now() - day, ..call(number) });
        store.record(AuditRow { time: old, ..call(number) });
        if number % 4000 == 0 {
            said(store.flush());
        }
    }
    assert_eq!(store.counters().dropped_audit, 0);
    let (kept, gone) = (SessionKey::of("kept"), SessionKey::of("gone"));
    store.put_session(kept, session("/mcp"));
    store.put_session(gone, kennel_state::Session { used: old, ..session("/mcp") });
    for server in ["kept", "read", "gone"] {
        store.put_catalog(server, catalog(server));
    }
    said(store.flush());
    raw(&place.path()).execute("UPDATE catalogs SET used = 1 WHERE server <> 'kept'", []).unwrap();
    // Who reads it, uses it.
    said(store.catalog("read"));
    assert_eq!(said(store.tidy()), 12_000 + 6000 + 1 + 1);
    let left = said(store.audit(AuditFilter::default(), 99_999));
    assert_eq!(left.len(), 6000);
    assert!(left.iter().all(|row| row.time > old && row.request_bytes >= 6000), "the newest stay");
    assert!(said(store.session(kept)).is_some() && said(store.session(gone)).is_none());
    let is_known = ["kept", "read", "gone"].map(|server| said(store.catalog(server)).is_some());
    assert_eq!(is_known, [true, true, false]);
    assert_eq!(said(store.tidy()), 0);
}

#[test]
fn calls_are_forgotten_when_they_are_too_old_however_few_there_are() {
    let place = Place::new();
    let store = place.open_with(Limits { audit_age: Duration::from_hours(1), ..Limits::default() });
    for minutes in [30, 90, 50, 70] {
        store.record(AuditRow { time: now() - Duration::from_mins(minutes), ..call(minutes) });
    }
    assert_eq!(said(store.tidy()), 2);
    let left: Vec<_> = said(store.audit(AuditFilter::default(), 9)).iter().map(|row| row.request_bytes).collect();
    assert_eq!(left, [30, 50]);
}

#[test]
fn the_file_stays_within_its_bound_however_much_is_called() {
    let place = Place::new();
    let most = 4 << 20;
    let store = place.open_with(Limits { file_bytes: most, ..Limits::default() });
    let long = AuditRow {
        tool: Some("n".repeat(100_000)),
        arguments: Arguments::in_full("a".repeat(100_000).as_bytes()),
        ..call(1)
    };
    for _ in 0..20 {
        for _ in 0..20 {
            store.record(long.clone());
        }
        said(store.flush());
    }
    let left = said(store.audit(AuditFilter::default(), 99_999));
    assert!(left.iter().all(|row| row.tool.as_ref().is_some_and(|name| name.len() == 1024)), "names are cut");
    assert!(left.len() < 400, "{} rows of 400 are left, though nobody has asked to tidy up", left.len());
    // One batch more than the bound may be written before it is looked at.
    let length = std::fs::metadata(place.path()).unwrap().len();
    assert!(length < most * 2, "the file has {length} bytes");
}

#[tokio::test]
async fn a_closed_store_has_written_everything_and_takes_nothing_more() {
    let place = Place::new();
    let store = place.open();
    let other = store.clone();
    store.record(call(1));
    store.touch_session(SessionKey::of("a"), now());
    store.close().await.unwrap();
    assert_eq!(place.files(), ["kennel.db"], "it is closed for everybody");
    other.record(call(2));
    assert_eq!(other.counters().dropped_audit, 1);
    assert!(matches!(other.flush().await, Err(StateError::Closed)));
    assert!(matches!(other.audit(AuditFilter::default(), 9).await, Err(StateError::Closed)));
    drop((store, other));
    assert_eq!(place.open().audit(AuditFilter::default(), 9).await.unwrap().len(), 1);
}

/// What can happen to a session.
#[derive(Debug, Clone)]
enum Step {
    Put(u8, u32),
    Touch(u8, u32),
    Remove(u8),
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_u8..4, any::<u32>()).prop_map(|(key, used)| Step::Put(key, used)),
        (0_u8..4, any::<u32>()).prop_map(|(key, used)| Step::Touch(key, used)),
        (0_u8..4).prop_map(Step::Remove),
        Just(Step::Flush),
    ]
}

fn pages() -> impl Strategy<Value = BTreeMap<String, Vec<bytes::Bytes>>> {
    let page = proptest::collection::vec(any::<u8>(), 0..20).prop_map(bytes::Bytes::from);
    proptest::collection::btree_map(any::<String>(), proptest::collection::vec(page, 0..3), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// However changes are put together, what is left is what would be if each were made by itself.
    #[test]
    fn sessions_are_as_if_each_change_was_made_at_once(steps in proptest::collection::vec(step(), 0..40)) {
        let store = Store::in_memory();
        let mut expected = HashMap::new();
        let key = |key: u8| SessionKey::of(&key.to_string());
        for step in steps {
            match step {
                Step::Put(number, used) => {
                    let session = kennel_state::Session { used: at(used.into()), ..session(&number.to_string()) };
                    expected.insert(key(number), session.used);
                    store.put_session(key(number), session);
                }
                Step::Touch(number, used) => {
                    let used = at(used.into());
                    expected.entry(key(number)).and_modify(|known| *known = used.max(*known));
                    store.touch_session(key(number), used);
                }
                Step::Remove(number) => {
                    expected.remove(&key(number));
                    store.remove_session(key(number));
                }
                Step::Flush => said(store.flush()),
            }
        }
        let left = said(store.sessions(None, 99)).into_iter().map(|(key, session)| (key, session.used));
        prop_assert_eq!(left.collect::<HashMap<_, _>>(), expected);
    }

    #[test]
    fn any_catalog_is_read_as_it_was_written(
        eras in proptest::collection::btree_map(any::<String>(), any::<String>(), 0..3),
        offers in proptest::collection::btree_map(any::<String>(), (any::<String>(), any::<String>(), pages()), 0..3),
    ) {
        let offer = |(era, version, lists): (String, String, _)| {
            Offer { introduction: version.clone().into(), era, version, lists }
        };
        let offers = offers.into_iter().map(|(kind, parts)| (kind, offer(parts))).collect();
        let catalog = Catalog { eras, offers };
        let store = Store::in_memory();
        store.put_catalog("", catalog.clone());
        prop_assert_eq!(said(store.catalog("")), Some(catalog));
    }
}

#[test]
fn saved_tools_are_kept_by_owner_and_view_within_bounds_and_found_after_a_restart() {
    let place = Place::new();
    let store = place.open();
    let limits = SavedLimits { count: 2, bytes: 100 };
    let in_view = |owner: &str, view: &str, name: &str, source: &str| SavedTool {
        owner: owner.into(),
        view: view.into(),
        name: name.into(),
        description: "é".into(),
        source: source.into(),
        saved: at(7),
    };
    let tool = |owner: &str, name: &str, source: &str| in_view(owner, "", name, source);
    let save = |tool: &SavedTool| said(store.save_tool(tool.clone(), limits));
    assert_eq!(save(&tool("ann", "b", "def b(): pass")), Kept::Yes);
    assert_eq!(save(&tool("ann", "a", "def a(): pass")), Kept::Yes);
    assert_eq!(save(&tool("ann", "c", "def c(): pass")), Kept::TooMany);
    assert_eq!(save(&tool("ann", "a", &"x".repeat(90))), Kept::TooLarge, "13 + 2 bytes are taken, 90 + 2 are too many");
    assert_eq!(save(&tool("ann", "a", &"x".repeat(83))), Kept::Yes, "the one of the same name makes room");
    assert_eq!(save(&tool("bob", "a", "def a(): return 1")), Kept::Yes, "others have room of their own");
    assert_eq!(save(&in_view("ann", "v", "a", "def a(): return 2")), Kept::Yes, "and so have other views");
    drop(store);
    let store = place.open();
    let found = |owner: &str, view| -> Vec<_> {
        said(store.saved_tools(owner, view)).into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(said(store.saved_tools("bob", Some(""))), [tool("bob", "a", "def a(): return 1")]);
    assert_eq!(said(store.saved_tools("ann", Some("v"))), [in_view("ann", "v", "a", "def a(): return 2")]);
    assert_eq!(found("ann", Some("")), ["a", "b"]);
    assert_eq!(found("ann", None), ["a", "b", "a"]);
    assert!(said(store.remove_tool("ann", "", "a")));
    assert!(!said(store.remove_tool("ann", "", "a")));
    assert_eq!(found("ann", None), ["b", "a"], "that of the view stays");
    assert_eq!(found("bob", None), ["a"]);
}
