//! `kennel call` and `kennel tools` as a caller sees them: servers in boxes of their own, servers behind `kennel run`,
//! what is refused and with which words, and that nothing is left behind.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "call/ending.rs"]
mod ending;
#[path = "call/refusals.rs"]
mod refusals;
#[path = "call/running.rs"]
mod running;
#[path = "call/scene.rs"]
mod scene;
#[path = "call/started.rs"]
mod started;
mod support;
#[path = "call/tools.rs"]
mod tools;
