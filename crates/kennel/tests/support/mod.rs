//! What the tests of the whole program share: the programs, a place to work in, who calls, and what is left behind.
#![allow(dead_code, reason = "each test program uses its own part of this")]
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

pub(crate) mod attempts;
pub(crate) mod ground;
pub(crate) mod leftovers;
pub(crate) mod programs;
pub(crate) mod running;
pub(crate) mod scene;
pub(crate) mod terminal;
pub(crate) mod witness;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// Asks again and again until there is no complaint, or returns the last one when the time is up.
pub(crate) fn settle(patience: Duration, mut complaint: impl FnMut() -> Option<String>) -> Result<Duration, String> {
    let start = Instant::now();
    loop {
        match complaint() {
            None => return Ok(start.elapsed()),
            Some(complaint) if start.elapsed() > patience => return Err(complaint),
            Some(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
