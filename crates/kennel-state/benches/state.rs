//! What the state costs those who use it: opening the file, asking for catalogs, recording calls.
//!
//! `cargo bench -p kennel-state` prints the table of `docs/promises.md`. Files are made in the directory for temporary
//! ones; `TMPDIR` says on which disk that is.

use kennel_state::{
    Arguments, AuditFilter, AuditRow, Catalog, Limits, Offer, Outcome, Session, SessionKey, StateError, Store,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

const OPENINGS: usize = 50;
const SERVERS: usize = 100;
const CALLS: u32 = 100_000;
const SESSIONS: usize = 10_000;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    opening(directory.path())?;
    let path = directory.path().join("kennel.db");
    let limits = Limits { audit_waiting: CALLS as usize, ..Limits::default() };
    let store = Store::open(&path, limits.clone(), |_| {});
    catalogs(&store)?;
    calls(&store)?;
    sessions(&store)?;
    drop(store);
    let start = Instant::now();
    let store = Store::open(&path, limits, |_| {});
    all_catalogs(&store)?;
    show("open a file with all of that, and read 100 catalogs", start.elapsed());
    Ok(())
}

fn opening(directory: &Path) -> Result<(), StateError> {
    let (mut made, mut opened) = (Vec::new(), Vec::new());
    for number in 0..OPENINGS {
        let path = directory.join(format!("{number}/kennel.db"));
        for times in [&mut made, &mut opened] {
            let start = Instant::now();
            let store = Store::open(&path, Limits::default(), |_| {});
            store.catalog("server").wait(PATIENCE)?;
            times.push(start.elapsed());
            store.put_catalog("server", catalog());
        }
    }
    show("make a file, until it has answered", median(made));
    show("open a file, until it has answered", median(opened));
    Ok(())
}

fn catalogs(store: &Store) -> Result<(), StateError> {
    store.opened().wait(PATIENCE)?;
    let start = Instant::now();
    for number in 0..SERVERS {
        store.put_catalog(&number.to_string(), catalog());
    }
    store.flush().wait(PATIENCE)?;
    show("write 100 catalogs of 20 KB", start.elapsed());
    let start = Instant::now();
    all_catalogs(store)?;
    show("read 100 catalogs of 20 KB", start.elapsed());
    Ok(())
}

fn all_catalogs(store: &Store) -> Result<(), StateError> {
    let answers: Vec<_> = (0..SERVERS).map(|number| store.catalog(&number.to_string())).collect();
    answers.into_iter().try_for_each(|answer| answer.wait(PATIENCE).map(drop))
}

fn calls(store: &Store) -> Result<(), StateError> {
    let start = Instant::now();
    for _ in 0..CALLS {
        store.record(call());
    }
    show("record a call, for whoever makes it", start.elapsed() / CALLS);
    store.flush().wait(PATIENCE)?;
    show("record a call, until it is in the file", start.elapsed() / CALLS);
    let start = Instant::now();
    let filter = AuditFilter { server: Some("server".to_owned()), ..AuditFilter::default() };
    store.audit(filter, 100).wait(PATIENCE)?;
    show("find the last 100 of 100,000 calls", start.elapsed());
    Ok(())
}

fn sessions(store: &Store) -> Result<(), StateError> {
    let start = Instant::now();
    for number in 0..SESSIONS {
        store.put_session(SessionKey::of(&number.to_string()), session());
    }
    store.flush().wait(PATIENCE)?;
    show("write 10,000 sessions", start.elapsed());
    let start = Instant::now();
    store.sessions(None, u32::MAX).wait(PATIENCE)?;
    show("read 10,000 sessions", start.elapsed());
    Ok(())
}

fn catalog() -> Catalog {
    let lists = BTreeMap::from([("tools/list".to_owned(), vec![vec![b' '; 20_000].into()])]);
    let offer = Offer { era: "legacy".into(), version: "2025-11-25".into(), introduction: "{}".into(), lists };
    Catalog { eras: BTreeMap::new(), offers: BTreeMap::from([("kind".to_owned(), offer)]) }
}

fn call() -> AuditRow {
    AuditRow {
        time: SystemTime::now(),
        principal: "local".to_owned(),
        session: Some(SessionKey::of("session")),
        server: "server".to_owned(),
        method: "tools/call".to_owned(),
        tool: Some("tool".to_owned()),
        duration: Duration::from_millis(1),
        outcome: Outcome::Succeeded,
        error_code: None,
        request_bytes: 100,
        response_bytes: 100,
        arguments: Arguments::hashed(&[b' '; 100]),
    }
}

fn session() -> Session {
    Session {
        endpoint: "/mcp".to_owned(),
        principal: "local".to_owned(),
        introduction: vec![b' '; 200].into(),
        version: "2025-11-25".to_owned(),
        log_level: None,
        subscriptions: Vec::new(),
        opened: SystemTime::now(),
        used: SystemTime::now(),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn show(what: &str, time: Duration) {
    println!("| {what} | {:.4} ms |", time.as_secs_f64() * 1000.0);
}
