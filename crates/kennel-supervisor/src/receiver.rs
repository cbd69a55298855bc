//! What the owner of an instance is told about it: messages, lines, and what becomes of its processes.

use crate::failure::Failure;
use crate::phase::{Generation, Phase};
use crate::status::State;
use bytes::Bytes;
use kennel_exec::{Feed, FeedError};
use kennel_wire::{Era, Message, ParseError, RawJson};
use serde::Serialize;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// What a process said about itself before it was ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The era in which it is talked to.
    pub era: Era,
    /// The protocol version that is spoken.
    pub version: String,
    /// Its answer to `initialize`, or to `server/discover` in the modern era, as spelled.
    pub result: RawJson,
    /// Its answers to `tools/list`, one per page, as spelled; none where it has no tools.
    pub tools: Vec<RawJson>,
}

/// The way to a process that is ready. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Link {
    /// Which process.
    pub generation: Generation,
    /// Its standard input.
    pub input: Input,
    /// What it said about itself.
    pub handshake: Arc<Handshake>,
}

/// The standard input of one process. Cheap to clone.
#[derive(Clone)]
pub struct Input(Feed);

impl Input {
    pub(crate) fn new(feed: Feed) -> Self {
        Self(feed)
    }

    /// Hands over one line, which must end with a line feed and hold no other, in the order of the calls.
    pub fn send(&self, line: Bytes) -> Result<(), FeedError> {
        self.0.send(line)
    }

    /// The same, written together with what others send at the same time.
    pub fn send_together(&self, line: Bytes) -> Result<(), FeedError> {
        self.0.send_together(line)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Input")
    }
}

/// Something on standard output that is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noise {
    /// A line, or a member of a batch, that is no message.
    NotAMessage {
        /// How it began; the whole batch where it was a member of one.
        head: Bytes,
        /// What is wrong with it. Its `id` tells which request will get no other answer.
        reason: ParseError,
    },
    /// A line longer than [`Settings::line_bytes`](crate::Settings::line_bytes), which was skipped.
    TooLong {
        /// How it began.
        head: Bytes,
        /// How it ended.
        tail: Bytes,
        /// How long it was.
        length: u64,
    },
}

/// Why Kennel stopped a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Nobody needed it.
    Idle,
    /// The operator wanted another one.
    Restart,
    /// The instance was shut down.
    Shutdown,
    /// It did not answer probes.
    Ill,
}

/// How a process that had been ready came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Kennel stopped it.
    Stopped(StopReason),
    /// It ended by itself, or was lost.
    Died(Arc<Failure>),
}

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another attempt, after this time.
    RetryIn(Duration),
    /// Nothing, because the budget of restarts is gone, until someone calls for a restart.
    Parked,
    /// Nothing, because another attempt would fail in the same way, until someone calls for a restart.
    Never,
}

/// A transition of an instance, or progress within a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LifecycleEvent {
    /// The process concerned: the one that runs or starts, otherwise the last one.
    pub generation: Generation,
    /// Which attempt in a row this is to get a process ready; 1 for the first.
    pub attempt: u32,
    /// How the instance is now.
    pub state: State,
    /// Where it is.
    pub phase: Phase,
    /// What made it so, for the operator.
    pub cause: String,
}

/// Takes what an instance has to tell. All calls come from the instance's one task, in order.
///
/// The calls that are not async must not block.
pub trait Receiver: Send + Sync + 'static {
    /// A process is ready. Later messages of this generation are handed over after this call.
    fn ready(&self, link: &Link);

    /// A message from the process that answers none of the supervisor's own requests. It may come before
    /// [`Receiver::ready`].
    ///
    /// While the future is pending, the process is not read: it waits when its pipe is full. The future is dropped if
    /// the process is stopped meanwhile and [`Settings::drain`](crate::Settings::drain) has passed.
    fn message(&self, generation: Generation, message: Message) -> impl Future<Output = ()> + Send;

    /// Something on standard output that is not a message.
    fn noise(&self, generation: Generation, noise: Noise);

    /// One line of standard error, without its line end; of a long one the beginning.
    fn diagnostics(&self, generation: Generation, line: &[u8]);

    /// The server does not speak this era: it said so, or its process ended when it was asked. Unless the plan is fixed
    /// or the other era was refused too, a process in the other era follows at once. A server that is merely silent has
    /// not refused.
    fn era_refused(&self, _era: Era) {}

    /// A process that was ready has ended and nothing more of it will come. Called once per such process.
    fn gone(&self, generation: Generation, end: &End);

    /// A start failed, or a process that had been ready failed; then this comes after [`Receiver::gone`].
    fn failed(&self, failure: &Failure, next: Next);

    /// Every transition.
    fn event(&self, event: &LifecycleEvent);
}
