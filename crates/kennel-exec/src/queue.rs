//! The queue in front of a pipe: what cannot be written at once waits its turn.

use crate::error::FeedError;
use crate::ids::WriteId;
use crate::stdin::WriteOutcome;
use crate::sync::lock;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use tokio::io::AsyncWrite;
use tokio::sync::{OwnedSemaphorePermit, watch};

/// Bytes that are still to be written.
pub(crate) struct Job {
    rest: Bytes,
    receipt: Option<Receipt>,
}

/// Who waits for a write, and what of the bounds it holds meanwhile.
pub(crate) struct Receipt {
    pub(crate) id: WriteId,
    pub(crate) done: watch::Sender<Option<WriteOutcome>>,
    pub(crate) _held: [OwnedSemaphorePermit; 2],
}

impl Job {
    /// A write that somebody waits for.
    pub(crate) fn acknowledged(bytes: Bytes, receipt: Receipt) -> Self {
        Self { rest: bytes, receipt: Some(receipt) }
    }
}

/// A pipe and what waits for it. Whoever finds nothing waiting writes to the pipe itself; what the pipe does not take
/// is left to the one task that waits for it.
pub(crate) struct Queue {
    state: Mutex<State>,
    most_fed: usize,
}

struct State {
    pipe: Option<Pin<Box<dyn AsyncWrite + Send>>>,
    jobs: VecDeque<Job>,
    /// The bytes among them that nobody waits for.
    fed: usize,
    closing: bool,
    task: Option<Waker>,
}

impl Queue {
    pub(crate) fn new(most_fed: usize) -> Self {
        let state = State { pipe: None, jobs: VecDeque::new(), fed: 0, closing: false, task: None };
        Self { state: Mutex::new(state), most_fed }
    }

    pub(crate) fn open(&self, pipe: Pin<Box<dyn AsyncWrite + Send>>) {
        lock(&self.state).pipe = Some(pipe);
    }

    /// Closes the pipe after the last job.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closing = true;
        wake(state.task.take());
    }

    /// Closes the pipe now and drops the jobs.
    pub(crate) fn abandon(&self) {
        let mut state = lock(&self.state);
        state.closing = true;
        let rest = (state.pipe.take(), std::mem::take(&mut state.jobs));
        drop(state);
        drop(rest);
    }

    pub(crate) fn push(&self, job: Job) {
        let mut state = lock(&self.state);
        state.jobs.push_back(job);
        wake(state.task.take());
    }

    /// Writes as much as the pipe takes now and queues the rest, if that is within the bound; otherwise nothing is
    /// written.
    pub(crate) fn feed(&self, bytes: Bytes) -> Result<(), FeedError> {
        let mut state = lock(&self.state);
        if state.closing {
            return Err(FeedError::Closed);
        }
        if state.fed > 0 && state.fed + bytes.len() > self.most_fed {
            return Err(FeedError::Full);
        }
        let mut job = Job { rest: bytes, receipt: None };
        if state.jobs.is_empty()
            && let Some(pipe) = &mut state.pipe
        {
            // Nobody else waits for the pipe while no job does, so its waker may be replaced by none.
            match job.write(pipe.as_mut(), &mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(())) => return Ok(()),
                Poll::Ready(Err(_)) => return Err(FeedError::Closed),
                Poll::Pending => {}
            }
        }
        state.fed += job.rest.len();
        state.jobs.push_back(job);
        wake(state.task.take());
        Ok(())
    }

    /// Waits until jobs are done and returns the receipts of those somebody waits for; `None` when there will be no
    /// more. Only one task may call this. Safe to cancel.
    pub(crate) async fn made(&self) -> Option<Vec<Receipt>> {
        poll_fn(|context| self.poll_made(context)).await
    }

    fn poll_made(&self, context: &mut Context<'_>) -> Poll<Option<Vec<Receipt>>> {
        let mut state = lock(&self.state);
        let State { pipe: Some(pipe), jobs, fed, closing, task } = &mut *state else { return Poll::Ready(None) };
        let mut receipts = Vec::new();
        while let Some(job) = jobs.front_mut() {
            let before = job.rest.len();
            let written = job.write(pipe.as_mut(), context);
            if job.receipt.is_none() {
                *fed -= before - job.rest.len();
            }
            match written {
                Poll::Ready(Ok(())) => receipts.extend(jobs.pop_front().and_then(|job| job.receipt)),
                Poll::Ready(Err(_)) => return Poll::Ready(None),
                Poll::Pending if receipts.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        if !receipts.is_empty() {
            return Poll::Ready(Some(receipts));
        }
        if *closing {
            return Poll::Ready(None);
        }
        *task = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Job {
    fn write(
        &mut self,
        mut pipe: Pin<&mut (dyn AsyncWrite + Send)>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        while !self.rest.is_empty() {
            match pipe.as_mut().poll_write(context, &self.rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => self.rest.advance(written),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        pipe.poll_flush(context)
    }
}

fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}
