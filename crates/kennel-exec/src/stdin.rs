//! Writes to a process: in order, whole, and each only once.

use crate::error::{FeedError, WriteError};
use crate::ids::WriteId;
use crate::limits::Limits;
use crate::queue::{Job, Queue, Receipt};
use crate::sync::lock;
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// All bytes are in the process's standard input.
    Accepted,
    /// The process has not started yet; nothing was written.
    Starting,
    /// Standard input is closed, or the process has ended; the process will not get all of these bytes.
    StdinClosed,
    /// There is no such process, or it ended and is no longer kept.
    UnknownProcess,
}

/// The way to the standard input of one process.
///
/// All writes go through one queue, so they never interleave. A caller that runs out of time leaves its write in its
/// place in the queue, and the task that owns the pipe finishes it.
pub(crate) struct Stdin {
    ledger: Mutex<Ledger>,
    queue: Queue,
    budget: Arc<Semaphore>,
    slots: Arc<Semaphore>,
    most_pending_bytes: u32,
    patience: Duration,
}

struct Ledger {
    door: Door,
    writes: HashMap<WriteId, Write>,
    order: VecDeque<WriteId>,
    remembered: usize,
}

#[derive(Clone, Copy)]
enum Door {
    Starting,
    Open,
    Closed,
}

struct Write {
    print: Print,
    progress: Progress,
}

enum Progress {
    Pending(watch::Receiver<Option<WriteOutcome>>),
    Done(WriteOutcome),
}

/// What is left to do for a write.
enum Way {
    Answered(WriteOutcome),
    Underway(watch::Receiver<Option<WriteOutcome>>),
    Open,
}

/// Tells a repeated write from another one under the same id.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Print(usize, u64);

impl Stdin {
    pub(crate) fn new(limits: &Limits) -> Self {
        let most_pending_bytes = u32::try_from(limits.pending_write_bytes).unwrap_or(u32::MAX);
        Self {
            ledger: Mutex::new(Ledger {
                door: Door::Starting,
                writes: HashMap::new(),
                order: VecDeque::new(),
                remembered: limits.remembered_writes,
            }),
            queue: Queue::new(limits.pending_write_bytes),
            budget: Arc::new(Semaphore::new(most_pending_bytes as usize)),
            slots: Arc::new(Semaphore::new(limits.pending_writes)),
            most_pending_bytes,
            patience: limits.write_timeout,
        }
    }

    /// Lets writes into the pipe, unless standard input was closed before there was one.
    pub(crate) fn open(&self, pipe: Pin<Box<dyn AsyncWrite + Send>>) -> bool {
        let mut ledger = lock(&self.ledger);
        match ledger.door {
            Door::Starting => {
                self.queue.open(pipe);
                ledger.door = Door::Open;
                true
            }
            Door::Open | Door::Closed => false,
        }
    }

    /// Refuses further writes; standard input is closed when those before are made.
    pub(crate) fn close(&self) {
        lock(&self.ledger).door = Door::Closed;
        self.budget.close();
        self.slots.close();
        self.queue.close();
    }

    /// Closes the pipe now; writes that are not made yet fail.
    pub(crate) fn abandon(&self) {
        self.close();
        self.queue.abandon();
    }

    /// Makes the writes that could not be made at once, one after the other, and closes the pipe after the last.
    pub(crate) async fn run(&self) {
        while let Some(receipts) = self.queue.made().await {
            for Receipt { id, done, .. } in receipts {
                self.settle(id, WriteOutcome::Accepted);
                done.send_replace(Some(WriteOutcome::Accepted));
            }
        }
        self.abandon();
    }

    /// Writes `bytes` now as far as the pipe takes them, and the rest after all that waits.
    pub(crate) fn feed(&self, bytes: Bytes) -> Result<(), FeedError> {
        self.queue.feed(bytes)
    }

    /// Writes `bytes` together with what others feed at the same time.
    pub(crate) fn feed_together(&self, bytes: Bytes) -> Result<(), FeedError> {
        self.queue.feed_together(bytes)
    }

    fn settle(&self, id: WriteId, outcome: WriteOutcome) {
        if let Some(write) = lock(&self.ledger).writes.get_mut(&id) {
            write.progress = Progress::Done(outcome);
        }
    }

    /// Writes `bytes`, or waits for the write that was made of them before.
    pub(crate) async fn write(&self, id: WriteId, bytes: Bytes) -> Result<WriteOutcome, WriteError> {
        match timeout(self.patience, self.submit(id, bytes)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(WriteError::TimedOut(id)),
        }
    }

    async fn submit(&self, id: WriteId, bytes: Bytes) -> Result<WriteOutcome, WriteError> {
        let print = Print::of(&bytes);
        match self.way(id, print)? {
            Way::Answered(outcome) => return Ok(outcome),
            Way::Underway(progress) => return Ok(settled(progress).await),
            Way::Open => {}
        }
        let cost = u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(self.most_pending_bytes);
        let Ok(budget) = Arc::clone(&self.budget).acquire_many_owned(cost).await else {
            return Ok(WriteOutcome::StdinClosed);
        };
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
            return Ok(WriteOutcome::StdinClosed);
        };
        let progress = {
            // From looking to queueing under one lock, so that the same write made twice at once is queued once.
            let mut ledger = lock(&self.ledger);
            match ledger.way(id, print)? {
                Way::Answered(outcome) => return Ok(outcome),
                Way::Underway(progress) => progress,
                Way::Open => {
                    let (done, progress) = watch::channel(None);
                    ledger.remember(id, print, progress.clone());
                    self.queue.push(Job::acknowledged(bytes, Receipt { id, done, _held: [budget, slot] }));
                    progress
                }
            }
        };
        Ok(settled(progress).await)
    }

    fn way(&self, id: WriteId, print: Print) -> Result<Way, WriteError> {
        lock(&self.ledger).way(id, print)
    }
}

/// Waits for a write that is in the queue. The task that dies with the process drops what it has not made.
async fn settled(mut progress: watch::Receiver<Option<WriteOutcome>>) -> WriteOutcome {
    match progress.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(outcome)) => *outcome,
        Ok(None) | Err(_) => WriteOutcome::StdinClosed,
    }
}

impl Ledger {
    /// Finds out what is left to do for a write.
    fn way(&self, id: WriteId, print: Print) -> Result<Way, WriteError> {
        match self.writes.get(&id) {
            Some(write) if write.print != print => return Err(WriteError::IdReused(id)),
            Some(Write { progress: Progress::Done(outcome), .. }) => return Ok(Way::Answered(*outcome)),
            Some(Write { progress: Progress::Pending(progress), .. }) => return Ok(Way::Underway(progress.clone())),
            None => {}
        }
        Ok(match self.door {
            Door::Starting => Way::Answered(WriteOutcome::Starting),
            Door::Closed => Way::Answered(WriteOutcome::StdinClosed),
            Door::Open => Way::Open,
        })
    }

    fn remember(&mut self, id: WriteId, print: Print, progress: watch::Receiver<Option<WriteOutcome>>) {
        self.order.push_back(id);
        self.writes.insert(id, Write { print, progress: Progress::Pending(progress) });
        // Writes are made in this order and more are remembered than can be pending, so the oldest is done.
        if self.order.len() > self.remembered
            && let Some(oldest) = self.order.pop_front()
        {
            self.writes.remove(&oldest);
        }
    }
}

impl Print {
    fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        Self(bytes.len(), hasher.finish())
    }
}
