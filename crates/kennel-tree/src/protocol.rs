//! Messages between Kennel and the helper: length and content, bounded both ways.

use crate::bounds::{Bound, Bounds};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The largest request: it may carry a file to be written.
pub(crate) const LARGEST_REQUEST: usize = 80 << 20;
/// The largest reply: it may carry a file that was read.
pub(crate) const LARGEST_REPLY: usize = 80 << 20;
/// The most names, changes or files of one reply.
pub(crate) const MOST_LISTED: usize = 10_000;
/// The longest path that is passed on.
pub(crate) const LONGEST_PATH: usize = 4096;

/// What a session is about; its first message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// The root, absolute.
    pub(crate) root: Vec<u8>,
    /// Another absolute path that links in the tree call the root by.
    pub(crate) alias: Option<Vec<u8>>,
    pub(crate) bounds: Bounds,
}

/// Paths are relative to the root.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Where a path leads.
    Resolve { path: Vec<u8> },
    /// The content of a regular file.
    Read { path: Vec<u8>, largest: u64 },
    /// The first bytes of a regular file, however large it is.
    ReadStart { path: Vec<u8>, count: u64 },
    /// The names in a directory that end so.
    Names { path: Vec<u8>, ending: Vec<u8> },
    /// Puts a regular file with this content in the place of another.
    Replace { path: Vec<u8>, content: Vec<u8> },
    /// Writes a list of all files of `tree` with their digests to `list`.
    Record { tree: Vec<u8>, list: Vec<u8> },
    /// Compares `tree` with such a list.
    Compare { tree: Vec<u8>, list: Vec<u8> },
    /// What lies beneath a directory.
    Measure { path: Vec<u8> },
    /// The files beneath a directory with a set-user-id or set-group-id bit.
    FindSetId { path: Vec<u8> },
    /// Removes a file, or a directory with all that is in it.
    Remove { path: Vec<u8> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Done,
    Place(WirePlace),
    Content(Option<Vec<u8>>),
    Names(Option<Vec<Vec<u8>>>),
    Recorded(Recorded),
    Compared(Comparison),
    Measured(Usage),
    SetId { files: Vec<Vec<u8>>, complete: bool },
    Failed(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WirePlace {
    Absent,
    Inside { path: Vec<u8>, kind: Kind, executable: bool },
    Outside { target: Vec<u8> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Failure {
    Exceeded { bound: Bound, limit: u64, at: Vec<u8> },
    Refused { path: Vec<u8>, problem: String },
    System { what: String, path: Vec<u8>, errno: i32 },
    Stuck { count: u64, path: Vec<u8>, errno: i32 },
}

impl Failure {
    pub(crate) fn refused(path: &[u8], problem: &str) -> Self {
        Self::Refused { path: path.to_vec(), problem: problem.to_owned() }
    }

    pub(crate) fn system(what: &'static str, path: &[u8]) -> impl FnOnce(rustix::io::Errno) -> Self + use<> {
        let path = path.to_vec();
        move |errno| Self::System { what: what.to_owned(), path, errno: errno.raw_os_error() }
    }
}

/// What something in a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A pipe, a socket or a device.
    Special,
}

/// Where a path leads when its links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: there is no such thing.
    Absent,
    /// To something in the tree.
    Inside {
        /// Its path, relative to the root and free of links.
        path: PathBuf,
        /// What it is.
        kind: Kind,
        /// Whether it may be executed.
        executable: bool,
    },
    /// Out of the tree, by a link.
    Outside {
        /// What the link says, with what the path has after it.
        target: PathBuf,
    },
}

/// A tree as it was listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The digest of the list, as `sha256:` and 64 digits.
    pub digest: String,
    /// How much was listed.
    pub usage: Usage,
}

/// How much there is in a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Files, directories and links.
    pub entries: u64,
    /// Bytes: of content where it was read, of disk space where it was only measured.
    pub bytes: u64,
}

/// How a tree differs from its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The digest of the list as it is now.
    pub digest: String,
    /// What differs, the first ten thousand.
    pub changes: Vec<Change>,
}

/// How a file differs from what was listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It is another.
    Changed(String),
    /// It is gone.
    Missing(String),
    /// It was not there.
    Added(String),
}

/// Files that would run as their owner or group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetIdFiles {
    /// Their paths, relative to the root.
    pub files: Vec<PathBuf>,
    /// Whether these are all; false where there are more than ten thousand.
    pub complete: bool,
}
