//! Messages to the box.

use super::ChannelError;
use super::packet::{Packet, packets};
use super::token::Token;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;

/// Sends messages; clones send over the same channel, one whole message after the other.
#[derive(Debug, Clone)]
pub struct Sender {
    socket: Arc<AsyncFd<OwnedFd>>,
    /// The number of the next message; held while one is sent, which keeps messages apart.
    next: Arc<Mutex<u32>>,
    limit: usize,
}

impl Sender {
    pub(super) fn new(socket: Arc<AsyncFd<OwnedFd>>, limit: usize) -> Self {
        Self { socket, next: Arc::default(), limit }
    }

    /// Sends one message, and waits where the box does not read.
    ///
    /// Dropping the future abandons the message: the box drops what it has of it when the next one begins.
    pub async fn send(&self, token: Token, message: &[u8]) -> Result<(), ChannelError> {
        if message.len() > self.limit {
            return Err(ChannelError::TooLarge { length: message.len(), limit: self.limit });
        }
        let mut next = self.next.lock().await;
        let number = *next;
        *next = number.wrapping_add(1);
        for packet in packets(token, number, message) {
            self.send_packet(&packet).await?;
        }
        Ok(())
    }

    async fn send_packet(&self, packet: &Packet<'_>) -> Result<(), ChannelError> {
        let header = packet.header();
        loop {
            let mut ready = self.socket.writable().await?;
            let sent = ready.try_io(|socket| {
                let parts = [IoSlice::new(&header), IoSlice::new(packet.payload)];
                let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
                let mut nothing = SendAncillaryBuffer::default();
                let sent =
                    rustix::io::retry_on_intr(|| rustix::net::sendmsg(socket.get_ref(), &parts, &mut nothing, flags));
                Ok(sent?)
            });
            match sent {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) if is_gone(&error) => return Err(ChannelError::Closed),
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => {}
            }
        }
    }
}

/// Whether an error says that nobody is at the other end.
fn is_gone(error: &std::io::Error) -> bool {
    [Errno::PIPE, Errno::CONNRESET, Errno::NOTCONN].iter().any(|gone| error.raw_os_error() == Some(gone.raw_os_error()))
}
