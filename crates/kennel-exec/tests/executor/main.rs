//! The executor's behaviour, by theme, over a fake engine whose children the tests play themselves.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod attending;
mod back_pressure;
mod events;
mod feeding;
mod replay_property;
mod sessions;
mod starting;
mod stopping;
mod support;
mod writes;
