//! The wire crate through its public face.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod authoring;
mod batches;
mod lines;
mod properties;
mod reading;
mod refusing;
mod rewriting;
mod support;
