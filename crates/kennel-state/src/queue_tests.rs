use super::*;
use crate::audit::{Arguments, Outcome};
use std::time::UNIX_EPOCH;

const LONG: Duration = Duration::from_hours(1);

fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(second)
}

fn session(used: u64) -> Session {
    Session {
        endpoint: "/mcp".to_owned(),
        principal: "local".to_owned(),
        introduction: "{}".into(),
        version: "2025-11-25".to_owned(),
        log_level: None,
        subscriptions: Vec::new(),
        opened: at(1),
        used: at(used),
    }
}

fn row(text: Option<&str>) -> AuditRow {
    AuditRow {
        time: at(1),
        principal: "local".to_owned(),
        session: None,
        server: "s".to_owned(),
        method: "tools/call".to_owned(),
        tool: None,
        duration: Duration::ZERO,
        outcome: Outcome::Succeeded,
        error_code: None,
        request_bytes: 0,
        response_bytes: 0,
        arguments: Arguments { hash: None, text: text.map(ToOwned::to_owned) },
    }
}

#[test]
fn changes_of_a_session_become_one() {
    use SessionChange::{Put, Removed, Touched};
    for (changes, expected) in [
        (vec![Touched(at(5)), Touched(at(4))], Touched(at(5))),
        (vec![Put(session(3)), Touched(at(9)), Touched(at(8))], Put(session(9))),
        (vec![Touched(at(9)), Put(session(3))], Put(session(3))),
        (vec![Put(session(3)), Removed, Touched(at(9))], Removed),
        (vec![Removed, Put(session(3))], Put(session(3))),
        (vec![Touched(at(3)), Removed], Removed),
    ] {
        let queue = Queue::new(Limits::default());
        let key = SessionKey::of("a");
        for change in changes.clone() {
            assert_eq!(queue.session(key, change), Taken::Yes);
        }
        let work = queue.take(Duration::ZERO);
        assert_eq!(work.changes.sessions, HashMap::from([(key, expected)]), "{changes:?}");
    }
}

#[test]
fn that_a_catalog_was_read_does_not_undo_what_was_written() {
    let queue = Queue::new(Limits::default());
    let put = CatalogChange::Put(Catalog::default());
    for change in [CatalogChange::Used, put.clone(), CatalogChange::Used] {
        assert_eq!(queue.catalog("a".to_owned(), change), Taken::Yes);
    }
    assert_eq!(queue.take(LONG).changes.catalogs, HashMap::from([("a".to_owned(), put)]));
}

#[test]
fn each_kind_is_bounded_by_itself() {
    let limits = Limits { audit_waiting: 2, audit_waiting_bytes: 10, keys_waiting: 1, ..Limits::default() };
    let limits = Limits { questions_waiting: 1, ..limits };
    let queue = Queue::new(limits);
    assert_eq!(queue.audit(row(Some("12345678901"))), Taken::Dropped, "its arguments alone are too much");
    assert_eq!([(); 3].map(|()| queue.audit(row(Some("12345")))), [Taken::Yes, Taken::Yes, Taken::Dropped]);
    let (one, other) = (SessionKey::of("a"), SessionKey::of("b"));
    assert_eq!(queue.session(one, SessionChange::Removed), Taken::Yes);
    assert_eq!(queue.session(other, SessionChange::Removed), Taken::Dropped);
    assert_eq!(queue.session(one, SessionChange::Put(session(1))), Taken::Yes, "it takes no more room");
    assert_eq!(queue.catalog("a".to_owned(), CatalogChange::Used), Taken::Yes);
    assert_eq!(queue.catalog("b".to_owned(), CatalogChange::Used), Taken::Dropped);
    let flush = || Request::Flush(crate::answer::Answer::new().0);
    assert!(queue.request(flush()).is_ok());
    assert!(matches!(queue.request(flush()), Err((StateError::Busy { limit: 1 }, _))));
    let work = queue.take(LONG);
    assert_eq!((work.changes.count(), work.requests.len(), work.is_last), (3, 1, false));
    assert_eq!(queue.audit(row(Some("1234567890"))), Taken::Yes, "there is room again");
}

#[test]
fn what_can_wait_waits_for_others_and_what_cannot_takes_it_along() {
    let queue = Queue::new(Limits::default());
    queue.session(SessionKey::of("a"), SessionChange::Touched(at(1)));
    let due = queue.lock().due.expect("it will be looked at");
    queue.audit(row(None));
    let earlier = queue.lock().due.expect("it will be looked at");
    assert!(earlier < due, "an audit row waits less");
    queue.audit(row(None));
    assert_eq!(queue.lock().due, Some(earlier), "nor does it wait longer because there is another one");
    queue.session(SessionKey::of("b"), SessionChange::Removed);
    assert!(queue.lock().due.expect("it will be looked at") <= Instant::now());
    assert_eq!(queue.take(LONG).changes.count(), 4);
    assert_eq!(queue.lock().due, None);
}

#[test]
fn a_thread_that_waits_hears_of_what_cannot_wait() {
    let queue = Queue::new(Limits::default());
    queue.session(SessionKey::of("a"), SessionChange::Touched(at(1)));
    std::thread::scope(|scope| {
        let taking = scope.spawn(|| queue.take(LONG));
        queue.close();
        assert!(taking.join().expect("it takes").is_last);
    });
    assert_eq!(queue.audit(row(None)), Taken::Dropped, "nobody would write it");
    assert_eq!(queue.session(SessionKey::of("a"), SessionChange::Removed), Taken::Dropped);
    assert_eq!(queue.catalog("a".to_owned(), CatalogChange::Used), Taken::Dropped);
    let flush = Request::Flush(crate::answer::Answer::new().0);
    assert!(matches!(queue.request(flush), Err((StateError::Closed, _))));
}
