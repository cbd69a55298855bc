//! Owns how a running gateway is operated from this machine: a socket that only its user can open, with one JSON object per
//! line.
//!
//! A connection carries one [`Request`], and then [`Reply`] after [`Reply`] until one of them is the last. Whoever follows
//! something ends that by closing the connection.

mod asking;
#[cfg(test)]
mod fuzzing;
mod listener;
mod message;
mod place;

pub(crate) use asking::{Gateway, running_url};
pub(crate) use listener::Listener;
pub(crate) use message::{Reply, Request};
pub(crate) use place::SocketPlace;

/// The longest line, either way.
const LONGEST_LINE: u64 = 64 << 20;
