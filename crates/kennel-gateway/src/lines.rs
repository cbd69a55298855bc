//! Messages as lines of a byte stream, with a limit and without losing the place when a line is too long.

use crate::conversation::{Ending, Inlet, Outlet, Received};
use crate::settings::Limits;
use bytes::{Bytes, BytesMut};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How much is read at once.
const READ: usize = 16 * 1024;
/// Up to this size a message is copied to go out together with its line end.
const COPIED: usize = 64 * 1024;

/// Reads lines.
pub(crate) struct LineInlet<R> {
    input: R,
    limit: usize,
    held: BytesMut,
    /// How much of what is held has no line end in it.
    searched: usize,
    skipping: bool,
    ended: bool,
}

impl<R: AsyncRead + Unpin + Send> LineInlet<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, held: BytesMut::new(), searched: 0, skipping: false, ended: false }
    }

    /// Takes the pieces of a stream to its end, and says how much was held at most between two.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn fed(mut self, pieces: &[&[u8]], mut heard: impl FnMut(Received)) -> usize {
        let mut most = 0;
        for piece in pieces {
            self.held.extend_from_slice(piece);
            while let Some(received) = self.take() {
                heard(received);
            }
            most = most.max(self.held.len());
        }
        self.ended = true;
        while let Some(received) = self.take() {
            heard(received);
        }
        most
    }

    /// The next line that is held, if there is a whole one.
    fn take(&mut self) -> Option<Received> {
        loop {
            let rest = self.held.get(self.searched..).unwrap_or_default();
            let line = match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    let line = self.held.split_to(self.searched + at + 1).freeze();
                    line.slice(..line.len() - 1)
                }
                None if self.ended && !self.held.is_empty() => self.held.split().freeze(),
                None => {
                    self.searched = self.held.len();
                    if self.searched > self.limit {
                        self.skipping = true;
                        // Not kept for the next line, or one long line would cost its memory for ever.
                        self.held = BytesMut::new();
                        self.searched = 0;
                    }
                    if self.ended && self.skipping {
                        self.skipping = false;
                        return Some(Received::TooLong { limit: self.limit });
                    }
                    return None;
                }
            };
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > self.limit {
                return Some(Received::TooLong { limit: self.limit });
            }
            if !line.trim_ascii().is_empty() {
                return Some(Received::Frame(line));
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Inlet for LineInlet<R> {
    async fn next(&mut self) -> Result<Received, Ending> {
        loop {
            if let Some(received) = self.take() {
                return Ok(received);
            }
            if self.ended {
                return Err(Ending::ClientDone);
            }
            self.held.reserve(READ);
            let read = self.input.read_buf(&mut self.held).await;
            self.ended = read.map_or(true, |count| count == 0);
        }
    }
}

/// Writes lines.
pub(crate) struct LineOutlet<W> {
    output: W,
}

impl<W: AsyncWrite + Unpin + Send> LineOutlet<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output }
    }

    async fn write(&mut self, message: Bytes) -> std::io::Result<()> {
        if message.len() > COPIED {
            self.output.write_all(&message).await?;
            self.output.write_all(b"\n").await?;
        } else {
            let mut line = BytesMut::with_capacity(message.len() + 1);
            line.extend_from_slice(&message);
            line.extend_from_slice(b"\n");
            self.output.write_all(&line).await?;
        }
        self.output.flush().await
    }
}

impl<W: AsyncWrite + Unpin + Send> Outlet for LineOutlet<W> {
    async fn send(&mut self, message: Bytes) -> Result<(), Ending> {
        self.write(kennel_wire::one_line(message)).await.map_err(|_| Ending::ClientGone)
    }

    fn most_unread(limits: &Limits) -> usize {
        // A script may write all that it has before it reads, and pipes hold little.
        limits.message_bytes.max(limits.mailbox.bytes)
    }

    fn rhythm(&self) -> Option<Duration> {
        None
    }

    async fn keep_alive(&mut self) -> Result<(), Ending> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
