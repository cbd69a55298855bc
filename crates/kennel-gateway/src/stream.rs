//! One stream of a session: where its messages wait, what was sent on it, who reads it, and what ends it.

use crate::ring::Ring;
use kennel_hub::{Mailbox, Outgoing};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::time::Instant;

/// Where the messages of a stream wait.
pub(crate) trait Source {
    fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Outgoing>>;
    /// Says that nobody will read any more.
    fn close(&self);
}

impl Source for Mailbox {
    fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        Mailbox::poll_next(self, context)
    }

    fn close(&self) {
        Mailbox::close(self);
    }
}

/// A stream, which outlives the connections that carry it.
#[derive(Debug)]
pub(crate) struct Stream<S: Source> {
    pub(crate) number: u64,
    pub(crate) source: Arc<S>,
    pub(crate) ring: Ring,
    pub(crate) awaited: Awaited,
    /// How many readers there were; the last one is the one that counts.
    pub(crate) readers: u64,
    pub(crate) reading: Reading,
}

/// What ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// So many responses.
    Responses(usize),
    /// The end of the session.
    End,
}

/// Whether somebody reads a stream.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Somebody reads; the waker is there while they wait.
    Now(Option<Waker>),
    /// Nobody has since then.
    Left(Instant),
}

/// The right to read a stream, until somebody else gets it.
#[derive(Debug)]
pub(crate) struct Reader<S> {
    pub(crate) stream: u64,
    pub(crate) number: u64,
    pub(crate) source: Arc<S>,
}

impl<S: Source> Stream<S> {
    pub(crate) fn new(number: u64, source: Arc<S>, awaited: Awaited, now: Instant) -> Self {
        Self { number, source, ring: Ring::default(), awaited, readers: 0, reading: Reading::Left(now) }
    }

    /// Lets a reader in and whoever read before out.
    pub(crate) fn enter(&mut self) -> Reader<S> {
        self.wake();
        self.readers += 1;
        self.reading = Reading::Now(None);
        Reader { stream: self.number, number: self.readers, source: Arc::clone(&self.source) }
    }

    pub(crate) fn wake(&mut self) {
        if let Reading::Now(waker) = &mut self.reading
            && let Some(waker) = waker.take()
        {
            waker.wake();
        }
    }

    /// One response less to come.
    pub(crate) fn answered(&mut self) {
        if let Awaited::Responses(count) = &mut self.awaited {
            *count = count.saturating_sub(1);
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.awaited == Awaited::Responses(0)
    }

    pub(crate) fn was_left_before(&self, time: Instant) -> bool {
        matches!(self.reading, Reading::Left(left) if left <= time)
    }
}
