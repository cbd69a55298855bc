//! Clients that mean harm, or do it: other users of the machine, boxes, floods, and connections that do nothing.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "hostile_clients/descriptors.rs"]
mod descriptors;
#[path = "hostile_clients/floods.rs"]
mod floods;
#[path = "hostile_clients/host.rs"]
mod host;
#[path = "hostile_clients/readiness.rs"]
mod readiness;
mod support;
#[path = "hostile_clients/users.rs"]
mod users;
