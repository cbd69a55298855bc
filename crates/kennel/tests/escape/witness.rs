//! Witnesses outside of the box: they tell what happened to the targets, whatever the hostile program reports.

use crate::support::running::Kept;
use crate::support::sharing::Sharing;
use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Somebody who can say that a target was touched.
pub(crate) enum Witness {
    /// Files that must stay as they are.
    Files {
        root: PathBuf,
        before: BTreeMap<PathBuf, Seen>,
    },
    /// A process that must stay alive.
    Process(Kept),
    /// Sockets that nobody may connect to.
    Tcp(TcpListener),
    Unix(UnixListener),
    Udp(Echo),
    /// A process whose memory, semaphores and messages must stay as they are.
    Sharing(Sharing),
}

/// What of a file must not change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    content: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    links: u64,
    changed: (i64, i64),
}

impl Witness {
    pub(crate) fn of_files(root: &Path) -> Self {
        Self::Files { root: root.to_owned(), before: look(root) }
    }

    pub(crate) fn tcp() -> (Self, u16) {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        (Self::Tcp(listener), port)
    }

    pub(crate) fn unix(path: &Path) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self::Unix(listener)
    }

    pub(crate) fn abstract_unix(name: &str) -> Self {
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self::Unix(listener)
    }

    /// What was done to the target, if anything.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        match self {
            Self::Files { root, before } => {
                (look(root) != *before).then(|| format!("the files in {} have changed", root.display()))
            }
            Self::Process(process) => (!process.lives()).then(|| "the outside process was ended".to_owned()),
            Self::Tcp(listener) => listener.accept().is_ok().then(|| "there was a TCP connection".to_owned()),
            Self::Unix(listener) => listener.accept().is_ok().then(|| "there was a Unix connection".to_owned()),
            Self::Sharing(sharing) => sharing.complaint(),
            Self::Udp(echo) => (echo.heard() > 0).then(|| "there was a UDP packet".to_owned()),
        }
    }
}

/// Everything below a directory, links not followed.
fn look(root: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut seen = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let owner = (metadata.uid(), metadata.gid());
        // The change time tells of everything that can be done to a file but reading it.
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        seen.insert(path, Seen { content, mode: metadata.mode(), owner, links: metadata.nlink(), changed });
    }
    seen
}

/// Sends back what it gets.
pub(crate) struct Echo {
    heard: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    pub(crate) fn start() -> (Self, u16) {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let port = socket.local_addr().unwrap().port();
        let (heard, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stop) = (Arc::clone(&heard), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            let mut packet = [0; 64];
            while !stop.load(Ordering::Relaxed) {
                if let Ok((length, sender)) = socket.recv_from(&mut packet) {
                    count.fetch_add(1, Ordering::Relaxed);
                    // Whoever sent it may be gone.
                    let _ = socket.send_to(&packet[..length], sender);
                }
            }
        });
        (Self { heard, over, thread: Some(thread) }, port)
    }

    fn heard(&self) -> usize {
        self.heard.load(Ordering::Relaxed)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
