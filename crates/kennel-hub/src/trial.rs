//! Servers of which nothing is known are tried out: one trial of a server at a time, and only so many at once.

use crate::client::Introduction;
use crate::exchange::Sharing;
use crate::fault::Fault;
use crate::hub::Hub;
use crate::settings::ProcessModel;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedMutexGuard, Semaphore};
use tokio::time::Instant;

/// How long the lists of a server that is tried out are waited for, beside that of its tools.
const SURVEY: Duration = Duration::from_secs(10);

/// How long a server that is tried out keeps others from their turn.
const TRIAL_TURN: Duration = Duration::from_secs(5);

/// How long a server that could not be tried out is left alone.
const TRIAL_PAUSE: Duration = Duration::from_secs(10);

impl Hub {
    /// Finds out what the server offers, unless it is known or somebody is at it. What is returned waits for the end of
    /// that, which comes whether or not anybody waits.
    pub(crate) fn learn(&self, trials: &Arc<Semaphore>) -> impl Future<Output = ()> + Send + use<> {
        let learning = Arc::clone(&self.core().learning);
        if let Ok(turn) = Arc::clone(&learning).try_lock_owned()
            && !self.is_known()
            && turn.is_none_or(|failed| failed.elapsed() >= TRIAL_PAUSE)
        {
            self.begin_trial(turn, trials);
        }
        async move { drop(learning.lock().await) }
    }

    fn begin_trial(&self, mut turn: OwnedMutexGuard<Option<Instant>>, trials: &Arc<Semaphore>) {
        let (hub, trials, closing) = (self.clone(), Arc::clone(trials), self.core().closing.clone());
        self.core().tasks.spawn(async move {
            let trial = async {
                let permit = trials.acquire_owned().await;
                let found_out = hub.find_out();
                tokio::pin!(found_out);
                if let Ok(outcome) = tokio::time::timeout(TRIAL_TURN, &mut found_out).await {
                    return outcome;
                }
                drop(permit);
                found_out.await
            };
            // Whoever watches the server hears why it cannot be used.
            if let Some(Err(_)) = closing.run_until_cancelled(trial).await {
                *turn = Some(Instant::now());
            }
        });
    }

    /// Finds out what the server offers: with the process that clients will share, or with one for this alone.
    async fn find_out(&self) -> Result<(), Fault> {
        let (name, sharing) = match self.core().settings.model {
            ProcessModel::Shared => ("shared", Sharing::Shared),
            ProcessModel::PerSession | ProcessModel::PerUser | ProcessModel::PerCall => ("trial", Sharing::Solitary),
        };
        let exchange = self.core().exchange(name.to_owned(), sharing, &Introduction::of_kennel())?;
        let mut changes = self.core().book.changes();
        let outcome = exchange.opened().await.map(drop);
        self.core().tried_out(outcome.as_ref().err().map(Fault::text));
        if outcome.is_ok() {
            // What it has besides tools is asked for when it is ready.
            let listed = async { while !exchange.is_surveyed() && changes.changed().await.is_ok() {} };
            let _ = tokio::time::timeout(SURVEY, listed).await;
        }
        if sharing == Sharing::Solitary {
            self.core().retire(&exchange.name);
        }
        outcome
    }
}
