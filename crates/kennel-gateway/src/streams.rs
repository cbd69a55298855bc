//! The streams of one session: who reads which, what was sent on each, and which of them still have something to come.
//!
//! A stream outlives the connections that carry it. It has at most one reader: whoever asks for it last, because a
//! client that comes back knows better than the gateway that its old connection is dead. Messages wait in the stream's
//! source until a reader takes them; taking one numbers it and keeps it, in one step under the session's lock, so
//! that it is never lost between two readers and never given to both.

use crate::budget::Budget;
use crate::event::{Event, EventId};
use crate::settings::ReplayLimits;
use crate::stream::{Awaited, Reader, Reading, Source, Stream};
use kennel_hub::{Outgoing, OutgoingKind};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;

/// All streams of a session.
#[derive(Debug)]
pub(crate) struct Streams<S: Source> {
    limits: ReplayLimits,
    budget: Arc<Budget>,
    /// By number; the first one is the session's own.
    all: Vec<Stream<S>>,
    /// The number of the session's own.
    first: u64,
    next: u64,
    bytes: usize,
    course: Course,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    Open,
    /// The gateway goes away, the session does not.
    Recalled,
    Ended,
}

/// What a reader finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An event to be sent.
    Event(Event),
    /// The stream has said everything.
    Finished,
    /// Somebody else reads the stream now.
    Replaced,
    /// The stream goes on, but this connection should not.
    Recalled,
}

/// A stream that goes on.
#[derive(Debug)]
pub(crate) struct Resumed<S> {
    pub(crate) reader: Reader<S>,
    /// What was sent after the event that the client knows.
    pub(crate) missed: Vec<Event>,
    /// Whether more was sent, which is not kept any more.
    pub(crate) gap: bool,
}

/// Why a stream cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResumeError {
    #[error("The session has not sent an event with the id in `Last-Event-ID`.")]
    Unknown,
    #[error("The stream of the event in `Last-Event-ID` is no longer kept.")]
    Gone,
    #[error("The stream of the event in `Last-Event-ID` has ended with that event.")]
    Over,
}

impl<S: Source> Streams<S> {
    /// The streams of a new session, with the source of the session's own one.
    pub(crate) fn new(limits: ReplayLimits, budget: Arc<Budget>, source: Arc<S>, now: Instant) -> Self {
        let own = Stream::new(0, source, Awaited::End, now);
        Self { limits, budget, all: vec![own], first: 0, next: 1, bytes: 0, course: Course::Open }
    }

    /// Numbers streams from here on, before there are others than the session's own.
    pub(crate) fn number_from(&mut self, first: u64) {
        self.first = first;
        self.next = first + 1;
        self.all.iter_mut().for_each(|stream| stream.number = first);
    }

    /// Whether an event can be of one of these streams.
    pub(crate) fn knows(&self, event: EventId) -> bool {
        (self.first..self.next).contains(&event.stream)
    }

    /// A reader for the session's own stream, from now on.
    pub(crate) fn listen(&mut self) -> Option<Reader<S>> {
        if self.course == Course::Ended { None } else { self.all.first_mut().map(Stream::enter) }
    }

    /// A reader for a new stream.
    pub(crate) fn begin(&mut self, source: Arc<S>, awaited: Awaited, now: Instant) -> Reader<S> {
        self.make_place(now);
        let mut stream = Stream::new(self.next, source, awaited, now);
        self.next += 1;
        let reader = stream.enter();
        self.all.push(stream);
        reader
    }

    /// A reader for a stream that goes on after the given event.
    pub(crate) fn resume(&mut self, after: EventId) -> Result<Resumed<S>, ResumeError> {
        if !self.knows(after) {
            return Err(ResumeError::Unknown);
        }
        let stream = self.stream(after.stream).ok_or(ResumeError::Gone)?;
        if after.sequence > stream.ring.last() {
            return Err(ResumeError::Unknown);
        }
        let following = stream.ring.after(after.sequence);
        if stream.is_finished() && following.events.is_empty() {
            return Err(if following.gap { ResumeError::Gone } else { ResumeError::Over });
        }
        Ok(Resumed { reader: stream.enter(), missed: following.events, gap: following.gap })
    }

    /// An id for an event that carries no message and is not kept.
    pub(crate) fn mark(&mut self, reader: &Reader<S>) -> Option<EventId> {
        let stream = self.stream(reader.stream)?;
        Some(EventId { stream: reader.stream, sequence: stream.ring.number() })
    }

