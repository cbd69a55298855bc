//! Hostile programs, a test server and helpers for tests and benches.
//!
//! Owns the catalogue of break-out attempts ([`attempts`]) and the typed form of what the
//! program `kennel-hostile` prints ([`Report`]). The attempts themselves are in that program;
//! making targets, starting boxes and asserting is left to the tests that use this crate.
//! Also owns the MCP server that tests and benches run, the program `kennel-fixture`, and a
//! client for servers over stdio ([`StdioClient`]), and the check of messages against the
//! protocol's schemas ([`Schema`]), the harness of tests that make boxes ([`run_tests`]), the replay of
//! fuzzing corpora ([`replay_corpus`]), and a registry of packages for npm and Python ([`Registry`]).

#![forbid(unsafe_code)]

mod attempt;
mod client;
mod corpus;
#[cfg(feature = "fake")]
pub mod fake;
mod harness;
mod programs;
mod registry;
mod report;
mod schema;
mod table;

pub use attempt::{Argument, Attempt, Caller, Condition, HostExpectation, Setting, Sysctl};
pub use client::{ClientError, StdioClient};
pub use corpus::replay_corpus;
pub use harness::{Test, run_tests};
pub use programs::program;
pub use registry::{NpmPackage, Registry};
pub use report::{Outcome, Report, ReportError};
pub use schema::{Schema, specification};
pub use table::{attempt, attempts};
