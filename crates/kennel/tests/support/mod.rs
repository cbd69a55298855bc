//! What the tests of the whole program share: who calls, a place to work in, running programs, and what is left behind.
#![allow(dead_code, reason = "each test program uses its own part of this")]
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

pub(crate) mod caller;
pub(crate) mod events;
pub(crate) mod gateway;
pub(crate) mod ground;
pub(crate) mod leftovers;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod running;
pub(crate) mod sharing;
pub(crate) mod terminal;
pub(crate) mod waiting;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lets one test of a program run at a time: they look at the whole machine, and measure its processors.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says something that is seen even if the test passes: the harness captures only what the macros print.
pub(crate) fn announce(text: &str) {
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "{text}");
}
