//! The byte stream of one connection, guarded against clients that send without end or never read.
//!
//! Whatever the client does, three things hold. What it has sent of something that is not whole yet (the head of a
//! request, a WebSocket message) takes a share of the gateway's [`Intake`]; bodies are counted where they are read. While
//! it does not read what is written to it, not more than [`UNREAD_CREDIT`] is read from it, so that it cannot pile up
//! answers. And when nothing could be written for too long, the connection is broken.

use crate::intake::Share;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// How much is taken from a client that does not read: enough for one that says a lot before it listens.
const UNREAD_CREDIT: usize = 1024 * 1024;

/// What is being read from a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reading {
    /// The head of a request.
    Head,
    /// A body, which is counted where it is read.
    Body,
    /// Messages of a WebSocket.
    Messages,
}

/// What the stream and those who use it tell each other.
#[derive(Debug)]
pub(crate) struct Meter {
    reading: AtomicU8,
    /// Whether what is read now is another thing than before.
    is_new: AtomicBool,
    is_exhausted: AtomicBool,
}

impl Default for Meter {
    fn default() -> Self {
        let reading = AtomicU8::new(Reading::Head as u8);
        Self { reading, is_new: AtomicBool::new(false), is_exhausted: AtomicBool::new(false) }
    }
}

impl Meter {
    /// Says that what was read is whole, and what comes next.
    pub(crate) fn whole(&self, next: Reading) {
        self.reading.store(next as u8, Ordering::Relaxed);
        self.is_new.store(true, Ordering::Release);
    }

    /// Whether the connection was broken because all that the gateway can hold was taken.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }

    fn counts(&self) -> bool {
        self.reading.load(Ordering::Relaxed) != Reading::Body as u8
    }
}

/// A guarded stream.
pub(crate) struct Guarded<S> {
    inner: S,
    meter: Arc<Meter>,
    share: Share,
    /// How much has come of what is being read.
    length: usize,
    stall: Duration,
    unread: Option<Unread>,
}

/// What is known while the client does not read.
struct Unread {
    deadline: Pin<Box<Sleep>>,
    /// How much is still read from it.
    credit: usize,
    reader: Option<Waker>,
}

impl<S> Guarded<S> {
    /// A stream that may go unread for so long.
    pub(crate) fn new(inner: S, meter: Arc<Meter>, share: Share, stall: Duration) -> Self {
        Self { inner, meter, share, length: 0, stall, unread: None }
    }

    /// Takes a share for what has come in and was not enough, before more is read.
    fn account(&mut self) -> io::Result<()> {
        if self.meter.is_new.load(Ordering::Acquire) && self.meter.is_new.swap(false, Ordering::AcqRel) {
            self.length = 0;
            self.share.clear();
        }
        if self.meter.counts() {
            self.share.grow(self.length).map_err(|_| {
                self.meter.is_exhausted.store(true, Ordering::Relaxed);
                io::Error::other("the gateway holds as much of unfinished messages as it may")
            })?;
        }
        Ok(())
    }

    /// Counts what has come in.
    fn came(&mut self, bytes: usize) {
        if let Some(unread) = &mut self.unread {
            unread.credit = unread.credit.saturating_sub(bytes);
        }
        self.length = self.length.saturating_add(bytes);
    }

    /// Takes note of what became of a write.
    fn wrote<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if let Some(Unread { reader: Some(reader), .. }) = self.unread.take() {
                reader.wake();
            }
            return written;
        }
        let stall = self.stall;
        let unread = self.unread.get_or_insert_with(|| Unread {
            deadline: Box::pin(sleep_until(Instant::now() + stall)),
            credit: UNREAD_CREDIT,
            reader: None,
        });
        match unread.deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(unread) = &mut this.unread
            && unread.credit == 0
        {
            unread.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        this.account()?;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.inner).poll_read(context, buffer);
        this.came(buffer.filled().len() - before);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(context, bytes);
        this.wrote(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write_vectored(context, pieces);
        this.wrote(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

#[cfg(test)]
#[path = "guarded_tests.rs"]
mod tests;
