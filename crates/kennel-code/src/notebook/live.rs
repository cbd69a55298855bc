//! An interpreter in use: its parts, and what it has been told.

use crate::cell::Versioned;
use crate::channel::{Known, Receiver, Sender, Token};
use crate::engine::{Interpreter, ProcessHandle, RunningBox};
use crate::output::Stream;
use std::sync::Arc;
use std::time::Duration;

/// The interpreter of a notebook.
pub(super) struct Live {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) known: Known,
    pub(super) token: Token,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    pub(super) process: Arc<dyn ProcessHandle>,
    pub(super) told: Told,
    /// Whether the cell before was interrupted.
    pub(super) interrupted: bool,
    running: Arc<dyn RunningBox>,
}

/// The versions of what an interpreter has been told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) catalog: Option<u64>,
    pub(super) saved: Option<u64>,
}

impl Live {
    pub(super) fn new(interpreter: Interpreter) -> Self {
        Self {
            sender: interpreter.channel.sender,
            receiver: interpreter.channel.receiver,
            known: interpreter.channel.known,
            token: interpreter.token,
            stdout: Stream::new(interpreter.stdout),
            stderr: Stream::new(interpreter.stderr),
            process: interpreter.process,
            told: Told::default(),
            interrupted: false,
            running: interpreter.running,
        }
    }

    /// Ends the box and all in it. What was printed can still be read.
    pub(super) async fn kill(&mut self, most: Duration) {
        // Where this fails or takes too long, dropping the last handle ends the box.
        let _ = tokio::time::timeout(most, self.running.destroy()).await;
    }
}

/// The message, where the interpreter has not been told this version.
pub(super) fn news(told: Option<u64>, message: Option<&Versioned>) -> Option<&Versioned> {
    message.filter(|message| told != Some(message.version))
}
