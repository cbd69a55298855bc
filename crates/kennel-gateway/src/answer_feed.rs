//! The body of an answer that is streamed to a client without a session: what is heard about its request, and no more. It
//! cannot be resumed, so it keeps nothing; the end of the connection is the end of the request.

use crate::asking::{Asking, Told};
use crate::event::{Event, KEEP_ALIVE};
use crate::pulse::Pulse;
use bytes::Bytes;
use std::collections::VecDeque;
use std::task::{Context, Poll};
use std::time::Duration;

/// What is heard about a request, as events.
#[derive(Debug)]
pub(crate) struct AnswerFeed {
    /// `None` after the answer.
    asking: Option<Asking>,
    /// What goes out before anything else is heard.
    ready: VecDeque<Bytes>,
    pulse: Pulse,
}

impl AnswerFeed {
    /// The feed of a request about which `first` was heard before.
    pub(crate) fn new(asking: Asking, first: Option<Told>, rhythm: Duration) -> Self {
        let mut feed = Self { asking: Some(asking), ready: VecDeque::new(), pulse: Pulse::new(rhythm) };
        if let Some(first) = first {
            feed.tell(first);
        }
        feed
    }

    /// The next piece of the body.
    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Poll::Ready(Some(chunk));
            }
            let Some(asking) = &mut self.asking else { return Poll::Ready(None) };
            match asking.poll_next(context) {
                Poll::Ready(told) => {
                    self.tell(told);
                    self.pulse.rest();
                }
                Poll::Pending => match self.pulse.poll_beat(context) {
                    Poll::Ready(()) => self.ready.push_back(KEEP_ALIVE),
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    fn tell(&mut self, told: Told) {
        let message = match told {
            Told::Notification(message) => message,
            Told::Response(message) => {
                self.asking = None;
                message
            }
            Told::Withdrawn => match self.asking.take() {
                Some(asking) => asking.apology(),
                None => return,
            },
        };
        self.ready.extend(Event::unnumbered(message).chunks());
    }
}
