//! Filters against clients and servers that mean to walk round them: by spelling, by notifications, by sessions that were
//! open before. The server reads as leniently as any reader there is.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "hostile/filters/reloading.rs"]
mod reloading;
#[path = "hostile/filters/scene.rs"]
mod scene;
#[path = "serve/scene.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod serve;
#[path = "hostile/filters/spellings.rs"]
mod spellings;
mod support;
