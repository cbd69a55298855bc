//! What is known of one client session, whichever process serves it.

use crate::fault::Fault;
use crate::level::Level;
use crate::mailbox::Mailbox;
use crate::principal::{Principal, SessionId};
use crate::settings::Limits;
use crate::sync::lock;
use crate::tasks::EXTENSION;
use bytes::Bytes;
use kennel_wire::{Era, Message, ProtocolVersion, RawJson, ValueKind, meta};
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
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
    /// How many bytes their addresses have.
    subscription_bytes: usize,
    /// The last tasks that the client has made of requests of its server.
    tasks: VecDeque<String>,
}

/// How many tasks of a client are known at once.
const MOST_TASKS: usize = 256;
/// The longest id of a task of a client that is known; news of others are not passed on.
const LONGEST_TASK: usize = 256;

/// How a client introduced itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    /// How it talks.
    pub(crate) era: Era,
    /// The parameters of its `initialize`, as spelled, or what stands for them.
    pub(crate) params: RawJson,
    /// What each request says of it to a modern process.
    pub(crate) declared: Vec<(&'static str, RawJson)>,
    /// The version it asked for, if that is one that Kennel knows.
    pub(crate) version: Option<ProtocolVersion>,
    /// What it can be asked.
    pub(crate) capabilities: Capabilities,
    /// Whether it takes a task for an answer (the extension of 2026-07-28).
    pub(crate) takes_tasks: bool,
    /// Whether it has neither a session nor a connection of its own, so that it may be several.
    pub(crate) is_stateless: bool,
}

/// What a client can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) roots: bool,
    pub(crate) sampling: bool,
    pub(crate) elicitation: bool,
}

impl Capabilities {
    /// Whether a client can be asked this.
    pub(crate) fn allow(self, method: &str) -> bool {
        match method {
            "roots/list" => self.roots,
            "sampling/createMessage" => self.sampling,
            "elicitation/create" => self.elicitation,
            _ => true,
        }
    }

    fn of(declared: &RawJson) -> Self {
        let named = declared.members();
        let has = |name: &str| named.iter().any(|(member, _)| member == name);
        Self { roots: has("roots"), sampling: has("sampling"), elicitation: has("elicitation") }
    }
}

/// Who Kennel is.
const OWN_INFO: &str = concat!(r#"{"name":"kennel","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);
/// What Kennel promises where a process has several clients: what it can carry to one of them. Roots are not among it,
/// because they would be those of one client and hold for all.
const OWN_CAPABILITIES: &str = r#"{"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

impl Introduction {
    /// Reads a client's `initialize`; the text says what is wrong with it.
    pub(crate) fn read(request: &Message) -> Result<Self, &'static str> {
        let params = request.params().ok_or("`params` is missing")?;
        let version = request.text_at(&["params", "protocolVersion"]).ok().flatten();
        let version = version.ok_or("`params.protocolVersion` must be a string")?;
        let object = |name: &str| {
            let found = request.field(&["params", name]).ok().flatten();
            found.filter(|value| value.kind() == ValueKind::Object)
        };
        let capabilities = object("capabilities").unwrap_or_else(RawJson::empty_object);
        let info = object("clientInfo").unwrap_or_else(|| own(OWN_INFO));
        Ok(Self {
            era: Era::Legacy,
            params,
            version: version.parse().ok(),
            capabilities: Capabilities::of(&capabilities),
            takes_tasks: false,
            is_stateless: false,
            declared: declared(info, capabilities),
        })
    }

    /// How Kennel introduces itself to a process with several clients.
    pub(crate) fn of_kennel() -> Self {
        Self::made(Era::Modern, own(OWN_INFO), own(OWN_CAPABILITIES))
    }

    /// How Kennel introduces a caller that has not introduced itself.
    pub(crate) fn plain() -> Self {
        Self::made(Era::Legacy, own(OWN_INFO), RawJson::empty_object())
    }

    /// The introduction of somebody who has never said `initialize`.
    fn made(era: Era, info: RawJson, capabilities: RawJson) -> Self {
        let version = RawJson::string(ProtocolVersion::LATEST_LEGACY.as_str());
        let members = [("protocolVersion", &version), ("capabilities", &capabilities), ("clientInfo", &info)];
        Self {
            era,
            params: RawJson::object(members),
            version: Some(ProtocolVersion::LATEST_LEGACY),
            capabilities: Capabilities::of(&capabilities),
            takes_tasks: takes_tasks(&capabilities),
            is_stateless: false,
            declared: declared(info, capabilities),
        }
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.params.as_bytes().len() + self.declared.iter().map(|(_, value)| value.as_bytes().len()).sum::<usize>()
    }

    /// The same without the request that it was read from, which may be much larger.
    pub(crate) fn detached(self) -> Self {
        let copy = |json: &RawJson| RawJson::parse(Bytes::copy_from_slice(json.as_bytes())).ok();
        let declared = self.declared.iter().map(|(name, value)| (*name, copy(value).unwrap_or_else(|| value.clone())));
        Self { params: copy(&self.params).unwrap_or_else(|| self.params.clone()), declared: declared.collect(), ..self }
    }

    /// What every request to a modern process has in its `_meta`.
    pub(crate) fn meta(&self) -> RawJson {
        RawJson::object(self.declared.iter().map(|(name, value)| (*name, value)))
    }
}

