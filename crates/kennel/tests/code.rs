//! Code mode as clients meet it: the official client runs cells that call real servers.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "code/borders.rs"]
mod borders;
#[path = "code/cells.rs"]
mod cells;
#[path = "code/client.rs"]
mod client;
#[path = "code/crowd.rs"]
mod crowd;
#[path = "code/long.rs"]
mod long;
#[path = "serve/scene.rs"]
#[allow(dead_code, reason = "the tests of `kennel serve` use the rest")]
mod scene;
mod support;
#[path = "code/whole.rs"]
mod whole;
