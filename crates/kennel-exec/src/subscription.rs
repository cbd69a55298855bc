//! A consumer that takes the events of one process one by one.

use crate::consumers::ConsumerId;
use crate::error::EventsError;
use crate::event::{Event, Seq};
use crate::log::Found;
use crate::process::Process;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::watch;

/// The events of one process, from a given one on, without a gap.
///
/// While a subscription is behind, the events it has not seen are kept; when they fill the log, the process blocks.
/// Asking for the next event acknowledges the one before it. Dropping the subscription keeps its place for a
/// successor, as a lost connection must; [`Subscription::release`] gives it up.
pub struct Subscription {
    process: Arc<Process>,
    id: ConsumerId,
    news: watch::Receiver<()>,
    seen: Seq,
    /// Whether it reads the pipe itself.
    attends: bool,
}

impl Subscription {
    pub(crate) fn new(process: Arc<Process>, after: Seq) -> Result<Self, EventsError> {
        let (id, news) = process.log.subscribe(after)?;
        Ok(Self { process, id, news, seen: after, attends: false })
    }

    pub(crate) fn attending(mut self) -> Self {
        self.process.log.begin_attending();
        self.process.stdout.enter();
        self.attends = true;
        self
    }

    /// The next event, or `None` after [`Closed`](crate::EventKind::Closed). Safe to cancel.
    pub async fn next(&mut self) -> Result<Option<Event>, EventsError> {
        let found = if self.attends { self.attended().await? } else { self.told().await? };
        match found {
            Found::Event(event) => {
                self.seen = event.seq;
                Ok(Some(event))
            }
            Found::End | Found::NothingYet => Ok(None),
        }
    }

    /// Waits for the news that there is more.
    async fn told(&mut self) -> Result<Found, EventsError> {
        loop {
            match self.process.log.advance(self.id, self.seen)? {
                Found::NothingYet => {}
                found => return Ok(found),
            }
            if self.news.changed().await.is_err() {
                return Err(EventsError::Detached);
            }
        }
    }

    /// Reads the pipe itself, and waits for all else.
    async fn attended(&self) -> Result<Found, EventsError> {
        let log = &self.process.log;
        poll_fn(|context| {
            log.attendant_is_awake();
            self.process.stdout.read(context);
            match log.attend(self.id, self.seen, context.waker()) {
                Ok(Found::NothingYet) => Poll::Pending,
                found => Poll::Ready(found),
            }
        })
        .await
    }

    /// The last event handed out: what a successor goes on from if it was dealt with.
    #[must_use]
    pub fn seen(&self) -> Seq {
        self.seen
    }

    /// Gives up the events that follow: the process no longer waits for this consumer.
    pub fn release(self) {
        self.process.log.consumers(|consumers| consumers.release(self.id));
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.attends {
            self.process.stdout.leave();
        }
        self.process.log.consumers(|consumers| consumers.lose(self.id));
    }
}
