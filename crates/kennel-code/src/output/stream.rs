//! Reads a stream of an interpreter, cell by cell.

use super::capture::Capture;
use super::mark::{Mark, Marks, Piece};
use crate::sync::lock;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 << 10;

/// One stream of an interpreter. It is read only while a cell runs; what comes between cells waits in the pipe and
/// belongs to the next cell.
pub struct Stream {
    source: Pin<Box<dyn AsyncRead + Send>>,
    marks: Marks,
    /// What was read and has not been given to a cell: at most a chunk and the beginning of a mark.
    pending: Vec<u8>,
    ended: bool,
}

/// Why reading for a cell is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The mark of the cell has come.
    Marked,
    /// The stream has ended: nobody holds its other end any more.
    Ended,
}

impl Stream {
    /// Reads from a source.
    #[must_use]
    pub fn new(source: Pin<Box<dyn AsyncRead + Send>>) -> Self {
        Self { source, marks: Marks::new(), pending: Vec::new(), ended: false }
    }

    /// Reads into a capture up to a mark. Safe to cancel: what was read is kept.
    pub async fn read_to(&mut self, mark: &Mark, capture: &Mutex<Capture>) -> Ending {
        loop {
            if self.give(mark, capture) {
                return Ending::Marked;
            }
            if self.ended {
                self.flush(capture);
                return Ending::Ended;
            }
            self.pending.reserve(CHUNK);
            // A pipe that fails brings nothing any more, like one that has ended.
            self.ended = !matches!(self.source.read_buf(&mut self.pending).await, Ok(length) if length > 0);
        }
    }

    /// Reads what is there when a cell is over, where its mark may never come: until the mark, the end, or a time in
    /// which nothing comes. The mark is no output if it comes later.
    pub async fn settle(&mut self, mark: &Mark, capture: &Mutex<Capture>, quiet: Duration, most: Duration) {
        let deadline = Instant::now() + most;
        let mut seen = lock(capture).total();
        loop {
            let until = (Instant::now() + quiet).min(deadline);
            if tokio::time::timeout_at(until, self.read_to(mark, capture)).await.is_ok() {
                return;
            }
            let total = lock(capture).total();
            if total == seen || Instant::now() >= deadline {
                break;
            }
            seen = total;
        }
        self.marks.retire(mark);
    }

    /// Takes a mark for that of a cell that is over.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn forget(&mut self, mark: &Mark) {
        self.marks.retire(mark);
    }

    /// Gives the cell what is surely output; returns whether its mark has come.
    fn give(&mut self, mark: &Mark, capture: &Mutex<Capture>) -> bool {
        let mut from = 0;
        let marked = loop {
            let rest = self.pending.get(from..).unwrap_or_default();
            let (length, skipped, marked) = match self.marks.find(rest, mark) {
                Piece::Output(length) => (length, 0, None),
                Piece::Marked(length) => (length, Marks::LENGTH, Some(true)),
                Piece::Stale(length) => (length, Marks::LENGTH, Some(false)),
            };
            if length > 0 {
                lock(capture).push(rest.get(..length).unwrap_or_default());
            }
            from += length + skipped;
            match marked {
                Some(false) => {}
                Some(true) => break true,
                None => break false,
            }
        };
        self.pending.drain(..from);
        marked
    }

    fn flush(&mut self, capture: &Mutex<Capture>) {
        lock(capture).push(&self.pending);
        self.pending.clear();
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
