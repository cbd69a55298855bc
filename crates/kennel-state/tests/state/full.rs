//! A disk that is too slow, or a file that somebody else keeps for himself: nobody waits for it, and what is lost is counted.

use crate::support::{Place, call, catalog, raw, said, session};
use kennel_state::{AuditFilter, Limits, SessionKey, StateError, Store, Warning};
use std::time::{Duration, Instant};

#[test]
fn calls_do_not_wait_for_a_file_that_is_held_and_what_was_dropped_is_counted() {
    let place = Place::new();
    let busy = Duration::from_mins(10);
    let store = place.open_with(Limits { audit_waiting: 100, keys_waiting: 10, busy, ..Limits::default() });
    said(store.opened());
    let holder = raw(&place.path());
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = Instant::now();
    for number in 0..10_000 {
        store.record(call(number));
        store.put_session(SessionKey::of(&number.to_string()), session("/mcp"));
    }
    assert!(before.elapsed() < busy, "nobody waited for the file");
    let counters = store.counters();
    // What the thread has taken waits for the file with it, and as much again for the thread.
    assert!((9800..=9900).contains(&counters.dropped_audit), "{counters:?}");
    assert!((9980..=9990).contains(&counters.dropped_changes), "{counters:?}");
    assert_eq!(counters.written, 0);
    holder.execute_batch("COMMIT").unwrap();
    said(store.flush());
    let kept = said(store.audit(AuditFilter::default(), 99_999));
    assert_eq!(kept.len() as u64, 10_000 - counters.dropped_audit);
    assert!(kept.iter().any(|row| row.request_bytes == 0), "the first that came are kept");
    assert_eq!(said(store.sessions(None, 99)).len() as u64, 10_000 - counters.dropped_changes);
    let now = store.counters();
    assert_eq!((now.written, now.failed), (20_000 - counters.dropped_audit - counters.dropped_changes, 0));
}

#[test]
fn what_could_not_be_written_is_said_and_does_not_stop_what_follows() {
    let place = Place::new();
    let store = place.open_with(Limits { busy: Duration::from_millis(20), ..Limits::default() });
    said(store.opened());
    let holder = raw(&place.path());
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for number in 0..3 {
        store.record(call(number));
        let error = store.flush().wait(Duration::from_mins(1)).unwrap_err();
        assert!(matches!(error, StateError::Failed { .. }), "{error}");
        assert!(error.to_string().contains(place.path().to_str().unwrap()), "{error}");
    }
    assert_eq!(store.counters().failed, 3);
    assert_eq!(said(store.audit(AuditFilter::default(), 9)).len(), 0, "reading needs no turn");
    holder.execute_batch("COMMIT").unwrap();
    store.record(call(4));
    said(store.flush());
    assert_eq!(said(store.audit(AuditFilter::default(), 9)).len(), 1);
    let warnings = place.warnings();
    assert!(matches!(&warnings[..], [Warning::Lost { count: 1, total: 1, .. }]), "once a minute: {warnings:?}");
    drop(store);
    let warnings = place.warnings();
    assert!(matches!(&warnings[..], [Warning::Lost { count: 2, total: 3, .. }]), "and at the end: {warnings:?}");
}

#[test]
fn rows_that_are_lost_again_and_again_are_said_again_and_again() {
    let place = Place::new();
    let (busy, loss_interval) = (Duration::from_millis(1), Duration::from_millis(200));
    let store = place.open_with(Limits { busy, loss_interval, ..Limits::default() });
    said(store.opened());
    let holder = raw(&place.path());
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (before, mut lost) = (Instant::now(), 0);
    while before.elapsed() < 5 * loss_interval {
        store.record(call(lost));
        store.flush().wait(Duration::from_mins(1)).unwrap_err();
        lost += 1;
    }
    drop(store);
    let told: Vec<(u64, u64)> = place
        .warnings()
        .iter()
        .map(|warning| match warning {
            Warning::Lost { count, total, .. } => (*count, *total),
            other => panic!("{other}"),
        })
        .collect();
    let elapsed = u64::try_from(before.elapsed().as_millis()).unwrap();
    assert!(told.len() > 2 && told.len() as u64 <= 2 + elapsed / 200, "once in each interval: {told:?}");
    assert!(told.windows(2).all(|pair| pair[0].1 < pair[1].1), "a running count: {told:?}");
    assert_eq!(told.iter().map(|(count, _)| count).sum::<u64>(), lost, "none is forgotten: {told:?}");
    assert_eq!(told.last().unwrap().1, lost);
}

#[test]
fn calls_that_were_dropped_are_said() {
    let place = Place::new();
    let store = place.open_with(Limits { audit_waiting: 100, busy: Duration::from_mins(10), ..Limits::default() });
    said(store.opened());
    let holder = raw(&place.path());
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    (0..10_000).for_each(|number| store.record(call(number)));
    let dropped = store.counters().dropped_audit;
    holder.execute_batch("COMMIT").unwrap();
    drop(store);
    let told = place.warnings();
    let counts = told.iter().map(|warning| match warning {
        Warning::Dropped { count, .. } => *count,
        other => panic!("{other}"),
    });
    assert_eq!(counts.sum::<u64>(), dropped, "{told:?}");
    assert!(told[0].to_string().contains("are not in the audit log"), "{}", told[0]);
}

#[test]
fn nobody_waits_for_a_thread_that_is_gone() {
    let place = Place::new();
    let store = Store::open("/sys/kennel-state/kennel.db", Limits::default(), |_| panic!("whoever is told falls over"));
    let outcome = store.flush().wait(Duration::from_mins(1));
    assert!(matches!(outcome, Err(StateError::Closed)), "{outcome:?}");
    assert!(matches!(place.open().flush().wait(Duration::from_mins(1)), Ok(())));
}

#[test]
fn questions_are_bounded_too() {
    let place = Place::new();
    let store = place.open_with(Limits { questions_waiting: 5, ..Limits::default() });
    said(store.opened());
    let holder = raw(&place.path());
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.put_catalog("first", catalog("first"));
    // Until the thread waits for its turn to write, and answers nobody.
    while store.opened().wait(Duration::from_millis(200)).is_ok() {}
    let answers: Vec<_> = (0..20).map(|_| store.opened()).collect();
    holder.execute_batch("COMMIT").unwrap();
    let outcomes: Vec<_> = answers.into_iter().map(|answer| answer.wait(Duration::from_mins(1))).collect();
    // As many as may wait; the question that got no answer in time may be one of them.
    let answered = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert!((4..=5).contains(&answered), "{answered}");
    assert!(matches!(outcomes.last().unwrap(), Err(StateError::Busy { limit: 5 })));
}
