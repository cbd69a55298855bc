//! Grants that would let a box out: of Kennel's own files, of what a reload takes up, and of paths that change under it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "hostile_grants/changing.rs"]
mod changing;
#[path = "hostile_grants/own.rs"]
mod own;
#[path = "hostile_grants/reloading.rs"]
mod reloading;
#[path = "hostile_grants/scene.rs"]
mod scene;
mod support;
