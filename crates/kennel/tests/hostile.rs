//! A standing adversary: hostile packages from a registry of the test's own, run through the whole program, as root and as
//! an ordinary user. Whatever they do, it is their own failure: the gateway goes on.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "hostile/packages.rs"]
mod packages;
#[path = "hostile/scene.rs"]
mod scene;
#[path = "hostile/settings.rs"]
mod settings;
mod support;
