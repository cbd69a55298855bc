//! `kennel serve` as people and programs meet it: many servers of one file, operated while they run.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "serve/changing.rs"]
mod changing;
#[path = "serve/doors.rs"]
mod doors;
#[path = "serve/ending.rs"]
mod ending;
#[path = "serve/joined.rs"]
mod joined;
#[path = "serve/operating.rs"]
mod operating;
#[path = "serve/scene.rs"]
mod scene;
mod support;
#[path = "serve/turns.rs"]
mod turns;
