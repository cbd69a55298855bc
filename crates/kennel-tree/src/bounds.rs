//! How much of a tree is looked at before that is an error.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The most that one look at a tree may take. Removal is bounded by time alone: whatever was made can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Directories inside one another. Also the most descriptors that a walk holds.
    pub depth: u32,
    /// Files, directories and links.
    pub entries: u64,
    /// Bytes of all files together, by their sizes: holes count.
    pub bytes: u64,
    /// Bytes of all paths together.
    pub names: u64,
    /// Time for all requests of a session.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { depth: 128, entries: 250_000, bytes: 8 << 30, names: 64 << 20, time: Duration::from_mins(1) }
    }
}

/// A bound that a tree exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// [`Bounds::depth`].
    Depth,
    /// [`Bounds::entries`].
    Entries,
    /// [`Bounds::bytes`].
    Bytes,
    /// [`Bounds::names`].
    Names,
    /// [`Bounds::time`].
    Time,
}

impl Bound {
    /// Says how much more than a limit there is.
    pub(crate) fn excess(self, limit: u64) -> String {
        match self {
            Self::Depth => format!("its directories are nested more than {limit} deep"),
            Self::Entries => format!("it has more than {limit} files"),
            Self::Bytes => format!("it has more than {limit} bytes"),
            Self::Names => format!("the names of its files have more than {limit} bytes"),
            Self::Time => format!("it took longer than {limit} ms"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Depth => "depth",
            Self::Entries => "number of files",
            Self::Bytes => "size",
            Self::Names => "length of names",
            Self::Time => "time",
        })
    }
}
