//! What the stand-in for a process writes: messages to standard output, and to standard error what an operator should
//! know, without secrets.

use bytes::Bytes;
use kennel_redact::{Redactor, cut, is_unfit};
use kennel_wire::one_line;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How many messages may wait for their reader; each may be as large as a message can be.
const MESSAGES: usize = 4;
/// How many lines for the operator may wait; more are lost.
const REMARKS: usize = 64;
/// How much of a remark is shown.
const REMARK_BYTES: usize = 500;

/// The ways to both outputs. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Output {
    messages: mpsc::Sender<Bytes>,
    remarks: mpsc::Sender<String>,
    redactor: Arc<Redactor>,
}

/// The tasks that write; they end when all outputs are dropped.
pub(crate) struct Writers(JoinSet<()>);

impl Output {
    pub(crate) fn new(
        stdout: impl AsyncWrite + Send + Unpin + 'static,
        stderr: impl AsyncWrite + Send + Unpin + 'static,
        redactor: Redactor,
    ) -> (Self, Writers) {
        let (messages, message) = mpsc::channel(MESSAGES);
        let (remarks, remark) = mpsc::channel(REMARKS);
        let mut writers = JoinSet::new();
        writers.spawn(write(message, stdout));
        writers.spawn(write(remark, stderr));
        (Self { messages, remarks, redactor: Arc::new(redactor) }, Writers(writers))
    }

    /// Writes a message, and waits while nobody reads.
    pub(crate) async fn message(&self, message: Bytes) {
        // Where nobody reads any more, the process is about to be ended.
        let _ = self.messages.send(one_line(message)).await;
    }

    /// Tells the operator.
    pub(crate) fn say(&self, text: &str) {
        // Where there is too much to say, what came first counts.
        let _ = self.remarks.try_send(self.safe(text));
    }

    /// A text in one line, without secrets and without an end.
    pub(crate) fn safe(&self, text: &str) -> String {
        let text = self.redactor.redact(text);
        let shown = cut(&text, REMARK_BYTES);
        shown.chars().map(|character| if is_unfit(character) { ' ' } else { character }).collect()
    }
}

impl Writers {
    /// Waits until all is written that is read in this time.
    pub(crate) async fn finish(mut self, within: Duration) {
        let _ = timeout(within, async { while self.0.join_next().await.is_some() {} }).await;
    }
}

async fn write<T: AsRef<[u8]>>(mut lines: mpsc::Receiver<T>, mut pipe: impl AsyncWrite + Unpin) {
    while let Some(line) = lines.recv().await {
        let written = async {
            pipe.write_all(line.as_ref()).await?;
            pipe.write_all(b"\n").await
        };
        if written.await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
