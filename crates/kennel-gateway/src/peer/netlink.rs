//! One question to `NETLINK_SOCK_DIAG`, and its answer, byte by byte (`linux/inet_diag.h`, `linux/netlink.h`).

use crate::peer::{Owned, Tuple};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::net::{IpAddr, SocketAddr};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const TCP_LISTEN: u8 = 10;
const ENOENT: i32 = 2;

/// `nlmsghdr` and `inet_diag_req_v2`.
const REQUEST: usize = HEADER + 8 + SOCKET;
/// The same, as it stands in the header.
const REQUEST_LENGTH: u32 = 72;
const HEADER: usize = 16;
/// `inet_diag_sockid`: both ports, both addresses, the interface, a cookie.
const SOCKET: usize = 48;
/// Of `inet_diag_sockid`, what tells a connection: ports and addresses.
const IDENTITY: usize = 36;
/// `inet_diag_msg`.
const ANSWER: usize = 4 + SOCKET + 20;
/// Answers to earlier questions that are passed over.
const STALE: usize = 8;

const _: () = assert!(REQUEST == 72);

/// What the kernel says of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    Found(Owned),
    NotFound,
    /// It cannot be asked, or its answer is not understood.
    Unavailable,
}

/// A socket for questions.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    pub(crate) fn open() -> Result<Self, Errno> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::SOCK_DIAG);
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Asks about one connection. The kernel answers while it takes the question, so nothing is waited for.
    pub(crate) fn ask(&mut self, tuple: Tuple) -> Diagnosis {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(tuple, self.sequence);
        let kernel = SocketAddrNetlink::new(0, 0);
        if rustix::net::sendto(&self.socket, &request, SendFlags::DONTWAIT, &kernel).is_err() {
            return Diagnosis::Unavailable;
        }
        let mut buffer = [0; 1024];
        for _ in 0..STALE {
            let received = rustix::net::recvfrom(&self.socket, &mut buffer, RecvFlags::DONTWAIT);
            let Ok((length, _, sender)) = received else { return Diagnosis::Unavailable };
            let sender = sender.and_then(|sender| SocketAddrNetlink::try_from(sender).ok());
            if sender.is_none_or(|sender| sender.pid() != 0) {
                continue;
            }
            if let Some(diagnosis) = read(buffer.get(..length).unwrap_or_default(), self.sequence, tuple) {
                return diagnosis;
            }
        }
        Diagnosis::Unavailable
    }
}

/// The question about the client's socket of a connection.
fn request(tuple: Tuple, sequence: u32) -> [u8; REQUEST] {
    let mut bytes = Vec::with_capacity(REQUEST);
    bytes.extend(REQUEST_LENGTH.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]); // The kernel knows whom to answer.
    let family = if tuple.client.is_ipv4() { AF_INET } else { AF_INET6 };
    bytes.extend([family, IPPROTO_TCP, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes()); // Whichever state.
    bytes.extend(identity(tuple));
    bytes.extend([0; 4]); // Whichever interface.
    bytes.extend([0xff; 8]); // No cookie.
    let mut request = [0; REQUEST];
    request.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    request
}

/// What tells a connection in questions and answers: the client's socket is the near one.
fn identity(tuple: Tuple) -> [u8; IDENTITY] {
    let ports = [tuple.client, tuple.gateway].into_iter().flat_map(|address| address.port().to_be_bytes());
    let addresses = [tuple.client, tuple.gateway].into_iter().flat_map(words);
    let mut identity = [0; IDENTITY];
    identity.iter_mut().zip(ports.chain(addresses)).for_each(|(place, byte)| *place = byte);
    identity
}

/// An address in the sixteen bytes that each kind has.
fn words(address: SocketAddr) -> [u8; 16] {
    match address.ip() {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// Reads an answer; `None` if it is one to another question.
pub(crate) fn read(bytes: &[u8], sequence: u32, tuple: Tuple) -> Option<Diagnosis> {
    let header = bytes.get(..HEADER).unwrap_or_default();
    let (Some(length), Some(kind), Some(answered)) = (word(header, 0), half(header, 4), word(header, 8)) else {
        return Some(Diagnosis::Unavailable);
    };
    if answered != sequence {
        return None;
    }
    let body = usize::try_from(length).ok().and_then(|length| bytes.get(HEADER..length));
    let Some(body) = body else { return Some(Diagnosis::Unavailable) };
    Some(match kind {
        SOCK_DIAG_BY_FAMILY => read_socket(body, tuple),
        NLMSG_ERROR if word(body, 0).map(u32::cast_signed) == Some(-ENOENT) => Diagnosis::NotFound,
        _ => Diagnosis::Unavailable,
    })
}

fn read_socket(body: &[u8], tuple: Tuple) -> Diagnosis {
    let Some(body) = body.get(..ANSWER) else { return Diagnosis::Unavailable };
    let told = body.get(4..4 + IDENTITY).unwrap_or_default();
    let is_listener = body.get(1) == Some(&TCP_LISTEN);
    // Where there is no such connection, the kernel tells of a socket that listens at the client's port.
    if is_listener || !is_same(told, tuple) {
        return Diagnosis::NotFound;
    }
    match (word(body, 4 + SOCKET + 12), word(body, 4 + SOCKET + 16)) {
        (Some(uid), Some(inode)) => Diagnosis::Found(Owned { uid, inode: inode.into() }),
        _ => Diagnosis::Unavailable,
    }
}

/// Whether an answer is about this connection. A client's IPv6 socket that is connected over IPv4 is told of with mapped
/// addresses.
fn is_same(told: &[u8], tuple: Tuple) -> bool {
    let mapped = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
        IpAddr::V6(_) => address,
    };
    let as_mapped = Tuple { client: mapped(tuple.client), gateway: mapped(tuple.gateway) };
    told == identity(tuple) || told == identity(as_mapped)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_ne_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_ne_bytes)
}
