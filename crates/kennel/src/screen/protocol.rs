//! Standard output for messages of the protocol: a client's, byte for byte, unless it is a terminal.

use kennel_redact::json_for_terminal;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncWrite, Stdout};

/// Messages, one on each line.
pub(crate) enum Messages {
    /// For a client.
    Client(Stdout),
    /// For somebody who looks at them: the same, with escapes for what a terminal would obey.
    Terminal {
        stdout: Stdout,
        /// A line that has not ended.
        line: Vec<u8>,
        /// What is to be written.
        shown: Vec<u8>,
    },
}

impl Messages {
    pub(super) fn to(stdout: Stdout, is_terminal: bool) -> Self {
        if is_terminal { Self::Terminal { stdout, line: Vec::new(), shown: Vec::new() } } else { Self::Client(stdout) }
    }

    /// Writes what is to be written.
    fn poll_shown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self::Terminal { stdout, shown, .. } = self else { return Poll::Ready(Ok(())) };
        while !shown.is_empty() {
            let written = ready!(Pin::new(&mut *stdout).poll_write(context, shown))?;
            shown.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    fn stdout(&mut self) -> Pin<&mut Stdout> {
        match self {
            Self::Client(stdout) | Self::Terminal { stdout, .. } => Pin::new(stdout),
        }
    }
}

impl AsyncWrite for Messages {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Self::Client(stdout) = &mut *self {
            return Pin::new(stdout).poll_write(context, bytes);
        }
        ready!(self.poll_shown(context))?;
        if let Self::Terminal { line, shown, .. } = &mut *self {
            line.extend_from_slice(bytes);
            let end = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            let whole: Vec<u8> = line.drain(..end).collect();
            shown.extend_from_slice(json_for_terminal(&String::from_utf8_lossy(&whole)).as_bytes());
        }
        // What cannot be written now is written with the next, or when this is flushed.
        let _ = self.poll_shown(context)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_shown(context))?;
        self.stdout().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_shown(context))?;
        self.stdout().poll_shutdown(context)
    }
}
