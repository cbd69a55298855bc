//! Owns what an attempt finds, and how errors on the way become findings.

use std::io;

use kennel_testkit::Outcome;

use crate::errno;

/// How one attempt ended.
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    pub(crate) detail: String,
    pub(crate) reached: Option<u64>,
}

/// What leaves an attempt early.
pub(crate) enum Stop {
    /// The attempt was called wrongly.
    Usage(String),
    /// The attempt is over.
    Found(Finding),
}

/// What an attempt returns; a plain I/O error on the way means that it was blocked.
pub(crate) type Verdict = Result<Finding, Stop>;

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Found(blocked(errno::name(&error)))
    }
}

pub(crate) fn escaped(detail: impl Into<String>) -> Finding {
    Finding { outcome: Outcome::Escaped, detail: detail.into(), reached: None }
}

pub(crate) fn blocked(detail: impl Into<String>) -> Finding {
    Finding { outcome: Outcome::Blocked, detail: detail.into(), reached: None }
}

pub(crate) fn not_possible(detail: impl Into<String>) -> Finding {
    Finding { outcome: Outcome::NotPossibleHere, detail: detail.into(), reached: None }
}

/// Judges a call that must not get past a permission check: success and the errors in `past` do.
pub(crate) fn gate(result: io::Result<i64>, past: &[i32]) -> Verdict {
    match result {
        Ok(value) => Ok(escaped(format!("the call returned {value}"))),
        Err(error) if error.raw_os_error().is_some_and(|number| past.contains(&number)) => {
            Ok(escaped(format!("past the permission check: {}", errno::name(&error))))
        }
        Err(error) => Err(error.into()),
    }
}

/// Marks a step that must work for the attempt to prove anything.
pub(crate) trait Setup<T> {
    fn setup(self, what: &str) -> Result<T, Stop>;
}

impl<T> Setup<T> for io::Result<T> {
    fn setup(self, what: &str) -> Result<T, Stop> {
        self.map_err(|error| Stop::Found(not_possible(format!("could not {what}: {}", errno::name(&error)))))
    }
}
