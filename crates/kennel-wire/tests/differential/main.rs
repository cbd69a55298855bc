//! What Kennel passes on, real readers take for what Kennel took it for: the same method, the same tool, resource or task,
//! and the id that it was given. Whatever they would take for something else is refused.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod agreeing;
mod messages;
mod readers;
