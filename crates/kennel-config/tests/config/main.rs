//! Behaviour of the crate as its users see it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod examples;
mod properties;
mod schema;
mod support;
