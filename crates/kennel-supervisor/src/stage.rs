//! The staged start: how many instances may be starting at once, of one server and of all.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// How many instances start at once for each core of the machine, unless told.
const PER_CORE: usize = 4;
/// How long a start counts. A server that hangs does not use the machine, and must not keep others from starting.
const LONGEST: Duration = Duration::from_secs(15);

/// The turns for starting, shared by the instances of one server or of several. Cheap to clone.
///
/// A turn is held from before the launch until the process is ready or the attempt has failed, but for no longer than 15
/// seconds.
#[derive(Debug, Clone)]
pub struct Stage {
    all: Arc<Semaphore>,
    at_once: usize,
    /// How many of the turns this server may have, where others have theirs.
    share: Option<Arc<Semaphore>>,
}

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn(AbortHandle);

impl Stage {
    /// A stage on which `at_once` instances may be starting, at least one.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        let at_once = at_once.clamp(1, Semaphore::MAX_PERMITS);
        Self { all: Arc::new(Semaphore::new(at_once)), at_once, share: None }
    }

    /// The same turns for one of several servers: it never has more than half of them, so that one that starts much, or
    /// slowly, leaves room for the others.
    #[must_use]
    pub fn share(&self) -> Self {
        let share = Arc::new(Semaphore::new(self.at_once.div_ceil(2)));
        Self { all: Arc::clone(&self.all), at_once: self.at_once, share: Some(share) }
    }

    /// Waits for a turn, in the order of asking. Must be called within a tokio runtime.
    pub(crate) async fn turn(self) -> Option<Turn> {
        // Neither semaphore is ever closed.
        let share: Option<OwnedSemaphorePermit> = match self.share {
            Some(share) => Some(share.acquire_owned().await.ok()?),
            None => None,
        };
        let permits = (share, self.all.acquire_owned().await.ok()?);
        // It owns the permits, and is ended by the turn.
        let holding = tokio::spawn(async move {
            sleep(LONGEST).await;
            drop(permits);
        });
        Some(Turn(holding.abort_handle()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// As many as this machine's cores can bear.
impl Default for Stage {
    fn default() -> Self {
        Self::new(PER_CORE * available_parallelism().map_or(1, usize::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_millis(100);

    async fn is_free(stage: &Stage) -> bool {
        timeout(SOON, stage.clone().turn()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn servers_that_share_a_stage_start_so_many_together() {
        let all = Stage::new(4);
        let (one, other, third) = (all.share(), all.share(), all.share());
        let mut turns = Vec::new();
        for stage in [&one, &one, &other, &other] {
            turns.push(stage.clone().turn().await.unwrap());
        }
        assert!(!is_free(&third).await, "four start");
        turns.truncate(3);
        assert!(is_free(&third).await, "one has started");
    }

    #[tokio::test(start_paused = true)]
    async fn one_server_leaves_turns_to_the_others() {
        let all = Stage::new(4);
        let (greedy, other) = (all.share(), all.share());
        let _turns = (greedy.clone().turn().await.unwrap(), greedy.clone().turn().await.unwrap());
        assert!(!is_free(&greedy).await, "half of them is its share");
        assert!(is_free(&other).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_that_hangs_counts_no_longer_than_a_while() {
        let stage = Stage::new(1);
        let _turn = stage.clone().turn().await.unwrap();
        assert!(!is_free(&stage).await);
        sleep(LONGEST).await;
        assert!(is_free(&stage).await);
    }
}
