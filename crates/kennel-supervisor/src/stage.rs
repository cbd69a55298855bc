//! The staged start: how many instances may be starting at once.

use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many instances start at once for each core of the machine, unless told.
const PER_CORE: usize = 4;

/// The turns for starting, shared by all instances. Cheap to clone.
///
/// A turn is held from before the launch until the process is ready or the attempt has failed.
#[derive(Debug, Clone)]
pub struct Stage(Arc<Semaphore>);

impl Stage {
    /// A stage on which `at_once` instances may be starting, at least one.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Waits for a turn, in the order of asking.
    pub(crate) async fn turn(self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.0.acquire_owned().await.ok()
    }
}

/// As many as this machine's cores can bear.
impl Default for Stage {
    fn default() -> Self {
        Self::new(PER_CORE * available_parallelism().map_or(1, usize::from))
    }
}
