//! Owns what the server knows while it runs: its options, its era, its client, its log level and subscriptions.

use std::collections::BTreeSet;
use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};

use crate::calls::Calls;
use crate::catalog::Catalog;
use crate::era::Era;
use crate::modern::listeners::Listeners;
use crate::modern::tasks::Tasks;
use crate::options::Options;
use crate::output::Output;

/// The log levels, from the least to the most severe.
pub(crate) const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The exit code of `--crash-after`.
const CRASHED: i32 = 70;

/// One server, shared by the reader of stdin and the threads of calls.
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) output: Output,
    pub(crate) catalog: Catalog,
    pub(crate) calls: Calls,
    /// The streams of changes that a modern client has open.
    pub(crate) listeners: Listeners,
    /// What a modern client was given handles of.
    pub(crate) tasks: Tasks,
    era: OnceLock<Era>,
    client: OnceLock<Client>,
    least_level: AtomicU8,
    subscriptions: Mutex<BTreeSet<String>>,
    hung: AtomicBool,
    tool_calls: AtomicU64,
    prompt_changes: AtomicU64,
}

/// What the client said of itself.
pub(crate) struct Client {
    /// The params of its `initialize` as it spelled them.
    pub(crate) introduction: String,
    /// Its capabilities.
    pub(crate) capabilities: Value,
}

impl Server {
    pub(crate) fn new(options: Options) -> io::Result<Self> {
        Ok(Self {
            catalog: Catalog::new(&options)?,
            listeners: Listeners::default(),
            tasks: Tasks::default(),
            era: options.era.decided().map_or_else(OnceLock::new, OnceLock::from),
            options,
            output: Output::stdout()?,
            calls: Calls::default(),
            client: OnceLock::new(),
            least_level: AtomicU8::new(1), // info
            subscriptions: Mutex::default(),
            hung: AtomicBool::new(false),
            tool_calls: AtomicU64::new(0),
            prompt_changes: AtomicU64::new(0),
        })
    }

    /// The era that this process speaks, once that is decided.
    pub(crate) fn era(&self) -> Option<Era> {
        self.era.get().copied()
    }

    /// The era that this process speaks; if it is not decided yet, it is from now on.
    pub(crate) fn era_or_decide(&self, decide: impl FnOnce() -> Era) -> Era {
        *self.era.get_or_init(decide)
    }

    /// What it says that it can do, in either era.
    pub(crate) fn capabilities(&self) -> Value {
        let mut capabilities = json!({
            "resources": {"subscribe": true, "listChanged": true},
            "prompts": {"listChanged": true},
            "logging": {},
            "completions": {},
        });
        if self.catalog.has_tools() {
            capabilities["tools"] = json!({"listChanged": true});
        }
        capabilities
    }

    /// The client, once it has introduced itself.
    pub(crate) fn client(&self) -> Option<&Client> {
        self.client.get()
    }

    /// Remembers the client; false if there is one already.
    pub(crate) fn introduce(&self, client: Client) -> bool {
        self.client.set(client).is_ok()
    }

    /// Whether the client says that it can do something.
    pub(crate) fn client_can(&self, capability: &str) -> bool {
        self.client().is_some_and(|client| client.capabilities.get(capability).is_some())
    }

    /// Changes the list of tools, and says so.
    pub(crate) fn change_tools(&self) {
        self.catalog.add_another();
        self.list_changed("tools");
    }

    /// Changes the list of prompts, and says so.
    pub(crate) fn change_prompts(&self) {
        self.prompt_changes.fetch_add(1, Ordering::Relaxed);
        self.list_changed("prompts");
    }

    /// How often the list of prompts was changed.
    pub(crate) fn prompt_changes(&self) -> u64 {
        self.prompt_changes.load(Ordering::Relaxed)
    }

    /// Counts a call of a tool, and dies if `--crash-after` says so.
    pub(crate) fn count_tool_call(&self) {
        let before = self.tool_calls.fetch_add(1, Ordering::Relaxed);
        if self.options.crash_after.is_some_and(|limit| before >= limit) {
            process::exit(CRASHED);
        }
    }

    /// Stops to answer anything.
    pub(crate) fn hang(&self) {
        self.hung.store(true, Ordering::Release);
    }

    pub(crate) fn is_hung(&self) -> bool {
        self.hung.load(Ordering::Acquire)
    }

    /// Sets the least severe level that is sent; false if there is no such level.
    pub(crate) fn set_level(&self, name: &str) -> bool {
        let level = severity(name);
        if let Some(level) = level {
            self.least_level.store(level, Ordering::Release);
        }
        level.is_some()
    }

    /// Sends a log message unless its level is filtered; says whether it was sent, None if there is no such level.
    pub(crate) fn log(&self, level: &str, data: &str) -> Option<bool> {
        let sent = severity(level)? >= self.least_level.load(Ordering::Acquire);
        if sent {
            self.send_log(level, data);
        }
        Some(sent)
    }

    /// Sends a log message.
    pub(crate) fn send_log(&self, level: &str, data: &str) {
        self.output.notification("notifications/message", &log_params(level, data));
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        self.subscriptions().insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions().remove(uri);
    }

    /// Says that a resource has changed, if the client has subscribed to it.
    pub(crate) fn resource_updated(&self, uri: &str) -> bool {
        if self.era() == Some(Era::Modern) {
            return self.listeners.resource_updated(&self.output, uri);
        }
        let subscribed = self.subscriptions().contains(uri);
        if subscribed {
            self.output.notification("notifications/resources/updated", &json!({ "uri": uri }).to_string());
        }
        subscribed
    }

    /// Says that a list (`tools`, `resources` or `prompts`) has changed.
    pub(crate) fn list_changed(&self, what: &str) {
        if self.era() == Some(Era::Modern) {
            return self.listeners.list_changed(&self.output, what);
        }
        self.output.notification(&format!("notifications/{what}/list_changed"), "{}");
    }

    fn subscriptions(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The params of a log message.
pub(crate) fn log_params(level: &str, data: &str) -> String {
    json!({"level": level, "logger": "kennel-fixture", "data": data}).to_string()
}

/// How severe a level is; None if there is no such level.
pub(crate) fn severity(level: &str) -> Option<u8> {
    let place = LEVELS.iter().position(|known| *known == level)?;
    u8::try_from(place).ok()
}
