//! What is on its way to a client: a bounded queue with many writers and one reader.

use crate::fault::Fault;
use crate::sync::lock;
use bytes::Bytes;
use kennel_wire::Message;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// One message for a client.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The message, without a line end.
    pub message: Bytes,
    /// What it is.
    pub kind: OutgoingKind,
}

/// What a message for a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutgoingKind {
    /// The answer to a request of the client, and the last message about it.
    Response,
    /// A request of the server to the client.
    Request,
    /// A notification.
    Notification,
    /// There will be no answer, because the client has cancelled the request; the message is empty and is not sent.
    Withdrawn,
}

/// How much a mailbox holds. One message is always taken, and so are responses: there is one for each request that was
/// let in. Where all mailboxes hold too much, a small refusal takes the place of a response, and other messages are not
/// taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailboxLimits {
    /// How many messages.
    pub messages: usize,
    /// How many bytes they may have together.
    pub bytes: usize,
    /// How many bytes all mailboxes of this Kennel may hold together, messages of a few KiB not counted.
    pub all_bytes: usize,
}

/// What is too small to be refused although all mailboxes hold too much.
const SMALL: usize = 4 << 10;

/// How many bytes all mailboxes hold.
static HELD: AtomicUsize = AtomicUsize::new(0);

impl Default for MailboxLimits {
    fn default() -> Self {
        Self { messages: 256, bytes: 4 << 20, all_bytes: 512 << 20 }
    }
}

/// Changes messages on their way to a client.
pub(crate) trait Lens: Send + Sync + fmt::Debug {
    /// A message as the client gets it; `None` for one that it does not.
    fn through(&self, outgoing: Outgoing) -> Option<Outgoing>;
}

/// Messages for one stream or connection of a client, kept in order until they are read.
#[derive(Debug)]
pub struct Mailbox {
    /// Where messages go on to instead of being kept.
    onward: Option<Onward>,
    state: Mutex<State>,
    limits: MailboxLimits,
    room: Notify,
    readers: AtomicUsize,
}

#[derive(Debug)]
struct Onward {
    to: Arc<Mailbox>,
    lens: Arc<dyn Lens>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Outgoing>,
    bytes: usize,
    reader: Option<Waker>,
    course: Course,
    /// Whether somebody may wait for room.
    is_crowded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Course {
    #[default]
    Open,
    /// Nothing more will be posted.
    Finished,
    /// Nobody will read any more.
    Closed,
}

/// What became of a posted message.
#[derive(Debug)]
pub(crate) enum Posted {
    Taken,
    /// There is no room; the message comes back.
    Full(Outgoing),
    /// Nobody will read it.
    Closed,
}

/// Says, as long as it lives, that a client reads the mailbox now.
#[derive(Debug)]
pub struct Attached(Arc<Mailbox>);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Mailbox {
    /// An empty mailbox.
    #[must_use]
    pub fn new(limits: MailboxLimits) -> Arc<Self> {
        Self::made(limits, None)
    }

    /// Another way into a mailbox, on which messages are changed. Its end is not that of the mailbox.
    pub(crate) fn onward(to: &Arc<Self>, lens: Arc<dyn Lens>) -> Arc<Self> {
        Self::made(to.limits, Some(Onward { to: Arc::clone(to), lens }))
    }

    fn made(limits: MailboxLimits, onward: Option<Onward>) -> Arc<Self> {
        let (state, room, readers) = (Mutex::default(), Notify::new(), AtomicUsize::new(0));
        Arc::new(Self { onward, state, limits, room, readers })
    }

    /// The next message, or `None` when there will be none any more. Safe to cancel.
    pub async fn next(&self) -> Option<Outgoing> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The next message if there is one now.
    pub fn try_next(&self) -> Option<Outgoing> {
        self.take(&mut lock(&self.state))
    }

    /// The next message, for whoever polls by hand; only the last one to poll is woken.
    pub fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let mut state = lock(&self.state);
        if let Some(next) = self.take(&mut state) {
            return Poll::Ready(Some(next));
        }
        if state.course != Course::Open {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(waker) => waker.clone_from(context.waker()),
            None => state.reader = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Says that a client reads from now on, until the returned value is dropped.
    #[must_use]
    pub fn attach(self: &Arc<Self>) -> Attached {
        self.readers.fetch_add(1, Ordering::Relaxed);
        Attached(Arc::clone(self))
    }

    /// Says that nobody will read any more; what is there and what comes is dropped.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.course = Course::Closed;
        state.queue = VecDeque::new();
        HELD.fetch_sub(std::mem::take(&mut state.bytes), Ordering::Relaxed);
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        self.room.notify_waiters();
    }

