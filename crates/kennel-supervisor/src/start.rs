//! A start that is under way: its turn on the stage, the launch, and calling it off.

use crate::failure::Permanence;
use crate::introduction::Introduction;
use crate::launch::{LaunchFailure, LaunchSteps, Launched, Launcher};
use crate::phase::{Generation, Phase};
use crate::shared::Shared;
use crate::stage::{self, Stage};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How many notes of a launcher wait for the task, at most; it takes them after each step of the launcher.
const NOTES: usize = 64;
/// How long a launcher that was called off may take to end what it has made.
const CALLED_OFF: Duration = Duration::from_secs(30);

/// What a launcher tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    Staged,
    Entered(Phase),
    Progress(String),
}

/// How a start came to its end.
pub(crate) struct StartOutcome {
    pub(crate) generation: Generation,
    pub(crate) turn: Option<stage::Turn>,
    pub(crate) result: Result<Launched, LaunchFailure>,
}

type StartFuture = Pin<Box<dyn Future<Output = StartOutcome> + Send>>;

/// A start that is under way.
pub(crate) struct Start {
    future: StartFuture,
    steps: Arc<Steps>,
}

struct Steps {
    notes: Mutex<VecDeque<Note>>,
    shared: Arc<Shared>,
    owner: Option<Arc<str>>,
    is_stateless: bool,
    cancelled: CancellationToken,
}

impl Start {
    pub(crate) fn begin(
        generation: Generation,
        launcher: Arc<dyn Launcher>,
        stage: Stage,
        shared: Arc<Shared>,
        introduction: &Introduction,
    ) -> Self {
        let cancelled = CancellationToken::new();
        let (owner, is_stateless) = (introduction.owner.clone(), introduction.is_stateless);
        let steps = Arc::new(Steps { notes: Mutex::default(), shared, owner, is_stateless, cancelled });
        let told = Arc::clone(&steps);
        let future = async move {
            let turn = tokio::select! {
                biased;
                () = told.cancelled.cancelled() => None,
                turn = stage.turn() => turn,
            };
            if turn.is_none() {
                return StartOutcome { generation, turn, result: Err(called_off("it had begun")) };
            }
            told.note(Note::Staged);
            let result = tokio::select! {
                biased;
                result = launcher.launch(&*told) => result,
                () = overdue(&told.cancelled) => Err(called_off("it had ended what it had made")),
            };
            StartOutcome { generation, turn, result }
        };
        Self { future: Box::pin(future), steps }
    }

    /// The start itself, to be polled to its end.
    pub(crate) fn future(&mut self) -> &mut StartFuture {
        &mut self.future
    }

    /// Calls the start off; it still has to come to its end.
    pub(crate) fn cancel(&self) {
        self.steps.cancelled.cancel();
    }

    /// Takes what the launcher has told.
    pub(crate) fn take_notes(&self) -> VecDeque<Note> {
        std::mem::take(&mut *self.steps.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn overdue(cancelled: &CancellationToken) {
    cancelled.cancelled().await;
    sleep(CALLED_OFF).await;
}

fn called_off(before: &str) -> LaunchFailure {
    LaunchFailure {
        phase: Phase::CreateBox,
        text: format!("the start was called off before {before}"),
        hint: None,
        permanence: Permanence::Transient,
        stderr: Vec::new(),
    }
}

impl Steps {
    fn note(&self, note: Note) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() >= NOTES {
            notes.pop_front();
        }
        notes.push_back(note);
        drop(notes);
        self.shared.ring();
    }
}

impl LaunchSteps for Steps {
    fn entered(&self, phase: Phase) {
        self.note(Note::Entered(phase));
    }

    fn progress(&self, text: &str) {
        self.note(Note::Progress(text.to_owned()));
    }

    fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }
}
