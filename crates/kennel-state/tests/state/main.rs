//! The state as those see it who use it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod files;
mod full;
mod processes;
mod rows;
mod support;
