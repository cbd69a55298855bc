//! Servers that run elsewhere, as the supervisor sees them: against a peer that does what a test tells it, against
//! Kennel's own gateway, and against a real server.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod answers;
mod ending;
mod events;
mod gateway;
mod modern;
mod peer;
mod real;
mod sessions;
mod supervising;
mod support;
mod tls;
