//! Interpreters: what starts them, and what one is to those who use it.

mod error;
mod native;
mod python;
mod source;

pub use error::StartError;
pub use kennel_box::{EngineFuture, ProcessHandle, RunningBox};
pub use native::{NativePython, NativePythonSettings, Source, WORKSPACE};
pub use python::Python;

use crate::channel::{Channel, Token};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::AsyncRead;

/// Starts interpreters.
pub trait CodeEngine: Send + Sync {
    /// Starts one and returns when it is ready for cells.
    fn start(&self) -> EngineFuture<'_, Result<Interpreter, StartError>>;

    /// What is started and where, in a few words.
    fn describe(&self) -> String;
}

/// An interpreter that runs and has said that it is ready. Dropping it, with all handles of its process, ends its box.
pub struct Interpreter {
    /// The channel to it; `known` holds its own token already.
    pub channel: Channel,
    /// The token of messages that belong to no cell.
    pub token: Token,
    /// What its code prints, and marks.
    pub stdout: Pin<Box<dyn AsyncRead + Send>>,
    /// What its code prints as errors, and marks.
    pub stderr: Pin<Box<dyn AsyncRead + Send>>,
    /// Signals it and awaits its end.
    pub process: Arc<dyn ProcessHandle>,
    /// The box it runs in.
    pub running: Arc<dyn RunningBox>,
    /// The version of Python as it says it.
    pub python: String,
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interpreter").field("token", &self.token).field("python", &self.python).finish_non_exhaustive()
    }
}
