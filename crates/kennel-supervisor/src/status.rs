//! How an instance is, for whoever asks.

use crate::failure::Failure;
use crate::phase::{Generation, Phase};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// What an instance is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It has no process and needs none until it is woken.
    Asleep,
    /// It waits for its turn to start.
    Queued,
    /// Its process is being started.
    Starting,
    /// It can be called.
    Ready,
    /// Its process, or the start of one, is being ended.
    Stopping,
    /// It waits for the next attempt.
    Waiting,
    /// The budget of restarts is gone; it needs someone to restart it.
    Parked,
    /// It cannot start as it is defined; it needs someone to change that and restart it.
    Failed,
    /// It has been shut down.
    Ended,
}

/// How an instance is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// What it is doing.
    pub state: State,
    /// Where it is; where it was last if it has no process.
    pub phase: Phase,
    /// The process that runs or starts, otherwise the last one.
    pub generation: Generation,
    /// Which attempt in a row this is to get a process ready.
    pub attempt: u32,
    /// How long it has been in this state.
    pub since: Duration,
    /// How long until the next attempt, where one is waited for.
    pub retry_in: Option<Duration>,
    /// What failed last.
    pub last_failure: Option<Arc<Failure>>,
    /// How many calls are in flight.
    pub calls_in_flight: usize,
}
