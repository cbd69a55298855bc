//! A consumer that takes the events of one process one by one.

use crate::consumers::ConsumerId;
use crate::error::EventsError;
use crate::event::{Event, Seq};
use crate::log::{EventLog, Found};
use std::sync::Arc;
use tokio::sync::watch;

/// The events of one process, from a given one on, without a gap.
///
/// While a subscription is behind, the events it has not seen are kept; when they fill the log, the process blocks.
/// Asking for the next event acknowledges the one before it. Dropping the subscription keeps its place for a
/// successor, as a lost connection must; [`Subscription::release`] gives it up.
pub struct Subscription {
    log: Arc<EventLog>,
    id: ConsumerId,
    news: watch::Receiver<()>,
    seen: Seq,
}

impl Subscription {
    pub(crate) fn new(log: &Arc<EventLog>, after: Seq) -> Result<Self, EventsError> {
        let (id, news) = log.subscribe(after)?;
        Ok(Self { log: Arc::clone(log), id, news, seen: after })
    }

    /// The next event, or `None` after [`Closed`](crate::EventKind::Closed). Safe to cancel.
    pub async fn next(&mut self) -> Result<Option<Event>, EventsError> {
        loop {
            match self.log.advance(self.id, self.seen)? {
                Found::Event(event) => {
                    self.seen = event.seq;
                    return Ok(Some(event));
                }
                Found::End => return Ok(None),
                Found::NothingYet => {}
            }
            if self.news.changed().await.is_err() {
                return Err(EventsError::Detached);
            }
        }
    }

    /// The last event handed out: what a successor goes on from if it was dealt with.
    #[must_use]
    pub fn seen(&self) -> Seq {
        self.seen
    }

    /// Gives up the events that follow: the process no longer waits for this consumer.
    pub fn release(self) {
        self.log.consumers(|consumers| consumers.release(self.id));
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.log.consumers(|consumers| consumers.lose(self.id));
    }
}
