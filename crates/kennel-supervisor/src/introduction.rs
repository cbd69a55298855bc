//! What a process is told about its client, and in which era it is told.

use kennel_wire::{Era, RawJson};
use std::sync::Arc;

/// How Kennel introduces itself to a process, in the words of either era; sent as spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    /// The parameters of `initialize`.
    pub legacy: RawJson,
    /// The object `_meta` that goes with every request of the modern era: the protocol version, who the client is and
    /// what it can do.
    pub modern: RawJson,
    /// Whom the process serves, where it serves one user only. It is told to the launcher, not to the process.
    pub owner: Option<Arc<str>>,
    /// Whether the process serves clients without sessions or connections of their own, so that several of them, which
    /// cannot be told apart, may speak to it. It is told to the launcher, not to the process.
    pub is_stateless: bool,
}

/// In which era the processes of an instance are opened.
///
/// A process is locked to the first era that it sees, so another era takes another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EraPlan {
    /// The era that is tried first, until a process was ready in the other one.
    pub first: Era,
    /// Whether the other era is never tried.
    pub is_fixed: bool,
}
