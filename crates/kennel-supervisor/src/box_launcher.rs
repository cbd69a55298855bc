//! The plain launcher: one command in one kind of box.

use crate::failure::Permanence;
use crate::launch::{LaunchFailure, LaunchFuture, LaunchSteps, Launched, Launcher};
use crate::phase::Phase;
use kennel_box::BoxError;
use kennel_exec::{Attachment, ProcessId, StartError, StartRequest, Stop};
use kennel_jail::JailError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Starts the same command in a new box of the same kind each time.
pub struct BoxLauncher {
    attachment: Arc<Attachment>,
    name: String,
    request: StartRequest,
    started: AtomicU64,
}

impl BoxLauncher {
    /// A launcher whose processes belong to the attachment's session and are named after `name`, which must be used
    /// by no other launcher of that session.
    #[must_use]
    pub fn new(attachment: Arc<Attachment>, name: impl Into<String>, request: StartRequest) -> Self {
        Self { attachment, name: name.into(), request, started: AtomicU64::new(0) }
    }

    async fn start(&self, steps: &dyn LaunchSteps) -> Result<Launched, LaunchFailure> {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let process = ProcessId::new(format!("{}#{number}", self.name));
        let attachment = Arc::clone(&self.attachment);
        let mut unfinished = Unfinished(Some(Launched { attachment, process: process.clone() }));
        let result = tokio::select! {
            biased;
            result = self.attachment.start(process.clone(), self.request.clone()) => result,
            () = steps.cancelled().cancelled() => {
                // Answered when nothing is left, be it that the process has started meanwhile.
                let _ = self.attachment.terminate(&process, Stop::Now).await;
                Err(StartError::Terminated)
            }
        };
        match (result, unfinished.0.take()) {
            (Ok(()), Some(launched)) => Ok(launched),
            (Ok(()), None) => Err(failure(&StartError::Terminated)),
            (Err(error), _) => Err(failure(&error)),
        }
    }
}

/// A start that nobody waits for any more when this is dropped.
struct Unfinished(Option<Launched>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(launched) = &self.0 {
            launched.abandon();
        }
    }
}

impl Launcher for BoxLauncher {
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a> {
        Box::pin(self.start(steps))
    }
}

fn failure(error: &StartError) -> LaunchFailure {
    let (phase, permanence) = match error {
        StartError::Box(error) => judge(error),
        StartError::SessionEnded => (Phase::CreateBox, Permanence::Permanent),
        StartError::IdInUse(_) | StartError::TooManyProcesses { .. } | StartError::Terminated => {
            (Phase::CreateBox, Permanence::Transient)
        }
    };
    let hint = match error {
        StartError::Box(BoxError::Jail(error)) => error.hint().map(str::to_owned),
        _ => None,
    };
    LaunchFailure { phase, text: error.to_string(), hint, permanence, stderr: Vec::new() }
}

/// Where a box failed, and whether another attempt can help.
fn judge(error: &BoxError) -> (Phase, Permanence) {
    match error {
        // Others give back what they hold, or the user raises a limit.
        BoxError::Jail(error @ JailError::NotStarted(_)) if error.is_exhaustion() => {
            (Phase::StartProcess, Permanence::Transient)
        }
        BoxError::Jail(error) if error.is_exhaustion() => (Phase::CreateBox, Permanence::Transient),
        BoxError::Jail(error) if error.lacks_namespaces() => (Phase::EngineUnavailable, Permanence::Permanent),
        BoxError::Jail(JailError::HelperStart { .. }) => (Phase::EngineUnavailable, Permanence::Permanent),
        // What the kernel said has a known remedy, so it will say the same until that is applied.
        BoxError::Jail(JailError::NotStarted(error)) if error.hint().is_some() => {
            (Phase::StartProcess, Permanence::Permanent)
        }
        BoxError::Jail(JailError::NotStarted(_)) => (Phase::StartProcess, Permanence::Transient),
        // A helper that was ended, such as by want of memory, is replaced by the next attempt.
        BoxError::Jail(JailError::Refused(_) | JailError::BoxEnded | JailError::Channel(_) | JailError::HelperGone) => {
            (Phase::CreateBox, Permanence::Transient)
        }
        // The rest is about the spec, which stays as it is.
        _ => (Phase::CreateBox, Permanence::Permanent),
    }
}

#[cfg(test)]
#[path = "box_launcher_tests.rs"]
mod tests;
