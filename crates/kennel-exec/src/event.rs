//! What happens to a process, numbered.

use bytes::Bytes;
use kennel_box::ExitReport;
use std::fmt;

/// The number of an event: 1 for the first of a process, one more for each that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(u64);

impl Seq {
    /// Before the first event: what a consumer that has seen nothing asks to go on from.
    pub const START: Self = Self(0);

    /// The event with this number.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number of the event that follows.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which of a process's outputs bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One thing that happened to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place in the process's sequence.
    pub seq: Seq,
    /// What happened.
    pub kind: EventKind,
}

/// What can happen to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// It wrote bytes. They are cut where the pipe was read, not where a line or a character ends.
    Output {
        /// Where it wrote them.
        stream: Stream,
        /// What it wrote.
        bytes: Bytes,
    },
    /// It ended. Output it left in its pipes, or that its children still write, may follow.
    Exited {
        /// How and why.
        report: ExitReport,
    },
    /// Nothing follows: it has ended, its box is gone and its output is read to the end.
    Closed,
}

impl EventKind {
    /// How many bytes of output this event keeps in memory.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Output { bytes, .. } => bytes.len(),
            Self::Exited { .. } | Self::Closed => 0,
        }
    }
}
