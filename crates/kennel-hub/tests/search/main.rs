//! Searches over real tools: what is found for questions as people ask them, and that nothing foreign breaks it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod quality;
mod support;
