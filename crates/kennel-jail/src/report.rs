//! Why a process ended: the words that cross every layer up to the user.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How the kernel says a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It called `exit` with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What made a process end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitCause {
    /// It ended by itself with an exit code.
    Exited,
    /// A signal ended it, sent by itself, by another process or by Kennel on request.
    Signalled,
    /// The box was out of memory and the kernel or the watchdog killed for it.
    OutOfMemory,
    /// The box refused new processes at its limit before the process failed.
    PidsLimit,
    /// The process made a system call that seccomp answers with a kill.
    Seccomp,
    /// The process was still running at its deadline.
    Deadline,
    /// The box ended under the process: it was destroyed, or its init died.
    BoxEnded,
}

/// How a process ended and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitReport {
    /// What the kernel reported of the process.
    pub status: ExitStatus,
    /// What made it end.
    pub cause: ExitCause,
}

impl ExitReport {
    /// A process that ended with its box, which leaves no status of its own.
    pub const BOX_ENDED: Self = Self { status: ExitStatus::Signal(libc::SIGKILL), cause: ExitCause::BoxEnded };

    /// The exit code a shell would show: the code itself, or 128 plus the signal.
    #[must_use]
    pub fn shell_code(&self) -> i32 {
        match self.status {
            ExitStatus::Code(code) => code,
            ExitStatus::Signal(signal) => 128 + signal,
        }
    }

    /// True where the process ended by itself with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.status == ExitStatus::Code(0) && self.cause == ExitCause::Exited
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            ExitCause::Exited | ExitCause::Signalled => self.status.fmt(f),
            ExitCause::OutOfMemory => write!(f, "out of memory ({})", self.status),
            ExitCause::PidsLimit => write!(f, "process limit reached ({})", self.status),
            ExitCause::Seccomp => write!(f, "forbidden system call ({})", self.status),
            ExitCause::Deadline => write!(f, "deadline passed ({})", self.status),
            ExitCause::BoxEnded => f.write_str("the box ended"),
        }
    }
}
