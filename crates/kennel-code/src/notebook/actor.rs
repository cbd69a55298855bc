//! The task of a notebook: one cell after the other, in an interpreter that it keeps or replaces.

use super::Parts;
use super::live::Live;
use super::loss::Loss;
use super::outcome::Outcome;
use super::queue::{Queue, Waiting};
use super::running::Running;
use crate::cell::{CellError, Status};
use crate::engine::StartError;
use crate::settings::NotebookLimits;
use std::sync::Arc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The task of a notebook.
pub(super) struct Actor {
    parts: Parts,
    limits: Arc<NotebookLimits>,
    queue: Arc<Queue>,
    closing: CancellationToken,
    live: Option<Live>,
    /// Why the next cell finds nothing of those before it.
    lost: Option<String>,
}

/// What happens next to a notebook in which no cell runs.
enum Next {
    Cell(Waiting),
    Lost(Loss),
    Close,
}

impl Actor {
    pub(super) fn new(parts: Parts, queue: Arc<Queue>, closing: CancellationToken, lost: Option<String>) -> Self {
        let limits = Arc::new(parts.settings.notebook.clone());
        Self { parts, limits, queue, closing, live: None, lost }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Next::Cell(waiting) => self.cell(waiting).await,
                Next::Lost(loss) => self.lose(&loss).await,
                Next::Close => break,
            }
        }
        self.queue.close();
        self.lose(&Loss::Closed).await;
    }

    async fn next(&mut self) -> Next {
        let idle_at = Instant::now() + self.limits.idle;
        let Some(live) = &self.live else {
            return tokio::select! {
                biased;
                () = self.closing.cancelled() => Next::Close,
                waiting = self.queue.next() => Next::Cell(waiting),
            };
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Next::Close,
            report = live.process.wait() => Next::Lost(Loss::Ended(report)),
            waiting = self.queue.next() => Next::Cell(waiting),
            () = tokio::time::sleep_until(idle_at) => Next::Lost(Loss::Idle(self.limits.idle)),
        }
    }

    async fn cell(&mut self, waiting: Waiting) {
        let cell = Arc::clone(&waiting.cell);
        let outcome = self.outcome(waiting).await;
        self.queue.over();
        cell.finish(outcome);
    }

    async fn outcome(&mut self, Waiting { cell, request }: Waiting) -> Outcome {
        if self.live.is_none() {
            let started = tokio::select! {
                started = self.parts.engine.start() => started,
                () = cell.cancel.cancelled() => return Outcome::unrun(Status::Cancelled, None),
                () = self.closing.cancelled() => return Outcome::unrun(Status::Error, Some(closed())),
            };
            match started {
                Ok(interpreter) => self.live = Some(Live::new(interpreter)),
                Err(error) => return Outcome::unrun(Status::Error, Some(not_started(&error))),
            }
            self.queue.set_live(true);
        }
        let Some(live) = &mut self.live else { return Outcome::unrun(Status::Error, Some(closed())) };
        if cell.cancel.is_cancelled() {
            return Outcome::unrun(Status::Cancelled, None);
        }
        cell.begin();
        let running = Running {
            cell: &cell,
            host: &request.host,
            limits: &self.limits,
            output: &self.parts.settings.output,
            closing: &self.closing,
        };
        let ran = running.run(live, &request).await;
        let limits = &self.parts.settings.output;
        let loss = ran.loss.clone();
        let mut outcome = Outcome::of(ran, limits);
        if let Some(lost) = self.lost.take() {
            outcome.notes.insert(0, format!("state lost: {lost}"));
        }
        outcome.keep([&cell.stdout, &cell.stderr], &cell.holder, &self.parts.results, limits);
        if let Some(loss) = &loss {
            self.lose(loss).await;
        }
        outcome
    }

    /// Gives the interpreter up, and remembers why.
    async fn lose(&mut self, loss: &Loss) {
        let Some(mut live) = self.live.take() else { return };
        live.kill(self.limits.exit).await;
        drop(live);
        self.lost = Some(loss.to_string());
        self.queue.set_live(false);
    }
}

fn closed() -> CellError {
    let message = "the notebook was closed before the cell began".to_owned();
    CellError { kind: "NotebookClosed".to_owned(), message, ..CellError::default() }
}

fn not_started(error: &StartError) -> CellError {
    CellError { kind: "StartError".to_owned(), message: error.to_string(), ..CellError::default() }
}
