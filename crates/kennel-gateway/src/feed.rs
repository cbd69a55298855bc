//! The body of a stream of events: it pulls from the session's stream as fast as the client reads, and no task is needed.

use crate::event::{self, Event, EventId, KEEP_ALIVE};
use crate::pulse::Pulse;
use crate::session::UsedSession;
use crate::settings::Limits;
use crate::stream::{Awaited, Reader};
use crate::streams::{Found, ResumeError, Resumed};
use bytes::Bytes;
use kennel_hub::{Attached, Mailbox, Outgoing};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// A connection's part in a stream. Dropping it, as a lost connection does, leaves the stream to whoever comes back.
#[derive(Debug)]
pub(crate) struct EventFeed {
    session: UsedSession,
    reader: Reader<Mailbox>,
    /// Says to the hub that somebody reads.
    _attached: Attached,
    /// What goes out before anything is taken from the stream.
    ready: VecDeque<Bytes>,
    pulse: Pulse,
    retry: Option<Duration>,
    over: bool,
}

impl EventFeed {
    /// The feed of the session's own stream, from now on; `None` if the session is over.
    pub(crate) fn listen(session: UsedSession, limits: &Limits) -> Option<Self> {
        let reader = session.streams().listen()?;
        let mut feed = Self::new(session, reader, limits);
        feed.prime();
        Some(feed)
    }

    /// The feed of a new stream for an answer that ends with so many responses; the messages in `first` were taken from
    /// the mailbox before.
    pub(crate) fn begin(
        session: UsedSession,
        mailbox: Arc<Mailbox>,
        responses: usize,
        first: Vec<Outgoing>,
        limits: &Limits,
    ) -> Self {
        let reader = session.streams().begin(mailbox, Awaited::Responses(responses), Instant::now());
        let mut feed = Self::new(session, reader, limits);
        feed.prime();
        for outgoing in first {
            let event = feed.session.streams().record(&feed.reader, outgoing);
            feed.ready.extend(event.into_iter().flat_map(Event::chunks));
        }
        feed
    }

    /// The feed of a stream that goes on after the event that the client knows.
    pub(crate) fn resume(session: UsedSession, after: EventId, limits: &Limits) -> Result<Self, ResumeError> {
        let Resumed { reader, missed, gap } = session.streams().resume(after)?;
        let mut feed = Self::new(session, reader, limits);
        if gap {
            feed.ready.push_back(event::gap());
        }
        feed.ready.extend(missed.into_iter().flat_map(Event::chunks));
        Ok(feed)
    }

    fn new(session: UsedSession, reader: Reader<Mailbox>, limits: &Limits) -> Self {
        let attached = reader.source.attach();
        let retry = session.polls().then_some(limits.retry);
        let (ready, pulse) = (VecDeque::new(), Pulse::new(limits.keep_alive));
        Self { session, reader, _attached: attached, ready, pulse, retry, over: false }
    }

    /// Gives the client an id to come back with before there is a message, if it understands that.
    fn prime(&mut self) {
        if let Some(retry) = self.retry
            && let Some(id) = self.session.streams().mark(&self.reader)
        {
            self.ready.push_back(event::priming(id, retry));
        }
    }

    /// The next piece of the body.
    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Poll::Ready(Some(chunk));
            }
            if self.over {
                return Poll::Ready(None);
            }
            let found = self.session.streams().poll(&self.reader, context);
            match found {
                Poll::Ready(Found::Event(event)) => {
                    self.ready.extend(event.chunks());
                    self.pulse.rest();
                }
                Poll::Ready(Found::Finished | Found::Replaced) => self.over = true,
                Poll::Ready(Found::Recalled) => {
                    self.ready.extend(self.retry.map(event::farewell));
                    self.over = true;
                }
                Poll::Pending => match self.pulse.poll_beat(context) {
                    Poll::Ready(()) => self.ready.push_back(KEEP_ALIVE),
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }
}

impl Drop for EventFeed {
    fn drop(&mut self) {
        self.session.streams().leave(&self.reader, Instant::now());
    }
}
