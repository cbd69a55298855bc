//! Hostile programs and helpers for tests and benches.
//!
//! Owns the catalogue of break-out attempts ([`attempts`]) and the typed form of what the
//! program `kennel-hostile` prints ([`Report`]). The attempts themselves are in that program;
//! making targets, starting boxes and asserting is left to the tests that use this crate.

#![forbid(unsafe_code)]

mod attempt;
mod report;
mod table;

pub use attempt::{Argument, Attempt, Caller, Condition, HostExpectation, Setting, Sysctl};
pub use report::{Outcome, Report, ReportError};
pub use table::{attempt, attempts};
