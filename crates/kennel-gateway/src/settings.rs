//! Everything about the doors that can be set, with its default.

use kennel_hub::{MailboxLimits, Principal};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// How a gateway is reached, who may use it, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where it listens: loopback unless told, port 8808.
    pub listen: SocketAddr,
    /// Who may use it.
    pub access: AccessSettings,
    /// Its bounds.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8808)),
            access: AccessSettings::default(),
            limits: Limits::default(),
        }
    }
}

/// Who may use the doors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessSettings {
    /// Further host names by which clients may call the gateway, without a port; `*` allows every name and gives the
    /// protection against DNS rebinding up.
    pub hosts: Vec<String>,
    /// Web pages that may use the gateway, as browsers name them: `https://app.example.com`; `*` allows every page.
    pub origins: Vec<String>,
    /// The bearer tokens. Without any, everybody who reaches the gateway is [`Principal::local`]; on a loopback address that
    /// is only the user that the gateway runs as, and root.
    pub tokens: Vec<Token>,
}

/// A bearer token and who presents it. Its text is in no output.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The secret.
    pub secret: String,
    /// Who has it.
    pub principal: Principal,
}

/// Only whose it is.
impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Token").field("principal", &self.principal).finish_non_exhaustive()
    }
}

/// The bounds of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest message, or batch, that a client may send.
    pub message_bytes: usize,
    /// How many connections there are at once; further ones wait to be accepted.
    pub connections: usize,
    /// How long a connection may be silent between requests, and within the head of one.
    pub idle_connection: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a body may come to a halt, or all but that.
    pub body_pause: Duration,
    /// How much is held of messages that have not come in whole, all clients together; those without a session get half
    /// of it at most. At least what two messages may have.
    pub unfinished_bytes: usize,
    /// How long a client may not read what is written to it.
    pub stalled: Duration,
    /// How much of the head of a request, and of a body, is held before it is taken apart.
    pub buffer_bytes: usize,
    /// What is held for a client that does not read.
    pub mailbox: MailboxLimits,
    /// How many requests without a session one WebSocket or stdio connection may have unanswered, those that listen
    /// included.
    pub open_requests: usize,
    /// How long a request waits for its answer before its response begins as a stream of events, so that nothing
    /// between the client and the gateway takes the connection for dead.
    pub patience: Duration,
    /// How often a silent stream or WebSocket carries a sign of life.
    pub keep_alive: Duration,
    /// When a client whose stream was cut should come back.
    pub retry: Duration,
    /// How many HTTP sessions there are at once.
    pub sessions: usize,
    /// How long a session may be unused before it is ended.
    pub idle_session: Duration,
    /// How long a session must have been unused to be ended early, because a new one needs its place.
    pub idle_session_floor: Duration,
    /// What is kept of sent events, for clients that come back.
    pub replay: ReplayLimits,
    /// How long open requests may take to end when the gateway shuts down.
    pub drain: Duration,
}

/// How much of what was sent is kept to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Events of one stream.
    pub events: usize,
    /// Bytes of one stream.
    pub bytes: usize,
    /// Bytes of all streams of one session.
    pub session_bytes: usize,
    /// Bytes of all sessions.
    pub total_bytes: usize,
    /// Streams of one session.
    pub streams: usize,
    /// How long a stream that nobody reads is kept.
    pub kept: Duration,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self {
            events: 256,
            bytes: 4 * MIB,
            session_bytes: 8 * MIB,
            total_bytes: 128 * MIB,
            streams: 64,
            kept: Duration::from_mins(5),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 * MIB,
            connections: 20_000,
            idle_connection: Duration::from_secs(90),
            body_timeout: Duration::from_mins(1),
            body_pause: Duration::from_secs(10),
            unfinished_bytes: 256 * MIB,
            stalled: Duration::from_secs(30),
            buffer_bytes: 512 * KIB,
            mailbox: MailboxLimits::default(),
            open_requests: 1024,
            patience: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            sessions: 10_000,
            idle_session: Duration::from_mins(30),
            idle_session_floor: Duration::from_mins(1),
            replay: ReplayLimits::default(),
            drain: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// The first bound that must not be zero, but is.
    pub(crate) fn zero(&self) -> Option<&'static str> {
        let bounds = [
            ("message_bytes", self.message_bytes == 0),
            ("connections", self.connections == 0),
            ("sessions", self.sessions == 0),
            ("keep_alive", self.keep_alive.is_zero()),
            ("stalled", self.stalled.is_zero()),
        ];
        bounds.into_iter().find(|(_, zero)| *zero).map(|(name, _)| name)
    }
}
