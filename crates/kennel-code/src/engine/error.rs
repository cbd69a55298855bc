//! Why there is no interpreter.

use kennel_box::{BoxError, ExitReport};
use std::sync::Arc;
use std::time::Duration;

/// Why an interpreter could not be started. Clones tell the same to all who wait.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no Python that can be used.
    #[error("no Python was found for code mode: {tried}; install Python 3.9 to 3.14 or name its program")]
    NoPython {
        /// What was looked at and why it will not do.
        tried: String,
    },
    /// The box could not be made, or the program not started in it.
    #[error("the box of an interpreter could not be made: {0}")]
    Box(Arc<BoxError>),
    /// The channel or the streams failed before it was ready.
    #[error("an interpreter could not be reached: {problem}{}", tail(.stderr))]
    Unreachable {
        /// What failed.
        problem: String,
        /// The end of what it has written to its standard error.
        stderr: String,
    },
    /// It ended before it was ready.
    #[error("an interpreter ended before it was ready: {report}{}", tail(.stderr))]
    Ended {
        /// How it ended.
        report: ExitReport,
        /// The end of what it has written to its standard error.
        stderr: String,
    },
    /// It was not ready in time.
    #[error("an interpreter was not ready within {} ms{}", .budget.as_millis(), tail(.stderr))]
    NotReady {
        /// How long it was waited for.
        budget: Duration,
        /// The end of what it has written to its standard error.
        stderr: String,
    },
    /// Too many wait already.
    #[error("{waiting} others wait for an interpreter already; try again later")]
    Busy {
        /// How many wait.
        waiting: usize,
    },
    /// Nobody starts interpreters any more.
    #[error("code mode is being shut down")]
    Closed,
}

impl From<BoxError> for StartError {
    fn from(error: BoxError) -> Self {
        Self::Box(Arc::new(error))
    }
}

fn tail(stderr: &str) -> String {
    let stderr = stderr.trim();
    if stderr.is_empty() { String::new() } else { format!("; it wrote: {stderr}") }
}
