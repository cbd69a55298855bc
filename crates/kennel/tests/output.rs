//! What reaches people: whatever a server, a client's file or a peer says, a terminal obeys none of it; no secret is shown;
//! and nobody can make Kennel write more than their share.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "output/flood.rs"]
mod flood;
#[path = "output/scene.rs"]
mod scene;
#[path = "output/screen.rs"]
mod screen;
#[path = "output/secrets.rs"]
mod secrets;
#[path = "output/sources.rs"]
mod sources;
mod support;
