//! `kennel exec` as a caller sees it: streams, exit codes, signals, environment, working directory, paths, words.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "exec/codes.rs"]
mod codes;
#[path = "exec/environment.rs"]
mod environment;
#[path = "exec/grants.rs"]
mod grants;
#[path = "exec/lifetime.rs"]
mod lifetime;
#[path = "exec/network.rs"]
mod network;
#[path = "exec/ownership.rs"]
mod ownership;
#[path = "exec/places.rs"]
mod places;
#[path = "exec/refusals.rs"]
mod refusals;
#[path = "exec/signals.rs"]
mod signals;
#[path = "exec/streams.rs"]
mod streams;
mod support;
