//! The one interface behind which boxes are made, whatever makes them.

use crate::error::BoxError;
use crate::plan::BoxPlan;
use kennel_jail::{ExitReport, Walls};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::future::Future;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// A future of an engine, boxed so that engines can be chosen at run time.
pub type EngineFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The engines a definition can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// The embedded Linux box.
    #[default]
    Native,
    /// No box at all: the process runs as the user, with everything the user can touch.
    Host,
}

/// What an engine can do on this machine, found by trying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The engine asked.
    pub engine: EngineKind,
    /// The walls a box made now would have, or why none can be made.
    pub walls: Result<Walls, String>,
}

/// Makes boxes.
pub trait Engine: Send + Sync {
    /// Which engine this is.
    fn kind(&self) -> EngineKind;

    /// Makes a throw-away box and says which walls it had.
    fn probe(&self) -> EngineFuture<'_, Capabilities>;

    /// Makes a box. Dropping the returned handle ends the box and all in it.
    fn create<'a>(&'a self, plan: &'a BoxPlan) -> EngineFuture<'a, Result<Arc<dyn RunningBox>, BoxError>>;

    /// Ends what an earlier Kennel left behind and returns how many things that were.
    fn end_leftovers(&self) -> EngineFuture<'_, Result<usize, BoxError>>;
}

/// A box that is there. The last handle dropped ends it.
pub trait RunningBox: Send + Sync {
    /// The walls this box has.
    fn walls(&self) -> &Walls;

    /// Starts a process in the box.
    fn start<'a>(&'a self, command: &'a Command) -> EngineFuture<'a, Result<BoxProcess, BoxError>>;

    /// Sends a signal to every process in the box.
    fn signal_all(&self, signal: i32) -> Result<(), BoxError>;

    /// Ends every process in the box and returns when the box is gone, with its mounts and limits.
    fn destroy(&self) -> EngineFuture<'_, Result<(), BoxError>>;
}

/// What to run in a box.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The program, by path or to be found on the box's `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables added to the plan's, replacing those of the same name.
    pub env: Vec<(OsString, OsString)>,
    /// Where to start, instead of the plan's working directory.
    pub cwd: Option<PathBuf>,
    /// When to end the process, counted from its start.
    pub deadline: Option<Duration>,
    /// Whether it gets a channel as its descriptor [`CHANNEL`](kennel_jail::CHANNEL): one end of a pair of sockets that keep message boundaries.
    ///
    /// In a box with a filter of system calls only `sendmsg` and `recvmsg` can use that descriptor, and nothing can
    /// close or copy it, so that code which does not know of it does it no harm. The process decides whether programs
    /// that it executes inherit it.
    pub channel: bool,
}

/// A process running in a box.
pub struct BoxProcess {
    /// Closed by dropping it.
    pub stdin: Pin<Box<dyn AsyncWrite + Send>>,
    /// The process's standard output.
    pub stdout: Pin<Box<dyn AsyncRead + Send>>,
    /// The process's standard error.
    pub stderr: Pin<Box<dyn AsyncRead + Send>>,
    /// The outer end of its channel, if one was asked for; the kernel says with each packet which process has sent it.
    pub channel: Option<OwnedFd>,
    /// Signals it and awaits its end.
    pub handle: Arc<dyn ProcessHandle>,
}

/// The hold on a process that outlives its pipes.
pub trait ProcessHandle: Send + Sync {
    /// Sends a signal to the process itself. Nothing happens where it has ended.
    fn signal(&self, signal: i32) -> Result<(), BoxError>;

    /// Waits for the end of the process. Safe to cancel, and every caller gets the same report.
    fn wait(&self) -> EngineFuture<'_, ExitReport>;
}
