//! Sessions that outlive the gateway: what is written down of them, and how one is found again.

use kennel_hub::{PastSession, Principal};
use kennel_state::{Session, SessionKey, Store};
use kennel_wire::{Message, RESOURCE_URI};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;

/// How long a client waits for the file. Writing takes milliseconds, unless the disk is ill.
const LONGEST_WRITE: Duration = Duration::from_secs(1);

/// How many subscriptions of a session are written down, and how many bytes of their addresses; the hub allows no more.
const MOST_SUBSCRIPTIONS: usize = 1024;
const MOST_SUBSCRIPTION_BYTES: usize = 256 << 10;

/// The sessions in the store.
#[derive(Debug)]
pub(crate) struct KeptSessions {
    store: Store,
    /// How long one may have been unused.
    longest: Duration,
    /// One at a time is found again, so that none is found twice.
    pub(crate) turn: Mutex<()>,
}

/// What is written down of one session, changed as the client asks for something that holds for the whole of it.
#[derive(Debug)]
pub(crate) struct Record {
    key: SessionKey,
    endpoint: Box<str>,
    principal: Principal,
    introduction: bytes::Bytes,
    version: String,
    opened: SystemTime,
    level: Option<String>,
    subscriptions: BTreeSet<String>,
}

impl Record {
    fn has_room_for(&self, address: &str) -> bool {
        let bytes = self.subscriptions.iter().map(String::len).sum::<usize>().saturating_add(address.len());
        self.subscriptions.len() < MOST_SUBSCRIPTIONS && bytes <= MOST_SUBSCRIPTION_BYTES
    }
}

/// A session that was found again.
pub(crate) struct Found {
    pub(crate) past: PastSession,
    pub(crate) record: Record,
}

impl KeptSessions {
    /// Those of a store; what was unused for too long is forgotten.
    pub(crate) fn new(store: Store, longest: Duration) -> Self {
        if let Some(before) = SystemTime::now().checked_sub(longest) {
            // Nobody waits for this.
            drop(store.expire_sessions(before));
        }
        Self { store, longest, turn: Mutex::default() }
    }

    /// Writes a new session down.
    pub(crate) fn opened(
        &self,
        id: &str,
        endpoint: &str,
        principal: &Principal,
        request: &Message,
        version: &str,
    ) -> Record {
        let record = Record {
            key: SessionKey::of(id),
            endpoint: endpoint.into(),
            principal: principal.clone(),
            // A copy, so that it does not keep the whole request.
            introduction: request.params().map(|params| params.as_bytes().to_vec().into()).unwrap_or_default(),
            version: version.to_owned(),
            opened: SystemTime::now(),
            level: None,
            subscriptions: BTreeSet::new(),
        };
        self.write(&record);
        record
    }

    fn write(&self, record: &Record) {
        let session = Session {
            endpoint: record.endpoint.to_string(),
            principal: record.principal.to_string(),
            introduction: record.introduction.clone(),
            version: record.version.clone(),
            log_level: record.level.clone(),
            subscriptions: record.subscriptions.iter().cloned().collect(),
            opened: record.opened,
            used: SystemTime::now(),
        };
        self.store.put_session(record.key, session);
    }

    /// Notes what a request asks for that holds for the whole session.
    pub(crate) fn heard(&self, record: &mut Record, request: &Message) {
        let method = request.method().unwrap_or_default();
        let text = |path: &[&str]| request.text_at(path).ok().flatten().map(std::borrow::Cow::into_owned);
        let is_news = match &*method {
            "logging/setLevel" => {
                let level = text(&["params", "level"]);
                std::mem::replace(&mut record.level, level.clone()) != level
            }
            "resources/subscribe" => text(RESOURCE_URI)
                .filter(|address| record.has_room_for(address))
                .is_some_and(|address| record.subscriptions.insert(address)),
            "resources/unsubscribe" => text(RESOURCE_URI).is_some_and(|address| record.subscriptions.remove(&address)),
            _ => false,
        };
        if is_news {
            self.write(record);
        }
    }

    /// Notes that a session is used.
    pub(crate) fn used(&self, record: &Record) {
        self.store.touch_session(record.key, SystemTime::now());
    }

    /// Forgets a session.
    pub(crate) fn ended(&self, record: &Record) {
        self.store.remove_session(record.key);
    }

    /// Returns when what was said before is in the file, or soon after: a client that was told that its session has ended
    /// can rely on that.
    pub(crate) async fn written(&self) {
        let _ = tokio::time::timeout(LONGEST_WRITE, self.store.flush()).await;
    }

    /// The session with this id, if it was opened here by this principal and not too long ago.
    pub(crate) async fn find(&self, id: &str, endpoint: &str, principal: &Principal) -> Option<Found> {
        let key = SessionKey::of(id);
        let session = self.store.session(key).await.ok()??;
        let is_too_old = session.used.elapsed().is_ok_and(|unused| unused > self.longest);
        if is_too_old || session.endpoint != endpoint || session.principal != principal.to_string() {
            return None;
        }
        let past = PastSession {
            id: id.to_owned(),
            introduction: session.introduction.clone(),
            version: session.version.parse().ok()?,
            level: session.log_level.clone(),
            subscriptions: session.subscriptions.clone(),
        };
        let record = Record {
            key,
            endpoint: endpoint.into(),
            principal: principal.clone(),
            introduction: session.introduction,
            version: session.version,
            opened: session.opened,
            level: session.log_level,
            subscriptions: session.subscriptions.into_iter().collect(),
        };
        Some(Found { past, record })
    }
}
