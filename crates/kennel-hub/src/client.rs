//! What is known of one client session, whichever process serves it.

use crate::level::Level;
use crate::mailbox::Mailbox;
use crate::principal::{Principal, SessionId};
use crate::sync::lock;
use kennel_wire::{Message, ProtocolVersion, RawJson};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// A session's short name inside of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClientKey(pub(crate) u64);

/// One client session.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) key: ClientKey,
    pub(crate) id: SessionId,
    pub(crate) principal: Principal,
    pub(crate) introduction: Introduction,
    /// Where messages go that belong to no request.
    pub(crate) unsolicited: Arc<Mailbox>,
    pub(crate) version: OnceLock<ProtocolVersion>,
    requests: AtomicUsize,
    closed: AtomicBool,
    standing: Mutex<Standing>,
}

/// What has to be told to every new process that serves the session.
#[derive(Debug, Default)]
struct Standing {
    level: Option<Level>,
    subscriptions: BTreeSet<String>,
}

/// How a client introduced itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    /// The parameters of its `initialize`, as spelled.
    pub(crate) params: RawJson,
    /// The version it asked for, if that is one that Kennel knows.
    pub(crate) version: Option<ProtocolVersion>,
    /// What it can be asked.
    pub(crate) capabilities: Capabilities,
}

/// What a client can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) roots: bool,
    pub(crate) sampling: bool,
    pub(crate) elicitation: bool,
}

/// The parameters with which Kennel introduces itself where a process has several clients. It promises what it can
/// carry to one of them; roots are not among it, because they would be those of one client and hold for all.
const OWN_PARAMS: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{"sampling":{"context":{},"tools":{}},"#,
    r#""elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"kennel","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);

/// The parameters with which Kennel introduces itself for callers that cannot be asked anything.
const PLAIN_PARAMS: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"kennel","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);

impl Introduction {
    /// Reads a client's `initialize`; the text says what is wrong with it.
    pub(crate) fn read(request: &Message) -> Result<Self, &'static str> {
        let params = request.params().ok_or("`params` is missing")?;
        let version = request.text_at(&["params", "protocolVersion"]).ok().flatten();
        let version = version.ok_or("`params.protocolVersion` must be a string")?;
        let has = |name| matches!(request.locate(&["params", "capabilities", name]), Ok(Some(_)));
        let capabilities =
            Capabilities { roots: has("roots"), sampling: has("sampling"), elicitation: has("elicitation") };
        Ok(Self { params, version: version.parse().ok(), capabilities })
    }

    /// How Kennel introduces itself to a process with several clients.
    pub(crate) fn of_kennel() -> RawJson {
        own(OWN_PARAMS)
    }

    /// How Kennel introduces a caller that has not introduced itself.
    pub(crate) fn plain() -> Self {
        Self {
            params: own(PLAIN_PARAMS),
            version: Some(ProtocolVersion::LATEST_LEGACY),
            capabilities: Capabilities::default(),
        }
    }
}

fn own(params: &'static str) -> RawJson {
    RawJson::parse(params).unwrap_or_else(|_| RawJson::empty_object())
}

impl Client {
    pub(crate) fn new(
        key: ClientKey,
        id: SessionId,
        principal: Principal,
        introduction: Introduction,
        unsolicited: Arc<Mailbox>,
    ) -> Self {
        Self {
            key,
            id,
            principal,
            introduction,
            unsolicited,
            version: OnceLock::new(),
            requests: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            standing: Mutex::default(),
        }
    }

    /// Counts a request in, unless there are too many.
    pub(crate) fn admit(&self, limit: usize) -> bool {
        let admitted = self.requests.fetch_add(1, Ordering::Relaxed) < limit;
        if !admitted {
            self.requests.fetch_sub(1, Ordering::Relaxed);
        }
        admitted
    }

    /// Counts a request out.
    pub(crate) fn dismiss(&self) {
        self.requests.fetch_sub(1, Ordering::Relaxed);
    }

    /// Says that the session has ended; false if it had before.
    pub(crate) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn level(&self) -> Option<Level> {
        lock(&self.standing).level
    }

    pub(crate) fn set_level(&self, level: Level) {
        lock(&self.standing).level = Some(level);
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        lock(&self.standing).subscriptions.insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        lock(&self.standing).subscriptions.remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        lock(&self.standing).subscriptions.contains(uri)
    }

    pub(crate) fn subscriptions(&self) -> Vec<String> {
        lock(&self.standing).subscriptions.iter().cloned().collect()
    }
}
