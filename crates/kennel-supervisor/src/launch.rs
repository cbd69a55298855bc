//! How one process of an instance is made: the interface to whoever installs, plans and starts.

use crate::failure::{Cause, Failure, Permanence};
use crate::phase::Phase;
use kennel_exec::{Attachment, ProcessId, Stop};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};
use tokio_util::sync::CancellationToken;

/// A future of a launcher, boxed so that launchers can be chosen at run time.
pub type LaunchFuture<'a> = Pin<Box<dyn Future<Output = Result<Launched, LaunchFailure>> + Send + 'a>>;

/// Makes processes, one per call.
pub trait Launcher: Send + Sync + 'static {
    /// Makes one process and returns when it runs.
    ///
    /// When [`LaunchSteps::cancelled`] fires, the start is no longer wanted: the future should end what it has made
    /// and return an error. One that does not return within some seconds after that is dropped.
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a>;
}

/// What a launcher tells while it works, and is told.
pub trait LaunchSteps: Send + Sync {
    /// The launch has come to this phase; its budget begins. The first is [`Phase::CreateBox`] unless told.
    fn entered(&self, phase: Phase);

    /// Something for people who wait, such as what is being installed.
    fn progress(&self, text: &str);

    /// Whom the process is for, where it is for one user only.
    fn owner(&self) -> Option<&str> {
        None
    }

    /// Whether several clients that cannot be told apart may speak to the process.
    fn is_stateless(&self) -> bool {
        false
    }

    /// Fires when the start is no longer wanted.
    fn cancelled(&self) -> &CancellationToken;
}

/// A process that runs.
#[derive(Clone)]
pub struct Launched {
    /// The session it belongs to.
    pub attachment: Arc<Attachment>,
    /// Its name there.
    pub process: ProcessId,
}

impl Launched {
    /// Has the process ended at once, without waiting for it: for owners that are dropped in the middle of things.
    pub(crate) fn abandon(&self) {
        let ending = pin!(self.attachment.terminate(&self.process, Stop::Now));
        // Asked once, the executor goes on by itself; a process that has ended is none of its concern.
        let _ = ending.poll(&mut Context::from_waker(Waker::noop()));
    }
}

/// Why there is no process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFailure {
    /// Where it happened.
    pub phase: Phase,
    /// What happened, for the operator.
    pub text: String,
    /// What the operator can do about it, where that is known.
    pub hint: Option<String>,
    /// Whether trying again can help.
    pub permanence: Permanence,
    /// The last lines of standard error of whatever failed.
    pub stderr: Vec<String>,
}

impl From<LaunchFailure> for Failure {
    fn from(failure: LaunchFailure) -> Self {
        let LaunchFailure { phase, text, hint, permanence, stderr } = failure;
        Self { hint, stderr, ..Self::new(phase, Cause::Launch(text), permanence) }
    }
}
