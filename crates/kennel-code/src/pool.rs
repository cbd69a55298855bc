//! Interpreters that are ready before anyone asks for one.
//!
//! The pool owns how many there are and when the next one is started; what becomes of one that is handed out is the
//! affair of whoever has it.

use crate::engine::{CodeEngine, EngineFuture, Interpreter, StartError};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// How a pool is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// Interpreters kept ready.
    pub ready: usize,
    /// The most callers that wait for one.
    pub waiting: usize,
    /// The pause after a start that failed; for whoever waits it stays this one.
    pub first_pause: Duration,
    /// The longest pause, to which it doubles with each further failure.
    pub longest_pause: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self { ready: 2, waiting: 64, first_pause: Duration::from_millis(250), longest_pause: Duration::from_secs(30) }
    }
}

/// Keeps interpreters ready. Dropping it ends those that nobody has taken.
pub struct Pool {
    shared: Arc<Shared>,
    filler: AbortHandle,
}

struct Shared {
    engine: Arc<dyn CodeEngine>,
    settings: PoolSettings,
    state: Mutex<State>,
    /// Rung when one is taken or waited for.
    wanted: Notify,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Interpreter>,
    waiting: VecDeque<oneshot::Sender<Result<Interpreter, StartError>>>,
}

impl Pool {
    /// Begins to fill a pool. To be called in an event loop.
    #[must_use]
    pub fn new(engine: Arc<dyn CodeEngine>, settings: PoolSettings) -> Self {
        let shared = Arc::new(Shared { engine, settings, state: Mutex::default(), wanted: Notify::new() });
        let filler = tokio::spawn(fill(Arc::clone(&shared))).abort_handle();
        Self { shared, filler }
    }

    /// How many interpreters are ready, as far as it is known.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.shared.state().ready.len()
    }

    async fn take(&self) -> Result<Interpreter, StartError> {
        loop {
            let Some(mut interpreter) = self.shared.state().ready.pop_front() else { break };
            self.shared.wanted.notify_one();
            if is_alive(&mut interpreter).await {
                return Ok(interpreter);
            }
        }
        let waiting = {
            let mut state = self.shared.state();
            state.waiting.retain(|waiting| !waiting.is_closed());
            if state.waiting.len() >= self.shared.settings.waiting {
                return Err(StartError::Busy { waiting: state.waiting.len() });
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(sender);
            receiver
        };
        self.shared.wanted.notify_one();
        waiting.await.unwrap_or(Err(StartError::Closed))
    }
}

impl CodeEngine for Pool {
    fn start(&self) -> EngineFuture<'_, Result<Interpreter, StartError>> {
        Box::pin(self.take())
    }

    fn describe(&self) -> String {
        self.shared.engine.describe()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.filler.abort();
        // The filler may hold the state until it is gone; what is ready need not wait for that.
        *self.shared.state() = State::default();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A holder that panicked has left whole queues: each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn someone_waits(&self) -> bool {
        self.state().waiting.iter().any(|waiting| !waiting.is_closed())
    }

    fn is_short(&self) -> bool {
        let ready = self.state().ready.len();
        ready < self.settings.ready || self.someone_waits()
    }

    /// Gives an interpreter to the first who waits, or keeps it.
    fn hand_out(&self, interpreter: Interpreter) {
        let mut outcome = Ok(interpreter);
        let mut state = self.state();
        while let Some(waiting) = state.waiting.pop_front() {
            match waiting.send(outcome) {
                Ok(()) => return,
                // Nobody waits there any more.
                Err(returned) => outcome = returned,
            }
        }
        if let Ok(interpreter) = outcome {
            state.ready.push_back(interpreter);
        }
    }

    /// Tells all who wait why there is none.
    fn refuse(&self, error: &StartError) {
        for waiting in self.state().waiting.drain(..) {
            // Whoever is gone need not know.
            let _ = waiting.send(Err(error.clone()));
        }
    }

    /// Waits after a failure: for the whole pause, or for the first one where somebody waits.
    async fn pause(&self, pause: Duration) {
        let failed = Instant::now();
        let mut until = failed + pause;
        while Instant::now() < until {
            if self.someone_waits() {
                until = until.min(failed + self.settings.first_pause);
            }
            tokio::select! {
                () = tokio::time::sleep_until(until) => {}
                () = self.wanted.notified() => {}
            }
        }
    }
}

/// Starts one interpreter after the other while there are too few.
async fn fill(shared: Arc<Shared>) {
    let mut pause = shared.settings.first_pause;
    loop {
        while !shared.is_short() {
            shared.wanted.notified().await;
        }
        match shared.engine.start().await {
            Ok(interpreter) => {
                pause = shared.settings.first_pause;
                shared.hand_out(interpreter);
            }
            Err(error) => {
                shared.refuse(&error);
                shared.pause(pause).await;
                pause = pause.saturating_mul(2).min(shared.settings.longest_pause);
            }
        }
    }
}

/// Whether an interpreter has not ended.
async fn is_alive(interpreter: &mut Interpreter) -> bool {
    let mut end = interpreter.process.wait();
    poll_fn(|context| Poll::Ready(end.as_mut().poll(context).is_pending())).await
}
