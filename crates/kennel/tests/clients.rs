//! `kennel import`, `export`, `add`, `remove`, `client` and `connect` as somebody sees them who has other clients.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "clients/adding.rs"]
mod adding;
#[path = "clients/connecting.rs"]
mod connecting;
#[path = "clients/importing.rs"]
mod importing;
#[path = "clients/installing.rs"]
mod installing;
#[path = "clients/scene.rs"]
mod scene;
mod support;
