//! The script's side of a fake process.

use kennel_box::{ExitCause, ExitReport, ExitStatus};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::watch;

/// A fake process as its script sees it: what is written to it, what it writes, and the signal that asks it to end.
pub struct Child {
    number: usize,
    stdin: BufReader<DuplexStream>,
    stdout: DuplexStream,
    stderr: DuplexStream,
    term: watch::Receiver<bool>,
}

impl Child {
    pub(super) fn new(
        number: usize,
        stdin: DuplexStream,
        stdout: DuplexStream,
        stderr: DuplexStream,
        term: watch::Receiver<bool>,
    ) -> Self {
        Self { number, stdin: BufReader::new(stdin), stdout, stderr, term }
    }

    /// Which process of its engine this is; 1 for the first.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The next line that was written to it, or `None` when its standard input was closed. Safe to cancel only when
    /// lines come whole.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stdin.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    /// Writes a line to standard output. Waits while the pipe is full; what nobody reads any more is lost.
    pub async fn say(&mut self, line: &str) {
        let _ = self.stdout.write_all(format!("{line}\n").as_bytes()).await;
    }

    /// Writes bytes to standard output as they are.
    pub async fn print(&mut self, bytes: &[u8]) {
        let _ = self.stdout.write_all(bytes).await;
    }

    /// Writes a line to standard error.
    pub async fn complain(&mut self, line: &str) {
        let _ = self.stderr.write_all(format!("{line}\n").as_bytes()).await;
    }

    /// Waits for SIGTERM.
    pub async fn terminated(&mut self) {
        // The sender lives as long as the box, with which the script ends anyway.
        let _ = self.term.wait_for(|term| *term).await;
    }

    /// How a process ends that calls `exit`.
    #[must_use]
    pub fn exit(code: i32) -> ExitReport {
        ExitReport { status: ExitStatus::Code(code), cause: ExitCause::Exited }
    }
}
