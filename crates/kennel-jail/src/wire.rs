//! Messages between Kennel, the helper and a box's init: one datagram each, with descriptors beside it.

use crate::error::StageError;
use crate::report::ExitReport;
use crate::spec::Walls;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;

/// The most descriptors that travel with one message.
const MAX_DESCRIPTORS: usize = 8;

/// The largest datagram; what can be longer travels in a memory file.
const MAX_MESSAGE: usize = 8 * 1024;

/// The largest spec: a program's arguments and environment can have 2 MiB on Linux.
const MAX_SPEC: u64 = 8 * 1024 * 1024;

/// Kennel to the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HelperRequest {
    /// Make a box; beside it the spec, the init's end of the control socket, and the tombstone.
    CreateBox,
    /// Remove what earlier helpers left; beside it a socket for the answer.
    EndLeftovers,
}

/// Kennel to the init of a box.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Start a process; beside it its spec, a descriptor for each standard stream that is passed, and its channel.
    Start { process: u32, stdio: [Stdio; 3], channel: bool },
    /// Send a signal to one process, or to all in the box.
    Signal { process: Option<u32>, signal: i32 },
}

/// Where a standard stream of a process leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stdio {
    /// To a descriptor that travels with the message.
    Passed,
    /// To a new terminal, shared by all streams that say so.
    Terminal,
}

/// The init of a box, or the helper in its place, to Kennel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The box stands.
    Ready(Walls),
    /// The box could not be made.
    Refused(StageError),
    /// A process runs; beside it the terminal's other side, if it has one.
    Started { process: u32 },
    /// A process could not be started.
    NotStarted { process: u32, error: StageError },
    /// A process ended.
    Exited { process: u32, report: ExitReport },
}

/// The helper's last word on a box, when nothing of it is left.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    /// The init was killed because the box was out of memory.
    pub(crate) out_of_memory: bool,
}

/// A pair of connected sockets that keep message boundaries.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Sends one message with its descriptors.
pub(crate) fn send<T: Serialize>(socket: impl AsFd, message: &T, descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let body = postcard::to_stdvec(message).map_err(|_| Errno::INVAL)?;
    if body.len() > MAX_MESSAGE || descriptors.len() > MAX_DESCRIPTORS {
        return Err(Errno::MSGSIZE);
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::MSGSIZE);
    }
    rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(&socket, &[IoSlice::new(&body)], &mut ancillary, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

/// Receives one message with its descriptors; `None` when the other side has closed.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> Result<Option<(T, Vec<OwnedFd>)>, Errno> {
    let mut body = [0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut receive = || {
        rustix::io::retry_on_intr(|| {
            rustix::net::recvmsg(&socket, &mut [IoSliceMut::new(&mut body)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })
    };
    let received = match receive() {
        // The other side closed without reading all that it was sent; what it had said before is still to be had.
        Err(Errno::CONNRESET) => receive()?,
        other => other?,
    };
    let descriptors = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if received.bytes == 0 {
        return Ok(None);
    }
    let message = postcard::from_bytes(&body[..received.bytes]).map_err(|_| Errno::BADMSG)?;
    Ok(Some((message, descriptors)))
}

/// Puts a spec into a memory file, whose descriptor travels in its place.
pub(crate) fn store<T: Serialize>(value: &T) -> std::io::Result<OwnedFd> {
    let body = postcard::to_stdvec(value).map_err(std::io::Error::other)?;
    let mut file = File::from(rustix::fs::memfd_create("kennel-spec", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(&body)?;
    Ok(file.into())
}

/// Takes a spec out of a memory file.
pub(crate) fn load<T: DeserializeOwned>(file: OwnedFd) -> std::io::Result<T> {
    let mut file = File::from(file);
    file.rewind()?;
    let mut body = Vec::new();
    file.take(MAX_SPEC).read_to_end(&mut body)?;
    postcard::from_bytes(&body).map_err(std::io::Error::other)
}
