//! What can go wrong with a look at a tree. Paths of the tree are shown without letters that a terminal obeys.

use crate::bounds::Bound;
use std::path::PathBuf;

/// Why a tree could not be read, listed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The helper could not be started.
    #[error("the helper that looks at `{}` could not be started: {source}", .root.display())]
    Start {
        /// The tree.
        root: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The helper ended before it had answered.
    #[error("the helper that looks at `{}` ended without an answer ({how})", .root.display())]
    Ended {
        /// The tree.
        root: PathBuf,
        /// How it ended.
        how: String,
    },
    /// The helper did not answer in time, and was killed.
    #[error("looking at `{}` took longer than {} ms", .root.display(), .limit.as_millis())]
    Timeout {
        /// The tree.
        root: PathBuf,
        /// How long it might take.
        limit: std::time::Duration,
    },
    /// The helper answered with something else than an answer.
    #[error("the helper that looks at `{}` answered nonsense: {problem}", .root.display())]
    Garbage {
        /// The tree.
        root: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is more in the tree than may be.
    #[error("{} in `{at}`", .bound.excess(*.limit))]
    Exceeded {
        /// Which bound.
        bound: Bound,
        /// What it is.
        limit: u64,
        /// Where the tree exceeds it.
        at: String,
    },
    /// Something in the tree is not what it should be.
    #[error("`{path}` {problem}")]
    Refused {
        /// What.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The kernel refused.
    #[error("`{path}` could not be {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What it was tried on.
        path: String,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// Something could not be removed; all else is gone.
    #[error("{count} of `{}` could not be removed, `{path}` first: {source}", .root.display())]
    Stuck {
        /// The directory that was to be removed.
        root: PathBuf,
        /// How many entries are left.
        count: u64,
        /// The first of them.
        path: String,
        /// The kernel's answer for it.
        source: std::io::Error,
    },
}

impl TreeError {
    /// Whether another attempt may end better: the tree itself is not the reason.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Start { .. } | Self::Ended { .. } | Self::Timeout { .. } | Self::Garbage { .. })
    }
}
