//! A client's session as the HTTP door sees it: the hub's session and the streams that lead to the client.

use crate::alarm::SpareAlarm;
use crate::budget::Budget;
use crate::kept::Record;
use crate::settings::ReplayLimits;
use crate::streams::Streams;
use crate::sync::lock;
use crate::table::{InUse, Table};
use kennel_hub::{EndpointSession, Mailbox};
use kennel_wire::ProtocolVersion;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// A session that clients reach over HTTP.
pub(crate) struct HttpSession {
    session: EndpointSession,
    /// The address of its endpoint.
    home: Box<str>,
    /// What is written down of it.
    record: Option<Mutex<Record>>,
    /// Whether it is from before a restart of the gateway.
    is_resumed: bool,
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
        Self { session, home: home.into(), record: None, is_resumed: false, streams, alarm: SpareAlarm::default() }
    }

    pub(crate) fn hub(&self) -> &EndpointSession {
        &self.session
    }

    /// The same with what is written down of it.
    pub(crate) fn recorded(self, record: Record, is_resumed: bool) -> Self {
        if is_resumed {
            // Events of before the restart must not be taken for events of now: numbers go on with the clock.
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            lock(&self.streams).number_from(u64::try_from(since.as_millis()).unwrap_or(u64::MAX / 2));
        }
        Self { record: Some(Mutex::new(record)), is_resumed, ..self }
    }

    /// What is written down of it; the lock is never held over an await.
    pub(crate) fn record(&self) -> Option<MutexGuard<'_, Record>> {
        self.record.as_ref().map(lock)
    }

    /// Whether it is from before a restart of the gateway, so that its client may know of streams that are gone.
    pub(crate) fn is_resumed(&self) -> bool {
        self.is_resumed
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
