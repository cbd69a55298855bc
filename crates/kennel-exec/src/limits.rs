//! Every bound of the executor, with its default.

use crate::error::LimitsError;
use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// How long each polite step of stopping waits before the next, harsher one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graces {
    /// From closing standard input to SIGTERM.
    pub stdin: Duration,
    /// From SIGTERM to the end of the box.
    pub term: Duration,
}

impl Default for Graces {
    fn default() -> Self {
        Self { stdin: Duration::from_secs(2), term: Duration::from_secs(3) }
    }
}

/// The bounds of an executor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest line a caller wants to assemble; the event log must be able to keep one whole.
    pub message_bytes: usize,
    /// How much output the log of one process keeps; exceeded by at most one read per stream.
    pub retained_bytes: usize,
    /// How many events the log of one process keeps; exceeded by at most one per stream, `Exited` and `Closed`.
    pub retained_events: usize,
    /// How much is read from a pipe at once, of a process that writes much.
    pub read_bytes: usize,
    /// How long a write may take before its caller is told to ask again.
    pub write_timeout: Duration,
    /// How many writes of one process may wait for the process to read them.
    pub pending_writes: usize,
    /// How many bytes of writes may wait so; a single larger write waits alone.
    pub pending_write_bytes: usize,
    /// How many writes of one process are remembered, so that they are not made twice.
    pub remembered_writes: usize,
    /// How long the output of an ended process is waited for before its box, and whoever holds the pipe, is ended;
    /// and how long the pipes are read after that.
    pub drain: Duration,
    /// How politely processes are stopped when their session ends by itself.
    pub graces: Graces,
    /// How long a closed process is kept for late readers, counted from its end or its last reading.
    pub finished_kept: Duration,
    /// How many closed processes a session keeps; the one closed first goes first.
    pub finished_processes: usize,
    /// How many processes a session has at once, closed ones included.
    pub processes: usize,
    /// How long a session without an attachment is kept.
    pub detached_kept: Duration,
    /// How many sessions there are at once.
    pub sessions: usize,
    /// How many lines of standard error are kept for error messages.
    pub stderr_lines: usize,
    /// How many bytes these lines may have together.
    pub stderr_bytes: usize,
    /// The longest of these lines; of a longer one the beginning is kept.
    pub stderr_line_bytes: usize,
    /// How much standard error is read at once from a process that has written little before.
    pub stderr_burst: usize,
    /// How much of it is read in each second after that: whoever writes more has to wait, and not Kennel to work. A line
    /// counts as [`Limits::STDERR_LINE`] bytes more than it has.
    pub stderr_rate: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 8 * MIB,
            retained_bytes: 16 * MIB,
            retained_events: 50_000,
            read_bytes: 256 * KIB,
            write_timeout: Duration::from_secs(30),
            pending_writes: 256,
            pending_write_bytes: 16 * MIB,
            remembered_writes: 4096,
            drain: Duration::from_secs(2),
            graces: Graces::default(),
            finished_kept: Duration::from_secs(30),
            finished_processes: 64,
            processes: 1024,
            detached_kept: Duration::from_secs(30),
            sessions: 1024,
            stderr_lines: 1000,
            stderr_bytes: 256 * KIB,
            stderr_line_bytes: 8 * KIB,
            stderr_burst: 16 * MIB,
            stderr_rate: 4 * MIB,
        }
    }
}

impl Limits {
    /// What a line of standard error counts beside its bytes, since each costs something however short.
    pub const STDERR_LINE: usize = 64;

    /// Checks the bounds against each other.
    pub(crate) fn check(&self) -> Result<(), LimitsError> {
        let positive = [
            ("retained_events", self.retained_events),
            ("read_bytes", self.read_bytes),
            ("pending_writes", self.pending_writes),
            ("pending_write_bytes", self.pending_write_bytes),
            ("processes", self.processes),
            ("sessions", self.sessions),
        ];
        if let Some((name, _)) = positive.into_iter().find(|(_, value)| *value == 0) {
            return Err(LimitsError::Zero { name });
        }
        if self.retained_bytes < self.message_bytes {
            return Err(LimitsError::RetainedBelowMessage {
                retained: self.retained_bytes,
                message: self.message_bytes,
            });
        }
        if self.remembered_writes <= self.pending_writes {
            return Err(LimitsError::RememberedNotAbovePending {
                remembered: self.remembered_writes,
                pending: self.pending_writes,
            });
        }
        Ok(())
    }
}
