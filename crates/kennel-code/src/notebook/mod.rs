//! Notebooks: which cell runs when, for how long, and what becomes of the interpreter.
//!
//! A notebook has a task of its own that takes an interpreter for its first cell, runs one cell after the other in it,
//! stops what takes too long and takes a new interpreter where the old one has ended. What a cell asks its host for is
//! the affair of a [`Host`].

mod actor;
mod asks;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod handle;
mod host;
mod live;
mod loss;
mod message;
mod outcome;
mod patience;
mod queue;
mod registry;
mod running;

pub use handle::{CellHandle, Progress, Stage};
pub use host::{
    Ask, AskError, AskErrorKind, CallTool, CellContext, DescribeTools, Host, HostFuture, RemoveTool, SaveTool,
    SearchTools,
};
pub use patience::{Asking, Patience};
pub use registry::{Registry, RegistryParts};

use crate::cell::CellRequest;
use crate::engine::CodeEngine;
use crate::output::grouped;
use crate::owner::Holder;
use crate::results::Results;
use crate::settings::{NotebookLimits, Settings};
use actor::Actor;
use queue::Queue;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// What notebooks are made of, shared by all.
#[derive(Clone)]
struct Parts {
    engine: Arc<dyn CodeEngine>,
    results: Arc<Results>,
    settings: Arc<Settings>,
    /// The tasks of all notebooks.
    tasks: TaskTracker,
}

/// One notebook. Dropping it ends what runs in it, and its interpreter.
struct Notebook {
    queue: Arc<Queue>,
    closing: DropGuard,
    task: JoinHandle<()>,
}

/// Why a cell was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Too many cells wait already.
    #[error("{limit} cells wait in the notebook {session} already; wait for one, cancel one, or use another session")]
    QueueFull {
        /// The name of the notebook.
        session: String,
        /// How many may wait.
        limit: usize,
    },
    /// The code is too long.
    #[error("the code has {} bytes, and at most {} are run", grouped(*length as u64), grouped(*limit as u64))]
    CodeTooLarge {
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The name of the notebook is too long.
    #[error("the name of a session may have {limit} bytes, and this one has {length}")]
    NameTooLong {
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// It asks for more time than there is.
    #[error("a timeout of {} s is too long; the longest is {} s", .asked.as_secs_f64(), .limit.as_secs_f64())]
    TimeoutTooLong {
        /// What was asked for.
        asked: Duration,
        /// The longest.
        limit: Duration,
    },
    /// All notebooks of the owner are at work.
    #[error("all {limit} notebooks that one owner may have are at work; wait for a cell, or use one of them")]
    OwnerFull {
        /// How many an owner may have.
        limit: usize,
    },
    /// All notebooks are at work.
    #[error("all {limit} notebooks are at work; try again when one is idle")]
    Full {
        /// How many there may be.
        limit: usize,
    },
    /// The system has no randomness to name a cell with.
    #[error("the cell cannot be run: the system gives no random numbers")]
    NoRandomness,
    /// Kennel is ending.
    #[error("code mode is shutting down")]
    Closed,
}

impl Notebook {
    /// A notebook without an interpreter yet, and why there is nothing left of one before it. Must be called within a
    /// tokio runtime.
    fn new(parts: &Parts, session: &Arc<str>, lost: Option<String>) -> Self {
        let queue = Arc::new(Queue::new(Arc::clone(session), parts.settings.clone()));
        let closing = CancellationToken::new();
        let actor = Actor::new(parts.clone(), Arc::clone(&queue), closing.clone(), lost);
        let task = parts.tasks.spawn(actor.run());
        Self { queue, closing: closing.drop_guard(), task }
    }

    /// Runs a cell as soon as those before it are over.
    fn run(&self, holder: &Holder, request: CellRequest) -> Result<CellHandle, RunError> {
        self.queue.push(holder, request)
    }

    /// A cell of a holder by its id, if it is one of the last.
    fn cell(&self, holder: &Holder, id: &str) -> Option<CellHandle> {
        self.queue.recent(holder, id)
    }

    /// Since when no cell runs or waits; nothing where one does.
    fn idle_since(&self) -> Option<Instant> {
        self.queue.idle_since()
    }

    /// Whether more than one cell was run in it.
    fn is_resumed(&self) -> bool {
        self.queue.is_resumed()
    }

    /// Whether it has an interpreter now.
    fn is_live(&self) -> bool {
        self.queue.is_live()
    }

    /// Ends what runs in it, and waits until its interpreter is gone.
    async fn end(self) {
        drop(self.closing);
        // A task that has panicked has dropped its interpreter as well.
        let _ = self.task.await;
    }
}

/// Refuses what can never be run.
fn check(request: &CellRequest, limits: &NotebookLimits) -> Result<(), RunError> {
    let length = request.code.len();
    if length > limits.code_bytes {
        return Err(RunError::CodeTooLarge { length, limit: limits.code_bytes });
    }
    match request.timeout {
        Some(asked) if asked > limits.most_timeout => {
            Err(RunError::TimeoutTooLong { asked, limit: limits.most_timeout })
        }
        Some(_) | None => Ok(()),
    }
}