    /// The next event for a reader.
    pub(crate) fn poll(&mut self, reader: &Reader<S>, context: &mut Context<'_>) -> Poll<Found> {
        let course = self.course;
        let Some(stream) = self.stream(reader.stream) else { return Poll::Ready(Found::Finished) };
        if stream.readers != reader.number {
            return Poll::Ready(Found::Replaced);
        }
        if course == Course::Ended || stream.is_finished() {
            return Poll::Ready(Found::Finished);
        }
        loop {
            match stream.source.poll_next(context) {
                Poll::Ready(Some(outgoing)) if outgoing.kind == OutgoingKind::Withdrawn => {
                    stream.answered();
                    if stream.is_finished() {
                        return Poll::Ready(Found::Finished);
                    }
                }
                Poll::Ready(Some(outgoing)) => {
                    let event = self.record(reader, outgoing);
                    return Poll::Ready(event.map_or(Found::Finished, Found::Event));
                }
                Poll::Ready(None) => {
                    stream.awaited = Awaited::Responses(0);
                    return Poll::Ready(Found::Finished);
                }
                Poll::Pending if course == Course::Recalled => return Poll::Ready(Found::Recalled),
                Poll::Pending => {
                    stream.reading = Reading::Now(Some(context.waker().clone()));
                    return Poll::Pending;
                }
            }
        }
    }

    /// Numbers and keeps a message of a reader's stream; `None` if there is no such stream.
    pub(crate) fn record(&mut self, reader: &Reader<S>, outgoing: Outgoing) -> Option<Event> {
        let limits = self.limits;
        let stream = self.stream(reader.stream)?;
        if outgoing.kind == OutgoingKind::Response {
            stream.answered();
        }
        let id = EventId { stream: stream.number, sequence: stream.ring.number() };
        let event = Event::message(id, outgoing.message);
        let before = stream.ring.bytes();
        stream.ring.keep(id.sequence, event.clone());
        stream.ring.shrink(limits.events, limits.bytes);
        let after = stream.ring.bytes();
        self.kept(before, after);
        self.keep_within(reader.stream);
        Some(event)
    }

    /// Says that a reader is gone. One that was replaced leaves nothing.
    pub(crate) fn leave(&mut self, reader: &Reader<S>, now: Instant) {
        if let Some(stream) = self.stream(reader.stream).filter(|stream| stream.readers == reader.number) {
            stream.reading = Reading::Left(now);
        }
    }

    /// Forgets what nobody came back for since `before`.
    pub(crate) fn forget(&mut self, before: Instant) {
        let mut freed = 0;
        if let Some(own) = self.all.first_mut().filter(|own| own.was_left_before(before)) {
            freed += own.ring.bytes();
            own.ring.shrink(0, 0);
        }
        self.all.retain(|stream| {
            let kept = stream.number == self.first || !stream.was_left_before(before);
            if !kept {
                freed += stream.ring.bytes();
                stream.source.close();
            }
            kept
        });
        self.kept(freed, 0);
    }

    /// Sends all readers away, when they have what is there.
    pub(crate) fn recall(&mut self) {
        if self.course == Course::Open {
            self.course = Course::Recalled;
        }
        self.all.iter_mut().for_each(Stream::wake);
    }

    /// Ends all streams; their readers find out.
    pub(crate) fn end(&mut self) {
        self.course = Course::Ended;
        for stream in &mut self.all {
            stream.source.close();
            stream.wake();
        }
    }

    fn stream(&mut self, number: u64) -> Option<&mut Stream<S>> {
        let at = self.all.binary_search_by_key(&number, |stream| stream.number).ok()?;
        self.all.get_mut(at)
    }

    /// Makes room for one more stream: first what is finished goes, then what nobody reads, the oldest first. Streams
    /// that are read stay; there are not more of them than connections.
    fn make_place(&mut self, now: Instant) {
        if self.all.len() < self.limits.streams {
            return;
        }
        let left = |stream: &Stream<S>| stream.number != self.first && stream.was_left_before(now);
        let finished = self.all.iter().position(|stream| left(stream) && stream.is_finished());
        let Some(at) = finished.or_else(|| self.all.iter().position(left)) else { return };
        let stream = self.all.remove(at);
        self.kept(stream.ring.bytes(), 0);
        stream.source.close();
    }

    /// Holds the bounds of the session and of all sessions: the oldest events of the session's other streams go first,
    /// then those of this one.
    fn keep_within(&mut self, current: u64) {
        let own = self.all.binary_search_by_key(&current, |stream| stream.number).ok();
        let mut others = 0..self.all.len();
        loop {
            let excess = self.bytes.saturating_sub(self.limits.session_bytes).max(self.budget.excess());
            let Some(at) = (if excess == 0 { None } else { others.find(|at| Some(*at) != own).or(own) }) else {
                return;
            };
            let Some(stream) = self.all.get_mut(at) else { return };
            let before = stream.ring.bytes();
            stream.ring.shrink(usize::MAX, before.saturating_sub(excess));
            let after = stream.ring.bytes();
            self.kept(before, after);
            if Some(at) == own {
                return;
            }
        }
    }

    /// Accounts for a stream that kept so much before and keeps so much now.
    fn kept(&mut self, before: usize, after: usize) {
        self.bytes = self.bytes + after - before;
        self.budget.change(before, after);
    }
}

impl<S: Source> Drop for Streams<S> {
    fn drop(&mut self) {
        self.budget.change(self.bytes, 0);
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