    /// Waits until no more bytes are kept than these; responses are taken whatever the limits say. Safe to cancel.
    pub async fn drained(&self, most: usize) {
        while self.is_beyond(most) {
            let room = self.room.notified();
            tokio::pin!(room);
            // Before looking again, so that room made after looking is not missed.
            room.as_mut().enable();
            if self.is_beyond(most) {
                room.await;
            }
        }
    }

    /// Whether more bytes are kept than these; if so, somebody waits for room.
    fn is_beyond(&self, most: usize) -> bool {
        let mut state = lock(&self.state);
        let is_beyond = state.bytes > most;
        state.is_crowded |= is_beyond;
        is_beyond
    }

    /// Whether a client reads now.
    pub(crate) fn is_attached(&self) -> bool {
        if let Some(Onward { to, .. }) = &self.onward {
            return to.is_attached();
        }
        self.readers.load(Ordering::Relaxed) > 0
    }

    /// Whether nobody will read any more.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).course == Course::Closed
    }

    /// Says that nothing more will be posted.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.state);
        if state.course == Course::Open {
            state.course = Course::Finished;
        }
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        self.room.notify_waiters();
    }

    /// Puts a message in. A response is always taken.
    pub(crate) fn post(&self, mut outgoing: Outgoing) -> Posted {
        if let Some(Onward { to, lens }) = &self.onward {
            return match lens.through(outgoing.clone()).map(|changed| to.post(changed)) {
                // It comes here again, and is changed then.
                Some(Posted::Full(_)) => Posted::Full(outgoing),
                Some(posted) => posted,
                None => Posted::Taken,
            };
        }
        let mut state = lock(&self.state);
        if state.course != Course::Open {
            return Posted::Closed;
        }
        let fits = state.queue.is_empty()
            || (state.queue.len() < self.limits.messages && state.bytes + outgoing.message.len() <= self.limits.bytes);
        if !fits && matches!(outgoing.kind, OutgoingKind::Request | OutgoingKind::Notification) {
            state.is_crowded = true;
            return Posted::Full(outgoing);
        }
        let length = outgoing.message.len();
        let held = HELD.fetch_add(length, Ordering::Relaxed);
        if length > SMALL && held.saturating_add(length) > self.limits.all_bytes {
            HELD.fetch_sub(length, Ordering::Relaxed);
            match outgoing.kind {
                OutgoingKind::Request | OutgoingKind::Notification => return Posted::Full(outgoing),
                OutgoingKind::Response | OutgoingKind::Withdrawn => {
                    outgoing.message = refusal(&outgoing.message, self.limits.all_bytes);
                    HELD.fetch_add(outgoing.message.len(), Ordering::Relaxed);
                }
            }
        }
        state.bytes += outgoing.message.len();
        state.queue.push_back(outgoing);
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        Posted::Taken
    }

    /// Puts a message in, when there is room for it.
    pub(crate) async fn post_patiently(&self, mut outgoing: Outgoing) -> bool {
        loop {
            let room = self.onward.as_ref().map_or(&self.room, |onward| &onward.to.room).notified();
            tokio::pin!(room);
            // Before looking, so that room made after looking is not missed.
            room.as_mut().enable();
            match self.post(outgoing) {
                Posted::Full(back) => outgoing = back,
                Posted::Taken => return true,
                Posted::Closed => return false,
            }
            room.await;
        }
    }

    fn take(&self, state: &mut State) -> Option<Outgoing> {
        let next = state.queue.pop_front()?;
        state.bytes -= next.message.len();
        HELD.fetch_sub(next.message.len(), Ordering::Relaxed);
        if std::mem::take(&mut state.is_crowded) {
            self.room.notify_waiters();
        }
        Some(next)
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        HELD.fetch_sub(lock(&self.state).bytes, Ordering::Relaxed);
    }
}

/// What takes the place of a response for which there is no room.
fn refusal(response: &Bytes, limit: usize) -> Bytes {
    let fault = Fault::saturated("bytes of answers that clients have not read", limit);
    match Message::parse(response.clone()).ok().and_then(|response| response.id().cloned()) {
        Some(id) => fault.response(&id),
        // It was for nobody.
        None => Bytes::new(),
    }
}

#[cfg(test)]
#[path = "mailbox_tests.rs"]
mod tests;
