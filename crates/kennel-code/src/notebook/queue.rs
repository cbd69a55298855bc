//! The cells of a notebook that wait, and those that can still be asked for.

use super::RunError;
use super::handle::{Cell, CellHandle};
use super::outcome::Outcome;
use crate::cell::{CellError, CellRequest, Status};
use crate::owner::{Holder, unguessable};
use crate::settings::Settings;
use crate::sync::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The queue of a notebook.
pub(super) struct Queue {
    session: Arc<str>,
    settings: Arc<Settings>,
    state: Mutex<State>,
    pushed: Notify,
}

struct State {
    waiting: VecDeque<Waiting>,
    recent: VecDeque<CellHandle>,
    /// How many cells there were.
    count: u64,
    running: bool,
    live: bool,
    closed: bool,
    idle_since: Instant,
}

/// A cell and what it is to do.
pub(super) struct Waiting {
    pub(super) cell: Arc<Cell>,
    pub(super) request: CellRequest,
}

impl Queue {
    pub(super) fn new(session: Arc<str>, settings: Arc<Settings>) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            recent: VecDeque::new(),
            count: 0,
            running: false,
            live: false,
            closed: false,
            idle_since: Instant::now(),
        };
        Self { session, settings, state: Mutex::new(state), pushed: Notify::new() }
    }

    /// Adds a cell, if there is room.
    pub(super) fn push(self: &Arc<Self>, holder: &Holder, request: CellRequest) -> Result<CellHandle, RunError> {
        let limits = &self.settings.notebook;
        let mut state = lock(&self.state);
        if state.closed {
            return Err(RunError::Closed);
        }
        // One that is about to run does not wait.
        if state.waiting.len() >= limits.queue + usize::from(!state.running) {
            return Err(RunError::QueueFull { session: self.session.to_string(), limit: limits.queue });
        }
        let id = unguessable('c').map_err(|_| RunError::NoRandomness)?;
        state.count += 1;
        let label = format!("c{}", state.count);
        let cell = Cell::new(id, label, holder.clone(), Arc::clone(&self.session), &self.settings.output);
        let cell = Arc::new(cell);
        let handle = CellHandle::new(Arc::clone(&cell), Arc::downgrade(self), Arc::clone(&self.settings));
        state.recent.push_back(handle.clone());
        while state.recent.len() > limits.recent {
            let Some(oldest) = state.recent.iter().position(CellHandle::is_done) else { break };
            state.recent.remove(oldest);
        }
        state.waiting.push_back(Waiting { cell, request });
        drop(state);
        self.pushed.notify_one();
        Ok(handle)
    }

    /// Waits for the next cell; it counts as running from then on. Safe to cancel.
    pub(super) async fn next(&self) -> Waiting {
        loop {
            {
                let mut state = lock(&self.state);
                if let Some(waiting) = state.waiting.pop_front() {
                    state.running = true;
                    return waiting;
                }
            }
            self.pushed.notified().await;
        }
    }

    /// Says that the cell that ran is over. `next` can be called again.
    pub(super) fn over(&self) {
        let mut state = lock(&self.state);
        state.running = false;
        state.idle_since = Instant::now();
    }

    /// Takes a cell out that is not to be run.
    pub(super) fn withdraw(&self, cell: &Arc<Cell>) {
        let mut state = lock(&self.state);
        let Some(index) = state.waiting.iter().position(|waiting| Arc::ptr_eq(&waiting.cell, cell)) else { return };
        state.waiting.remove(index);
        state.idle_since = Instant::now();
        drop(state);
        cell.finish(Outcome::unrun(Status::Cancelled, None));
    }

    /// Takes no more cells, and ends those that wait.
    pub(super) fn close(&self) {
        let waiting = {
            let mut state = lock(&self.state);
            state.closed = true;
            std::mem::take(&mut state.waiting)
        };
        for waiting in waiting {
            let error = CellError {
                kind: "NotebookClosed".to_owned(),
                message: "the notebook was closed before the cell began".to_owned(),
                ..CellError::default()
            };
            waiting.cell.finish(Outcome::unrun(Status::Error, Some(error)));
        }
    }

    pub(super) fn recent(&self, holder: &Holder, id: &str) -> Option<CellHandle> {
        lock(&self.state).recent.iter().find(|handle| handle.is(holder, id)).cloned()
    }

    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = lock(&self.state);
        (!state.running && state.waiting.is_empty()).then_some(state.idle_since)
    }

    pub(super) fn is_resumed(&self) -> bool {
        lock(&self.state).count > 1
    }

    pub(super) fn is_live(&self) -> bool {
        lock(&self.state).live
    }

    pub(super) fn set_live(&self, live: bool) {
        lock(&self.state).live = live;
    }
}
