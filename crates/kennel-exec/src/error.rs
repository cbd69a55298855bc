//! What can go wrong with each kind of request.

use crate::event::Seq;
use crate::ids::{ProcessId, SessionId, WriteId};
use kennel_box::BoxError;
use std::sync::Arc;

/// Why limits make no sense together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// With a bound of nothing, nothing would ever run.
    #[error("limit `{name}` must be at least 1")]
    Zero {
        /// The limit's name.
        name: &'static str,
    },
    /// A message that is larger than the log would be lost with the connection.
    #[error("limit `retained_bytes` ({retained}) must be at least `message_bytes` ({message})")]
    RetainedBelowMessage {
        /// What the log keeps.
        retained: usize,
        /// What a message may have.
        message: usize,
    },
    /// A write that is forgotten before it is made could be made twice.
    #[error("limit `remembered_writes` ({remembered}) must be more than `pending_writes` ({pending})")]
    RememberedNotAbovePending {
        /// How many are remembered.
        remembered: usize,
        /// How many may wait.
        pending: usize,
    },
}

/// Why a session cannot be opened or resumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The id is taken.
    #[error("session `{0}` exists already; resume it or open one under another id")]
    Exists(SessionId),
    /// There is no such session, or it stayed detached too long and was ended.
    #[error("there is no session `{0}`; it may have been ended while it was detached")]
    Unknown(SessionId),
    /// Someone else is attached.
    #[error("session `{0}` is attached elsewhere; it can be resumed when that attachment is gone")]
    AlreadyAttached(SessionId),
    /// The executor has as many sessions as it may.
    #[error("there are {limit} sessions already, which is the limit")]
    TooManySessions {
        /// The limit.
        limit: usize,
    },
    /// The executor takes no new work.
    #[error("the executor is shutting down")]
    ShuttingDown,
}

/// Why a process did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The id is taken by a process that runs or is kept for late readers.
    #[error("process `{0}` exists already in this session")]
    IdInUse(ProcessId),
    /// The session has as many processes as it may.
    #[error("the session has {limit} processes already, which is the limit")]
    TooManyProcesses {
        /// The limit.
        limit: usize,
    },
    /// The session is being ended.
    #[error("the session has ended")]
    SessionEnded,
    /// Someone terminated the process before it had started; nothing of it is left.
    #[error("the process was terminated before it had started")]
    Terminated,
    /// The box could not be made, or the program not be started in it.
    #[error(transparent)]
    Box(#[from] BoxError),
}

/// Why a request about a process failed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such process, or it ended and is no longer kept.
    #[error("there is no process `{0}` in this session")]
    Unknown(ProcessId),
    /// The process cannot get a signal, because it has not started or has ended.
    #[error("process `{0}` is not running")]
    NotRunning(ProcessId),
    /// The box could not do as asked.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// The box of the process could not be ended.
    #[error("the box of process `{id}` could not be ended")]
    BoxRemains {
        /// The process.
        id: ProcessId,
        /// What the engine said.
        #[source]
        source: Arc<BoxError>,
    },
}

/// Why events cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventsError {
    /// Events are gone; what follows cannot be joined to what the consumer has.
    #[error("events are lost: expected {expected}, received {received}")]
    Gap {
        /// The event the consumer needs next.
        expected: Seq,
        /// The oldest event that is still there.
        received: Seq,
    },
    /// The consumer claims to have seen what has not happened: it speaks of another process.
    #[error("event {after} has not happened yet; the last one is {last}")]
    Ahead {
        /// What the consumer says it has seen.
        after: Seq,
        /// The last event there is.
        last: Seq,
    },
    /// There is no such process, or it ended and is no longer kept.
    #[error("there is no process `{0}` in this session")]
    Unknown(ProcessId),
    /// The process did not start, so nothing will ever happen to it.
    #[error("the process did not start")]
    NeverStarted,
    /// The attachment through which the subscription was made is gone.
    #[error("the session was detached; resume it and subscribe again")]
    Detached,
}

/// Why it is not known, or cannot be said, what became of a write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The process has not read the bytes yet.
    ///
    /// If the write had its place in the queue, it keeps it and is finished in the background; a repeated write with
    /// the same id waits for that one. In no case are the bytes written twice or out of order.
    #[error("write {0} has not been taken by the process in time; write again with the same id to wait for it")]
    TimedOut(WriteId),
    /// The id belongs to an earlier write of other bytes, so these would be lost.
    #[error("write id {0} was used before for other bytes")]
    IdReused(WriteId),
}

/// Why bytes were not taken for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The process reads more slowly than it is written to.
    #[error("the process has not read what was sent to it before, and no more may wait")]
    Full,
    /// Standard input is closed or the process has ended.
    #[error("the standard input of the process is closed")]
    Closed,
}
