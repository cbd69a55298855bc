//! The hold on a cell: waiting for it, reading what is new, calling it off.

use super::outcome::Outcome;
use super::queue::Queue;
use crate::cell::{CellResult, Status};
use crate::output::{Capture, Coming, Whole, shown};
use crate::owner::Holder;
use crate::settings::{OutputLimits, Settings};
use crate::sync::lock;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Where a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It waits for those before it.
    Queued,
    /// It runs.
    Running,
    /// It is over.
    Done,
}

/// What is new about a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Where it is.
    pub stage: Stage,
    /// What to tell: the output that this reader has not had, and, when it is over, all else.
    pub result: CellResult,
}

/// What all holders of a cell share.
pub(super) struct Cell {
    /// What its holder asks for it by.
    pub(super) id: Arc<str>,
    /// What it is called in its notebook, such as in tracebacks.
    pub(super) label: Arc<str>,
    pub(super) holder: Holder,
    pub(super) session: Arc<str>,
    pub(super) stdout: Mutex<Capture>,
    pub(super) stderr: Mutex<Capture>,
    pub(super) cancel: CancellationToken,
    state: watch::Sender<State>,
}

#[derive(Debug, Clone)]
enum State {
    Queued,
    Running,
    Done(Arc<Outcome>),
}

/// The hold on a cell. Dropping it does not end the cell. Clones share one place in the output.
#[derive(Clone)]
pub struct CellHandle {
    cell: Arc<Cell>,
    queue: Weak<Queue>,
    settings: Arc<Settings>,
    cursor: Arc<Mutex<Cursor>>,
}

/// How far a reader has come.
#[derive(Debug, Default)]
struct Cursor {
    stdout: u64,
    stderr: u64,
    /// Whether something was left out before that could not be said where to find.
    left_out: bool,
}

impl Cell {
    pub(super) fn new(id: String, label: String, holder: Holder, session: Arc<str>, limits: &OutputLimits) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            holder,
            session,
            stdout: Mutex::new(Capture::new(limits.kept_bytes)),
            stderr: Mutex::new(Capture::new(limits.kept_bytes)),
            cancel: CancellationToken::new(),
            state: watch::Sender::new(State::Queued),
        }
    }

    pub(super) fn begin(&self) {
        self.state.send_replace(State::Running);
    }

    pub(super) fn finish(&self, outcome: Outcome) {
        self.state.send_if_modified(|state| {
            let first = !matches!(state, State::Done(_));
            if first {
                *state = State::Done(Arc::new(outcome));
            }
            first
        });
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(*self.state.borrow(), State::Done(_))
    }
}

impl CellHandle {
    pub(super) fn new(cell: Arc<Cell>, queue: Weak<Queue>, settings: Arc<Settings>) -> Self {
        Self { cell, queue, settings, cursor: Arc::default() }
    }

    /// The id of the cell.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.cell.id
    }

    /// Where it is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match &*self.cell.state.borrow() {
            State::Queued => Stage::Queued,
            State::Running => Stage::Running,
            State::Done(_) => Stage::Done,
        }
    }

    /// Another reader, who has had nothing of the output yet.
    #[must_use]
    pub fn reader(&self) -> Self {
        Self { cursor: Arc::default(), ..self.clone() }
    }

    /// Waits until the cell is over, at most until then, and returns what is new.
    pub async fn wait(&self, until: Instant) -> Progress {
        let mut states = self.cell.state.subscribe();
        // The sender lives as long as the cell.
        let done = states.wait_for(|state| matches!(state, State::Done(_)));
        let _ = tokio::time::timeout_at(until, done).await;
        self.progress()
    }

    /// Waits until the cell is over, however long it takes.
    pub async fn finished(&self) -> CellResult {
        let mut states = self.cell.state.subscribe();
        let _ = states.wait_for(|state| matches!(state, State::Done(_))).await;
        self.progress().result
    }

    /// What is new.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let now = self.cell.state.borrow().clone();
        let (stage, outcome) = match now {
            State::Queued => (Stage::Queued, None),
            State::Running => (Stage::Running, None),
            State::Done(outcome) => (Stage::Done, Some(outcome)),
        };
        let status = outcome.as_ref().map_or(Status::Running, |outcome| outcome.status);
        let mut result = CellResult::new(status, &self.cell.id, &self.cell.session);
        let mut cursor = lock(&self.cursor);
        let (coming, left_out) = match outcome {
            Some(_) => (Coming::Nothing, cursor.left_out),
            None => (Coming::More, false),
        };
        let limits = &self.settings.output;
        let places = outcome.as_ref().map(|outcome| (outcome.stdout.whole(), outcome.stderr.whole()));
        let (stdout, stderr) = places.unwrap_or((Whole::Later, Whole::Later));
        let out = fresh(&self.cell.stdout, &mut cursor.stdout, limits.stdout_chars, coming, stdout);
        let err = fresh(&self.cell.stderr, &mut cursor.stderr, limits.stderr_chars, coming, stderr);
        cursor.left_out = coming == Coming::More && (cursor.left_out || out.1 || err.1);
        (result.stdout, result.stderr) = (out.0, err.0);
        if stage == Stage::Queued {
            result.notes.push("not begun yet".to_owned());
        }
        if let Some(outcome) = outcome {
            result.value.clone_from(&outcome.value);
            result.error.clone_from(&outcome.error);
            result.notes.clone_from(&outcome.notes);
            result.calls = outcome.calls;
            let kept = [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)];
            let kept = kept.iter().filter(|_| left_out).filter_map(|(name, place)| Some((name, place.uri.as_ref()?)));
            result.notes.extend(kept.map(|(name, uri)| format!("all of {name}: {uri}")));
        }
        Progress { stage, result }
    }

    /// Calls the cell off: it leaves the queue, or is interrupted. Nothing happens where it is over.
    pub fn cancel(&self) {
        self.cell.cancel.cancel();
        if let Some(queue) = self.queue.upgrade() {
            queue.withdraw(&self.cell);
        }
    }

    pub(super) fn is(&self, holder: &Holder, id: &str) -> bool {
        self.cell.holder == *holder && *self.cell.id == *id
    }

    pub(super) fn is_done(&self) -> bool {
        self.cell.is_done()
    }
}

/// What a reader has not had of a stream, and whether something of it was left out.
fn fresh(stream: &Mutex<Capture>, cursor: &mut u64, chars: usize, coming: Coming, whole: Whole<'_>) -> (String, bool) {
    let shown = lock(stream).since(*cursor, |span| shown(span, chars, coming));
    *cursor += shown.bytes;
    (shown.text(whole), shown.left_out > 0)
}
