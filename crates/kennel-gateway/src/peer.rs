//! Which user of this machine is at the other end of a loopback connection.
//!
//! TCP carries no credentials, but the kernel knows the owner of every socket. It is asked once per connection, by
//! `NETLINK_SOCK_DIAG` for exactly this connection, which takes a few microseconds and is answered before the call
//! returns. Where that cannot be had, the tables in `/proc/net` are read instead. What is not found counts as foreign.
//!
//! A socket that its owner has closed is reported as root's, with inode 0: such a client is gone, and whoever it was can
//! no longer be told. It is foreign too.

mod netlink;
mod table;

use crate::sync::lock;
use netlink::{Diagnosis, Netlink};
use std::fs;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A user's number.
pub(crate) type Uid = u32;

const ROOT: Uid = 0;
/// More of `/proc/net/tcp` than this is not read: a machine with so many connections has `sock_diag`.
const MOST_TABLE_BYTES: u64 = 64 << 20;

/// A connection as its client sees it: the client's own address, and the one it is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tuple {
    pub(crate) client: SocketAddr,
    pub(crate) gateway: SocketAddr,
}

/// A socket as the kernel tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) uid: Uid,
    /// 0 once nobody holds the socket.
    pub(crate) inode: u64,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Nobody has asked, because something else decides who may come in.
    Unasked,
    /// The user that Kennel runs as, or root.
    Own,
    /// Another user: a person, a service, or the user of a box.
    Other(Uid),
    /// The kernel does not say.
    Unknown,
}

/// Asks the kernel whose connections are.
#[derive(Debug)]
pub(crate) struct Peers {
    own: Uid,
    netlink: Mutex<Option<Netlink>>,
    /// Whether `sock_diag` has ever found a connection here, so that its "not found" is one.
    is_proven: AtomicBool,
}

impl Peers {
    /// Lets the user of this process in, and root.
    pub(crate) fn new() -> Self {
        let netlink = Mutex::new(Netlink::open().ok());
        Self { own: rustix::process::geteuid().as_raw(), netlink, is_proven: AtomicBool::new(false) }
    }

    /// Whose connection this is.
    pub(crate) async fn identify(&self, tuple: Tuple) -> Peer {
        match self.diagnose(tuple) {
            Diagnosis::Found(owned) => {
                self.is_proven.store(true, Ordering::Relaxed);
                self.judge(owned)
            }
            Diagnosis::NotFound if self.is_proven.load(Ordering::Relaxed) => Peer::Unknown,
            Diagnosis::NotFound | Diagnosis::Unavailable => {
                // The whole table of the machine is read: not on a thread that serves others.
                let read = tokio::task::spawn_blocking(move || look_up(tuple)).await;
                read.ok().flatten().map_or(Peer::Unknown, |owned| self.judge(owned))
            }
        }
    }

    fn diagnose(&self, tuple: Tuple) -> Diagnosis {
        let mut netlink = lock(&self.netlink);
        let diagnosis = netlink.as_mut().map_or(Diagnosis::Unavailable, |netlink| netlink.ask(tuple));
        if netlink.is_some() && diagnosis == Diagnosis::Unavailable {
            // Answers may be out of step, or the socket lost: the next connection is asked about on a new one.
            *netlink = Netlink::open().ok();
        }
        diagnosis
    }

    fn judge(&self, owned: Owned) -> Peer {
        match owned {
            Owned { inode: 0, .. } => Peer::Unknown,
            Owned { uid, .. } if uid == self.own || uid == ROOT => Peer::Own,
            Owned { uid, .. } => Peer::Other(uid),
        }
    }
}

/// Finds a connection in the tables of `/proc/net`.
fn look_up(tuple: Tuple) -> Option<Owned> {
    // A client with an IPv6 socket may be connected over IPv4.
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|path| {
        use std::io::Read;
        let mut text = String::new();
        fs::File::open(path).ok()?.take(MOST_TABLE_BYTES).read_to_string(&mut text).ok()?;
        table::find(&text, tuple)
    })
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
