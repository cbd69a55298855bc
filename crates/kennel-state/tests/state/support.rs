//! What all tests of the state need.

use kennel_state::{Answer, Arguments, AuditRow, Catalog, Limits, Offer, Outcome, Session, Store, Warning};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file that is gone with the test.
pub(crate) struct Place {
    pub(crate) directory: tempfile::TempDir,
    warnings: Arc<Mutex<Vec<Warning>>>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), warnings: Arc::default() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("state/kennel.db")
    }

    pub(crate) fn open(&self) -> Store {
        self.open_with(Limits::default())
    }

    pub(crate) fn open_with(&self, limits: Limits) -> Store {
        let warnings = Arc::clone(&self.warnings);
        Store::open(self.path(), limits, move |warning| warnings.lock().unwrap().push(warning.clone()))
    }

    /// What the operator has heard since this was last asked.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut *self.warnings.lock().unwrap())
    }

    /// The names of the files beside the state, in their order.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path().parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The answer, which there must be.
pub(crate) fn said<T>(answer: Answer<T>) -> T {
    answer.wait(Duration::from_mins(1)).unwrap()
}

/// A raw connection to a file, past the store.
pub(crate) fn raw(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_mins(1)).unwrap();
    connection
}

pub(crate) fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(second)
}

pub(crate) fn now() -> SystemTime {
    // As the file keeps it.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    UNIX_EPOCH + Duration::from_millis(u64::try_from(since.as_millis()).unwrap())
}

pub(crate) fn call(number: u64) -> AuditRow {
    AuditRow {
        time: now(),
        principal: "local".to_owned(),
        session: None,
        server: "files".to_owned(),
        method: "tools/call".to_owned(),
        tool: Some("read".to_owned()),
        duration: Duration::from_micros(1500),
        outcome: Outcome::Succeeded,
        error_code: None,
        request_bytes: number,
        response_bytes: 7,
        arguments: Arguments::hashed(b"{}"),
    }
}

pub(crate) fn session(endpoint: &str) -> Session {
    Session {
        endpoint: endpoint.to_owned(),
        principal: "local".to_owned(),
        introduction: r#"{ "protocolVersion":"2025-11-25", "n": 1.0 }"#.into(),
        version: "2025-11-25".to_owned(),
        log_level: Some("debug".to_owned()),
        subscriptions: vec!["test://a".to_owned(), "test://\"b\"\n".to_owned()],
        opened: now(),
        used: now(),
    }
}

pub(crate) fn catalog(name: &str) -> Catalog {
    let offer = Offer {
        era: "legacy".to_owned(),
        version: "2025-11-25".to_owned(),
        introduction: format!(r#"{{ "name" : "{name}" }}"#).into(),
        lists: BTreeMap::from([
            ("tools".to_owned(), vec!["{ }".into(), "\u{0}\u{fffd}".into()]),
            ("prompts".to_owned(), Vec::new()),
        ]),
    };
    Catalog {
        eras: BTreeMap::from([("legacy".to_owned(), "spoken".to_owned())]),
        offers: BTreeMap::from([("one".to_owned(), offer.clone()), ("other".to_owned(), offer)]),
    }
}
