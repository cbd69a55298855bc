//! Moves the output of a process from a pipe into its log, no faster than the log takes it.

use crate::event::{EventKind, Stream};
use crate::process::Process;
use crate::stderr::StderrRing;
use bytes::{Bytes, BytesMut};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// One output of a process on its way into the log.
pub(crate) struct Pump {
    pub(crate) process: Arc<Process>,
    pub(crate) stream: Stream,
    pub(crate) pipe: Pin<Box<dyn AsyncRead + Send>>,
    /// Cancelled when the box is gone: from then on only what lies in the pipe is of interest.
    pub(crate) last_call: CancellationToken,
}

impl Pump {
    /// Reads to the end of the pipe, or after the last call for as long as draining may take.
    ///
    /// Time spent waiting for room does not count as draining: a slow consumer must not lose the end.
    pub(crate) async fn run(mut self) {
        let mut buffer = BytesMut::new();
        let mut draining = self.process.limits.drain;
        loop {
            self.process.log.room().await;
            match self.read(&mut buffer, &mut draining).await {
                Ok(0) | Err(_) => break,
                Ok(_) => self.deliver(buffer.split().freeze()),
            }
        }
        if self.stream == Stream::Stderr {
            self.process.stderr(StderrRing::finish);
        }
    }

    async fn read(&mut self, buffer: &mut BytesMut, draining: &mut Duration) -> io::Result<usize> {
        let most = self.process.limits.read_bytes;
        // Chunks are cut from one block until little of it is left, so that small ones do not cost a block each.
        if buffer.capacity() <= most / 8 {
            *buffer = BytesMut::with_capacity(most);
        }
        if !self.last_call.is_cancelled() {
            tokio::select! {
                biased;
                read = self.pipe.read_buf(buffer) => return read,
                () = self.last_call.cancelled() => {}
            }
        }
        // Also where bytes are always ready, for whoever still writes may never stop.
        if draining.is_zero() {
            return Ok(0);
        }
        let start = Instant::now();
        let read = timeout(*draining, self.pipe.read_buf(buffer)).await;
        *draining = draining.saturating_sub(start.elapsed());
        read.unwrap_or(Ok(0))
    }

    fn deliver(&self, bytes: Bytes) {
        if self.stream == Stream::Stderr {
            self.process.stderr(|ring| ring.push(bytes.clone()));
        }
        self.process.log.append(EventKind::Output { stream: self.stream, bytes });
    }
}
