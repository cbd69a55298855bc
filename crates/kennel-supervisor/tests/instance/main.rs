//! An instance over a fake engine, with a clock that jumps: starts, eras, probes, restarts, idleness, the end.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod changing_eras;
mod ending;
mod eras;
mod handing_over;
mod idling;
mod known_failures;
mod probing;
mod restarting;
mod starting;
mod support;
