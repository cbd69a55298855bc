//! Why an interpreter, and with it all that its cells have made, is gone.

use kennel_box::{ExitCause, ExitReport, ExitStatus};
use std::fmt;
use std::time::Duration;

/// Why the state of a notebook was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loss {
    /// The process has ended.
    Ended(ExitReport),
    /// It runs, but cannot be spoken to any more.
    ChannelClosed,
    /// It was killed: it did not stop when it was interrupted.
    DidNotStop { grace: Duration },
    /// It was stopped: no cell was run for so long.
    Idle(Duration),
    /// The notebook was closed.
    Closed,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(report) => match (report.cause, report.status) {
                (ExitCause::OutOfMemory, _) => f.write_str("out of memory"),
                (ExitCause::PidsLimit, _) => write!(f, "too many processes and threads ({})", report.status),
                (ExitCause::Exited, ExitStatus::Code(code)) => write!(f, "exited with code {code}"),
                (ExitCause::Signalled, ExitStatus::Signal(signal)) => write!(f, "killed by signal {signal}"),
                _ => report.fmt(f),
            },
            Self::ChannelClosed => f.write_str("it closed its channel to Kennel"),
            Self::DidNotStop { grace } => write!(f, "killed because it did not stop within {}", span(*grace)),
            Self::Idle(idle) => write!(f, "idle for {}", span(*idle)),
            Self::Closed => f.write_str("the notebook was closed"),
        }
    }
}

/// A time in the unit that suits it.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{} ms", time.as_millis()),
        60 => "1 minute".to_owned(),
        seconds if seconds > 60 && seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        _ => format!("{} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
#[path = "loss_tests.rs"]
mod tests;
