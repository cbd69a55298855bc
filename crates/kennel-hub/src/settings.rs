//! How a server is shared and bounded.

use crate::audit::Audit;
use kennel_state::Store;
use kennel_wire::{Era, Id};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Which clients share a process of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessModel {
    /// Each session has its own.
    #[default]
    PerSession,
    /// All sessions have one together.
    Shared,
    /// All sessions of a principal have one together.
    PerUser,
    /// Each request has its own.
    PerCall,
}

/// The bounds of the hub, each with its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest message that passes, either way.
    pub message_bytes: usize,
    /// The largest result of a tool that passes; a larger one is kept to be read in pages.
    pub result_bytes: usize,
    /// How much of such results is kept, all sessions together.
    pub kept_result_bytes: u64,
    /// How many sessions there are at once.
    pub sessions: usize,
    /// How many processes there are at once.
    pub instances: usize,
    /// How many requests of one session may be unanswered.
    pub session_requests: usize,
    /// How many requests of clients one process works on at once; as many as there are if `None`.
    pub concurrency: Option<NonZeroUsize>,
    /// How many requests to one process may wait for it to be ready, or to be done with others.
    pub waiting_requests: usize,
    /// How many requests of a process to its clients may be unanswered.
    pub server_requests: usize,
    /// How many bytes may be kept of them.
    pub server_request_bytes: usize,
    /// How many requests of Kennel's own to one process may be unanswered.
    pub own_requests: usize,
    /// How many bytes the requests of clients that one process has, and what is kept for them, may have together; a single
    /// larger one passes alone.
    pub in_flight_bytes: usize,
    /// How many bytes are remembered of what the server offers, all kinds of clients together.
    pub catalog_bytes: usize,
    /// The longest introduction of a client: the parameters of its `initialize`, or what a stateless request declares.
    pub introduction_bytes: usize,
    /// The longest id of a request, and the longest progress token.
    pub id_bytes: usize,
    /// How many resources a session, or a stream of `subscriptions/listen`, may be subscribed to.
    pub subscriptions: usize,
    /// How many bytes their addresses may have together.
    pub subscription_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            result_bytes: 64 << 20,
            kept_result_bytes: 1 << 30,
            sessions: 16_384,
            instances: 256,
            session_requests: 1024,
            concurrency: None,
            waiting_requests: 4096,
            server_requests: 1024,
            server_request_bytes: 64 << 20,
            own_requests: 4096,
            in_flight_bytes: 256 << 20,
            catalog_bytes: 64 << 20,
            introduction_bytes: 256 << 10,
            id_bytes: 16 << 10,
            subscriptions: 1024,
            subscription_bytes: 256 << 10,
        }
    }
}

impl Limits {
    /// Whether a request may be called so; the text says why not.
    pub(crate) fn check_names(&self, id: &Id, token: Option<&Id>) -> Result<(), String> {
        let longest = token.map_or(0, |token| token.spelling().len()).max(id.spelling().len());
        if longest <= self.id_bytes {
            return Ok(());
        }
        Err(format!("an id or progress token has {longest} bytes; at most {} pass", self.id_bytes))
    }
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// How long a request waits for a process that is not ready.
    pub start: Duration,
    /// How long a request may go without an answer or progress.
    pub inactivity: Duration,
    /// How long a request may take in all, whatever its progress; and how long it may wait before that while the process
    /// works on others.
    pub call: Duration,
    /// How long the session of a caller that opens none is kept after its last request.
    pub caller: Duration,
    /// How long a client without a session may take to come back with what it was asked for.
    pub round: Duration,
    /// How long a slow client holds up a process that serves it alone.
    pub slow_client: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_mins(6),
            inactivity: Duration::from_mins(5),
            call: Duration::from_hours(1),
            caller: Duration::from_mins(10),
            round: Duration::from_mins(10),
            slow_client: Duration::from_secs(30),
        }
    }
}

/// What the hub has to know of a server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Its name in messages.
    pub name: String,
    /// Which clients share a process.
    pub model: ProcessModel,
    /// The era that its processes speak, where it is known; found out otherwise.
    pub era: Option<Era>,
    /// The bounds.
    pub limits: Limits,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Where what the server offers is remembered from one hub to the next; `None` to forget it with this one.
    pub catalog: Option<CatalogPlace>,
    /// Where calls are written down; nowhere if `None`.
    pub audit: Option<Audit>,
    /// Where results that are too large are kept; `None` for the system's directory for temporary files.
    pub results: Option<PathBuf>,
}

/// Where a catalog is kept.
#[derive(Debug, Clone)]
pub struct CatalogPlace {
    /// The state that all catalogs are kept in. Whoever opened it closes it when the hub is shut down.
    pub store: Store,
    /// Tells this server, as it would be started now, from all others.
    pub fingerprint: String,
}
