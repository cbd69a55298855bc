//! Messages from the box.

use super::ChannelError;
use super::assembly::{Assembly, Dropped, Received};
use super::known::Known;
use super::packet::MAX_PACKET;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;

/// Receives messages.
#[derive(Debug)]
pub struct Receiver {
    socket: Arc<AsyncFd<OwnedFd>>,
    assembly: Assembly,
    buffer: Box<[u8]>,
}

/// What one look at the socket has brought.
enum Arrived {
    Packet {
        length: usize,
        process: i32,
    },
    /// A packet that is none: too long, or from nobody.
    Noise,
    End,
}

impl Receiver {
    pub(super) fn new(socket: Arc<AsyncFd<OwnedFd>>, known: Known, limit: usize) -> Self {
        Self { socket, assembly: Assembly::new(known, limit), buffer: vec![0; MAX_PACKET].into() }
    }

    /// The next message. Safe to cancel: what has come of a message is kept.
    pub async fn next(&mut self) -> Result<Received, ChannelError> {
        loop {
            let mut ready = self.socket.readable().await?;
            let buffer = &mut self.buffer;
            let Ok(arrived) = ready.try_io(|socket| Ok(receive(socket.get_ref(), buffer)?)) else { continue };
            match arrived? {
                Arrived::Packet { length, process } => {
                    let packet = self.buffer.get(..length).unwrap_or_default();
                    if let Some(message) = self.assembly.take(packet, process) {
                        return Ok(message);
                    }
                }
                Arrived::Noise => self.assembly.dropped.malformed += 1,
                Arrived::End => return Err(ChannelError::Closed),
            }
        }
    }

    /// What was dropped until now.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        self.assembly.dropped
    }
}

/// Receives one packet and who has sent it. Descriptors that come along have no room and are closed by the kernel.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Result<Arrived, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let mut attempt = || {
        let mut parts = [IoSliceMut::new(buffer)];
        rustix::io::retry_on_intr(|| rustix::net::recvmsg(socket, &mut parts, &mut ancillary, flags))
    };
    let message = match attempt() {
        // The other side closed without reading all that it was sent; what it had said before is still to be had.
        Err(Errno::CONNRESET) => attempt()?,
        other => other?,
    };
    let process = ancillary.drain().find_map(|part| match part {
        RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid.as_raw_nonzero().get()),
        _ => None,
    });
    Ok(match process {
        _ if message.flags.contains(ReturnFlags::TRUNC) => Arrived::Noise,
        Some(process) => Arrived::Packet { length: message.bytes, process },
        // An empty packet has a sender, the end has none.
        None if message.bytes == 0 => Arrived::End,
        None => Arrived::Noise,
    })
}
