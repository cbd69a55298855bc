//! The channel between Kennel and an interpreter: messages in packets, each with the token of what it belongs to.
//!
//! What comes from the box is written by whatever runs there. A packet counts only if it carries a token that Kennel
//! expects and comes from the process that has spoken first; all else is dropped and counted.

mod assembly;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod known;
mod packet;
mod receiver;
mod sender;
mod token;

pub use assembly::{Dropped, Received};
pub use known::Known;
pub use packet::{HEADER_BYTES, MAX_PAYLOAD};
pub use receiver::Receiver;
pub use sender::Sender;
pub use token::Token;

use rustix::net::sockopt::set_socket_passcred;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;

/// What a channel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelLimits {
    /// The largest message from the box, in bytes.
    pub received: usize,
    /// The largest message to the box, in bytes.
    pub sent: usize,
}

impl Default for ChannelLimits {
    fn default() -> Self {
        Self { received: 16 << 20, sent: 64 << 20 }
    }
}

/// Why nothing goes over a channel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The other end is closed.
    #[error("the interpreter has closed its channel")]
    Closed,
    /// A message is larger than the limit.
    #[error("a message of {length} bytes is too large for the interpreter, which takes {limit}")]
    TooLarge {
        /// The length of the message.
        length: usize,
        /// The most that is sent.
        limit: usize,
    },
    /// The socket failed.
    #[error("the channel of the interpreter failed: {0}")]
    Io(#[from] std::io::Error),
}

/// Kennel's end of a channel.
#[derive(Debug)]
pub struct Channel {
    /// Sends messages; can be shared.
    pub sender: Sender,
    /// Receives messages.
    pub receiver: Receiver,
    /// The tokens whose packets are taken.
    pub known: Known,
}

impl Channel {
    /// Takes over one end of a pair of sockets that keep message boundaries. To be called in an event loop, and
    /// before the other end is used: the kernel says who has sent a packet only from now on.
    #[expect(
        deprecated,
        reason = "the successor is unsafe because a type could close its descriptor early; this one owns its own"
    )]
    pub fn new(end: OwnedFd, limits: ChannelLimits) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&end, true)?;
        set_socket_passcred(&end, true)?;
        let socket = Arc::new(AsyncFd::new(end)?);
        let known = Known::default();
        Ok(Self {
            sender: Sender::new(Arc::clone(&socket), limits.sent),
            receiver: Receiver::new(socket, known.clone(), limits.received),
            known,
        })
    }
}
