//! Moves the output of a process from a pipe into its log, no faster than the log takes it.

use crate::event::{EventKind, Stream};
use crate::limits::Limits;
use crate::process::Process;
use crate::stderr::StderrRing;
use bytes::{Bytes, BytesMut};
use kennel_redact::Pace;
use memchr::memchr_iter;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// One output of a process on its way into the log.
pub(crate) struct Pump {
    process: Arc<Process>,
    stream: Stream,
    pipe: Pin<Box<dyn AsyncRead + Send>>,
    /// Cancelled when the box is gone: from then on only what lies in the pipe is of interest.
    last_call: CancellationToken,
    /// How much is made room for at once.
    block: usize,
    /// How fast standard error is read; what a process has to say, it says on standard output.
    pace: Option<Pace>,
}

/// What a process that writes little is given.
const SMALL_BLOCK: usize = 8 * 1024;

impl Pump {
    pub(crate) fn new(
        process: Arc<Process>,
        stream: Stream,
        pipe: Pin<Box<dyn AsyncRead + Send>>,
        last_call: CancellationToken,
    ) -> Self {
        let block = SMALL_BLOCK.min(process.limits.read_bytes);
        let limits = &process.limits;
        let pace = (stream == Stream::Stderr).then(|| Pace::new(limits.stderr_burst as u64, limits.stderr_rate as u64));
        Self { process, stream, pipe, last_call, block, pace }
    }

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
                Ok(length) => {
                    if length * 2 > self.block {
                        self.block = (self.block * 4).min(self.process.limits.read_bytes);
                    }
                    let bytes = buffer.split().freeze();
                    let pause = self.pause(&bytes);
                    self.deliver(bytes);
                    if !pause.is_zero() {
                        // Whoever writes too much waits at the full pipe meanwhile.
                        let _ = timeout(pause, self.last_call.cancelled()).await;
                    }
                }
            }
        }
        if self.stream == Stream::Stderr {
            self.process.stderr(StderrRing::finish);
        }
    }

    async fn read(&mut self, buffer: &mut BytesMut, draining: &mut Duration) -> io::Result<usize> {
        // Chunks are cut from one block until little of it is left, so that small ones do not cost a block each. A
        // process that writes much is read in large chunks, others do not hold the memory for it.
        if buffer.capacity() <= self.block / 8 {
            // Takes the old block where nobody has chunks of it any more.
            buffer.reserve(self.block);
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

    /// How long to wait after reading this.
    fn pause(&mut self, bytes: &[u8]) -> Duration {
        let Some(pace) = &mut self.pace else { return Duration::ZERO };
        let lines = memchr_iter(b'\n', bytes).count();
        let cost = bytes.len() + lines * Limits::STDERR_LINE;
        pace.owe(cost as u64, Instant::now().into_std())
    }

    fn deliver(&self, bytes: Bytes) {
        if self.stream == Stream::Stderr {
            self.process.stderr(|ring| ring.push(bytes.clone()));
        }
        self.process.log.append(EventKind::Output { stream: self.stream, bytes });
    }
}
