//! What is known of one process, whoever asks, from its placeholder to its last reader.

use crate::error::ProcessError;
use crate::event::{EventKind, Seq};
use crate::ids::ProcessId;
use crate::limits::{Graces, Limits};
use crate::log::EventLog;
use crate::outlet::Outlet;
use crate::stderr::StderrRing;
use crate::stdin::Stdin;
use crate::sync::lock;
use kennel_box::{BoxError, ExitReport, ProcessHandle};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Where a process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Its box is being made; it can be terminated and subscribed to.
    Starting,
    /// It runs.
    Running,
    /// It has ended; its output is not read to the end yet.
    Exited(ExitReport),
    /// It has ended and nothing more will come; kept for late readers.
    Closed(ExitReport),
}

/// What there is to say about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStatus {
    /// Where it is in its life.
    pub phase: Phase,
    /// The oldest event that is kept, one past the newest where none is.
    pub oldest: Seq,
    /// The newest event.
    pub newest: Seq,
}

/// How to stop a process: always its whole box, never one pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Close standard input, wait, SIGTERM, wait, end the box.
    Gracefully(Graces),
    /// End the box.
    Now,
}

/// One process, or the placeholder of one that is starting.
pub(crate) struct Process {
    pub(crate) id: ProcessId,
    pub(crate) limits: Arc<Limits>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Outlet,
    /// Cancelled when the process, if it is closed, is no longer to be kept.
    pub(crate) forgotten: CancellationToken,
    stderr: Mutex<StderrRing>,
    handle: Mutex<Option<Arc<dyn ProcessHandle>>>,
    phase: Mutex<Phase>,
    stop: watch::Sender<Option<Stop>>,
    end: watch::Sender<BoxEnd>,
}

/// What became of the box of a process.
enum BoxEnd {
    NotYet,
    Gone,
    Remains(Arc<BoxError>),
}

impl Process {
    pub(crate) fn starting(id: ProcessId, limits: Arc<Limits>, forgotten: CancellationToken) -> Self {
        Self {
            id,
            log: Arc::new(EventLog::new(&limits)),
            stdin: Stdin::new(&limits),
            stdout: Outlet::default(),
            forgotten,
            stderr: Mutex::new(StderrRing::new(&limits)),
            handle: Mutex::new(None),
            phase: Mutex::new(Phase::Starting),
            stop: watch::Sender::new(None),
            end: watch::Sender::new(BoxEnd::NotYet),
            limits,
        }
    }

    pub(crate) fn status(&self) -> ProcessStatus {
        let phase = *lock(&self.phase);
        let (oldest, newest) = self.log.span();
        ProcessStatus { phase, oldest, newest }
    }

    pub(crate) fn stderr<T>(&self, with: impl FnOnce(&mut StderrRing) -> T) -> T {
        with(&mut lock(&self.stderr))
    }

    pub(crate) fn signal(&self, signal: i32) -> Result<(), ProcessError> {
        let handle = lock(&self.handle).clone();
        let handle = handle.ok_or_else(|| ProcessError::NotRunning(self.id.clone()))?;
        Ok(handle.signal(signal)?)
    }

    /// Asks for a stop. A harsher request replaces a gentler one, never the reverse.
    pub(crate) fn request_stop(&self, stop: Stop) {
        self.stop.send_if_modified(|asked| {
            let replaces = !matches!((&asked, stop), (Some(Stop::Now), _) | (Some(_), Stop::Gracefully(_)));
            if replaces {
                *asked = Some(stop);
            }
            replaces
        });
    }

    pub(crate) fn is_stop_requested(&self) -> bool {
        self.stop.borrow().is_some()
    }

    /// Waits for a request to stop.
    pub(crate) async fn stop_requested(&self) -> Stop {
        match self.stop.subscribe().wait_for(Option::is_some).await.as_deref() {
            Ok(Some(stop)) => *stop,
            Ok(None) | Err(_) => Stop::Now,
        }
    }

    /// Waits for a request to stop at once.
    pub(crate) async fn stop_now_requested(&self) {
        let now = |stop: &Option<Stop>| matches!(stop, Some(Stop::Now));
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.stop.subscribe().wait_for(now).await;
    }

    pub(crate) fn has_started(&self, handle: Arc<dyn ProcessHandle>) {
        *lock(&self.handle) = Some(handle);
        *lock(&self.phase) = Phase::Running;
    }

    pub(crate) fn has_exited(&self, report: ExitReport) {
        *lock(&self.handle) = None;
        // Before the event: whoever has seen it must not have a write accepted any more.
        self.stdin.close();
        *lock(&self.phase) = Phase::Exited(report);
        self.log.append(EventKind::Exited { report });
    }

    pub(crate) fn has_closed(&self, report: ExitReport) {
        *lock(&self.phase) = Phase::Closed(report);
        self.log.append(EventKind::Closed);
    }

    pub(crate) fn box_has_ended(&self, result: Result<(), BoxError>) {
        self.end.send_replace(match result {
            Ok(()) => BoxEnd::Gone,
            Err(error) => BoxEnd::Remains(Arc::new(error)),
        });
    }

    /// Waits until nothing of the process is left but its log.
    pub(crate) async fn box_ended(&self) -> Result<(), ProcessError> {
        let mut ends = self.end.subscribe();
        match ends.wait_for(|end| !matches!(end, BoxEnd::NotYet)).await.as_deref() {
            Ok(BoxEnd::Remains(source)) => {
                Err(ProcessError::BoxRemains { id: self.id.clone(), source: Arc::clone(source) })
            }
            Ok(BoxEnd::Gone | BoxEnd::NotYet) | Err(_) => Ok(()),
        }
    }
}
