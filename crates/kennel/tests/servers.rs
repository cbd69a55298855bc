//! Real servers in their default boxes, used by real clients: files of the host, and packages that are installed once
//! and then run without any network.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "servers/answers.rs"]
mod answers;
#[path = "servers/clients.rs"]
mod clients;
#[path = "servers/everything.rs"]
mod everything;
#[path = "servers/files.rs"]
mod files;
#[path = "servers/packages.rs"]
mod packages;
#[path = "servers/scene.rs"]
mod scene;
mod support;
