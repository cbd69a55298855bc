//! Clients of every version at one endpoint, each with a question in flight; and the states by which those without
//! sessions come back.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "eras/clients.rs"]
mod clients;
#[path = "eras/crowd.rs"]
mod crowd;
#[path = "eras/states.rs"]
mod states;
mod support;