fn takes_tasks(capabilities: &RawJson) -> bool {
    let extensions = capabilities.members().into_iter().find(|(name, _)| name == "extensions");
    let extensions = extensions.map(|(_, extensions)| extensions.members()).unwrap_or_default();
    extensions.iter().any(|(name, _)| name == EXTENSION)
}

fn declared(info: RawJson, capabilities: RawJson) -> Vec<(&'static str, RawJson)> {
    vec![
        (meta::PROTOCOL_VERSION, RawJson::string(ProtocolVersion::LATEST.as_str())),
        (meta::CLIENT_INFO, info),
        (meta::CLIENT_CAPABILITIES, capabilities),
    ]
}

/// Tells kinds of clients of one caller apart: those of one kind are the same to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientKind {
    /// Both as spelled.
    capabilities: Bytes,
    info: Bytes,
}

impl ClientKind {
    /// Those that say nothing about themselves.
    pub(crate) const PLAIN: Self = Self { capabilities: Bytes::new(), info: Bytes::new() };

    /// The same without the request that it was read from.
    pub(crate) fn detached(&self) -> Self {
        let copy = |part: &Bytes| Bytes::copy_from_slice(part);
        Self { capabilities: copy(&self.capabilities), info: copy(&self.info) }
    }
}

/// What a request says about its sender (2026-07-28).
#[derive(Debug)]
pub(crate) struct Declaration {
    capabilities: RawJson,
    info: Option<RawJson>,
}

impl Declaration {
    /// Reads it; the text says what is wrong with it.
    pub(crate) fn read(request: &Message) -> Result<Self, String> {
        let field = |name: &str| request.field(&["params", "_meta", name]).map_err(|error| error.to_string());
        let object = |value: &RawJson| value.kind() == ValueKind::Object;
        let capabilities = field(meta::CLIENT_CAPABILITIES)?.filter(object);
        let missing = || format!("`params._meta[\"{}\"]` is missing or no object", meta::CLIENT_CAPABILITIES);
        let info = field(meta::CLIENT_INFO)?.filter(object);
        Ok(Self { capabilities: capabilities.ok_or_else(missing)?, info })
    }

    pub(crate) fn kind(&self) -> ClientKind {
        let info = self.info.clone().map(RawJson::into_bytes).unwrap_or_default();
        ClientKind { capabilities: self.capabilities.clone().into_bytes(), info }
    }

    /// How Kennel introduces the sender where a server has to be introduced to it once and for all.
    pub(crate) fn introduction(&self) -> Introduction {
        let info = self.info.clone().unwrap_or_else(|| own(OWN_INFO));
        Introduction::made(Era::Modern, info, self.capabilities.clone())
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

    /// Whether a request is not answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
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

    /// What a request of the client says about it to a modern process.
    pub(crate) fn declared(&self) -> Cow<'_, [(&'static str, RawJson)]> {
        let mut declared = Cow::Borrowed(self.introduction.declared.as_slice());
        if let Some(level) = self.level() {
            declared.to_mut().push((meta::LOG_LEVEL, level.raw()));
        }
        declared
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.introduction.era == Era::Modern
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        let mut standing = lock(&self.standing);
        if standing.subscriptions.insert(uri.to_owned()) {
            standing.subscription_bytes += uri.len();
        }
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        let mut standing = lock(&self.standing);
        if standing.subscriptions.remove(uri) {
            standing.subscription_bytes -= uri.len();
        }
    }

    /// Why the client cannot subscribe to this resource as well; nothing where it can.
    pub(crate) fn refuses_subscription(&self, uri: &str, limits: &Limits) -> Option<Fault> {
        let standing = lock(&self.standing);
        if standing.subscriptions.contains(uri) {
            return None;
        }
        if standing.subscriptions.len() >= limits.subscriptions {
            return Some(Fault::saturated("subscriptions of this session", limits.subscriptions));
        }
        let bytes = standing.subscription_bytes.saturating_add(uri.len());
        let most = limits.subscription_bytes;
        (bytes > most).then(|| Fault::saturated("bytes of addresses that this session is subscribed to", most))
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        lock(&self.standing).subscriptions.contains(uri)
    }

    /// Remembers a task that the client has made of a request of its server.
    pub(crate) fn note_task(&self, task: &str) {
        if task.len() > LONGEST_TASK {
            return;
        }
        let tasks = &mut lock(&self.standing).tasks;
        if tasks.len() >= MOST_TASKS {
            tasks.pop_front();
        }
        tasks.push_back(task.to_owned());
    }

    pub(crate) fn has_task(&self, task: &str) -> bool {
        lock(&self.standing).tasks.iter().any(|known| known == task)
    }

    pub(crate) fn subscriptions(&self) -> Vec<String> {
        lock(&self.standing).subscriptions.iter().cloned().collect()
    }
}
