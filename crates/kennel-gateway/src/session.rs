//! A client's session as the HTTP door sees it: the hub's session and the streams that lead to the client.

use crate::alarm::SpareAlarm;
use crate::budget::Budget;
use crate::settings::ReplayLimits;
use crate::streams::Streams;
use crate::sync::lock;
use crate::table::{InUse, Table};
use kennel_hub::{EndpointSession, Mailbox};
use kennel_wire::ProtocolVersion;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::time::Instant;

/// A session that clients reach over HTTP.
pub(crate) struct HttpSession {
    session: EndpointSession,
    /// The address of its endpoint.
    home: Box<str>,
    streams: Mutex<Streams<Mailbox>>,
    alarm: SpareAlarm,
}

/// The sessions of a gateway.
pub(crate) type Sessions = Table<HttpSession>;
/// A session while a request uses it.
pub(crate) type UsedSession = InUse<HttpSession>;

impl HttpSession {
    pub(crate) fn new(
        session: EndpointSession,
        home: &str,
        unsolicited: Arc<Mailbox>,
        limits: ReplayLimits,
        budget: Arc<Budget>,
    ) -> Self {
        let streams = Mutex::new(Streams::new(limits, budget, unsolicited, Instant::now()));
        Self { session, home: home.into(), streams, alarm: SpareAlarm::default() }
    }

    pub(crate) fn hub(&self) -> &EndpointSession {
        &self.session
    }

    /// Whether it was begun at this address.
    pub(crate) fn is_of(&self, home: &str) -> bool {
        *self.home == *home
    }

    /// For the request that waits just now.
    pub(crate) fn alarms(&self) -> &SpareAlarm {
        &self.alarm
    }

    /// The streams; the lock is never held over an await.
    pub(crate) fn streams(&self) -> MutexGuard<'_, Streams<Mailbox>> {
        lock(&self.streams)
    }

    /// Whether the client knows what to do with an event without a message, and with `retry`.
    pub(crate) fn polls(&self) -> bool {
        self.session.version() >= ProtocolVersion::V2025_11_25
    }

    /// Ends the session and its streams.
    pub(crate) fn end(&self) {
        self.session.close();
        self.streams().end();
    }
}

/// Only which one it is.
impl fmt::Debug for HttpSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpSession").field("principal", self.session.principal()).finish_non_exhaustive()
    }
}
