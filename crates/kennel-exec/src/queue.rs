//! The queue in front of a pipe: what cannot be written at once waits its turn.

use crate::error::FeedError;
use crate::ids::WriteId;
use crate::stdin::WriteOutcome;
use crate::sync::{lock, wake};
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::AsyncWrite;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::yield_now;

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

type Pipe = Pin<Box<dyn AsyncWrite + Send>>;

/// How many jobs are written at once.
const MOST_AT_ONCE: usize = 32;

/// A pipe and what waits for it.
///
/// Whoever feeds and finds the pipe free writes to it itself, also what others feed meanwhile: nobody waits for the
/// write of another, and many small writes become one. What the pipe does not take is left to the one task that waits
/// for it.
pub(crate) struct Queue {
    state: Mutex<State>,
    most_fed: usize,
}

struct State {
    pipe: Access,
    jobs: VecDeque<Job>,
    /// The bytes among them that nobody waits for.
    fed: usize,
    closing: bool,
    task: Option<Waker>,
}

/// Who has the pipe.
enum Access {
    /// Nobody yet.
    Unopened,
    Free(Pipe),
    /// A feeder that writes just now.
    Taken,
    Closed,
}

impl Queue {
    pub(crate) fn new(most_fed: usize) -> Self {
        let state = State { pipe: Access::Unopened, jobs: VecDeque::new(), fed: 0, closing: false, task: None };
        Self { state: Mutex::new(state), most_fed }
    }

    pub(crate) fn open(&self, pipe: Pipe) {
        lock(&self.state).pipe = Access::Free(pipe);
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
        let rest = (std::mem::replace(&mut state.pipe, Access::Closed), std::mem::take(&mut state.jobs));
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
        let mut state = self.admit(bytes.len())?;
        let job = Job { rest: bytes, receipt: None };
        if !state.jobs.is_empty() {
            // Somebody is on the way who writes it after those before.
            state.queue(job);
            return Ok(());
        }
        match std::mem::replace(&mut state.pipe, Access::Taken) {
            Access::Free(pipe) => {
                drop(state);
                self.write_as_feeder(pipe, job)
            }
            other => {
                state.pipe = other;
                state.queue(job);
                Ok(())
            }
        }
    }

    /// Queues bytes that are written together with what others feed at the same time.
    pub(crate) fn feed_together(&self, bytes: Bytes) -> Result<(), FeedError> {
        let mut state = self.admit(bytes.len())?;
        state.queue(Job { rest: bytes, receipt: None });
        wake(state.task.take());
        Ok(())
    }

    fn admit(&self, length: usize) -> Result<MutexGuard<'_, State>, FeedError> {
        let state = lock(&self.state);
        if state.closing {
            return Err(FeedError::Closed);
        }
        if state.fed > 0 && state.fed + length > self.most_fed {
            return Err(FeedError::Full);
        }
        Ok(state)
    }

    /// Writes a job, and what others feed meanwhile, until there is no more or the pipe is full.
    fn write_as_feeder(&self, mut pipe: Pipe, job: Job) -> Result<(), FeedError> {
        let mut batch = VecDeque::from([job]);
        let mut outcome = Ok(());
        let mut state = loop {
            // Nobody else waits for the pipe while a feeder has it, so its waker may be replaced by none.
            let mut context = Context::from_waker(Waker::noop());
            let written = write(pipe.as_mut(), &mut batch, &mut Done::default(), &mut context);
            let mut state = lock(&self.state);
            match written {
                Poll::Ready(Ok(())) => state.take_fed(&mut batch),
                Poll::Ready(Err(_)) => {
                    outcome = Err(FeedError::Closed);
                    break state;
                }
                Poll::Pending => {
                    state.give_back(batch);
                    break state;
                }
            }
            if batch.is_empty() {
                break state;
            }
        };
        if let Access::Taken = state.pipe {
            state.pipe = Access::Free(pipe);
        }
        if state.closing || !state.jobs.is_empty() {
            wake(state.task.take());
        }
        outcome
    }

    /// Waits for jobs, makes them, and returns the receipts of those somebody waits for; `None` when there will be no
    /// more. Only one task may call this. Safe to cancel.
    pub(crate) async fn made(&self) -> Option<Vec<Receipt>> {
        poll_fn(|context| self.poll_jobs(context)).await;
        // Whoever else is about to feed does so first, and all is written at once.
        yield_now().await;
        poll_fn(|context| self.poll_made(context)).await
    }

    /// Waits until there is something to do for the task.
    fn poll_jobs(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        let is_left_to_it = !state.jobs.is_empty() || state.closing;
        if is_left_to_it && !matches!(state.pipe, Access::Taken) {
            return Poll::Ready(());
        }
        // A feeder that has the pipe wakes this task if it leaves anything to do.
        state.task = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_made(&self, context: &mut Context<'_>) -> Poll<Option<Vec<Receipt>>> {
        let mut state = lock(&self.state);
        let State { pipe, jobs, fed, closing, .. } = &mut *state;
        let pipe = match pipe {
            Access::Free(pipe) => pipe,
            Access::Taken => return Poll::Ready(Some(Vec::new())),
            Access::Unopened | Access::Closed => return Poll::Ready(None),
        };
        let mut done = Done::default();
        let written = write(pipe.as_mut(), jobs, &mut done, context);
        *fed -= done.fed;
        match written {
            Poll::Ready(Err(_)) => Poll::Ready(None),
            Poll::Pending if done.receipts.is_empty() => Poll::Pending,
            Poll::Ready(Ok(())) if *closing && done.receipts.is_empty() => Poll::Ready(None),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Some(done.receipts)),
        }
    }
}

impl State {
    fn queue(&mut self, job: Job) {
        self.fed += job.rest.len();
        self.jobs.push_back(job);
    }

    /// Hands the first jobs to a feeder, as far as nobody waits for them: those are the task's.
    fn take_fed(&mut self, batch: &mut VecDeque<Job>) {
        while batch.len() < MOST_AT_ONCE
            && let Some(job) = self.jobs.pop_front_if(|job| job.receipt.is_none())
        {
            self.fed -= job.rest.len();
            batch.push_back(job);
        }
    }

    /// Takes back what a feeder could not write, before all that came meanwhile.
    fn give_back(&mut self, mut batch: VecDeque<Job>) {
        self.fed += batch.iter().map(|job| job.rest.len()).sum::<usize>();
        batch.append(&mut self.jobs);
        self.jobs = batch;
    }
}

/// What was written.
#[derive(Default)]
struct Done {
    /// Those of the jobs that somebody waits for.
    receipts: Vec<Receipt>,
    /// How many bytes of the others.
    fed: usize,
}

/// Writes the jobs, several at once, until there are none or the pipe takes no more. Written ones are taken out.
fn write(
    mut pipe: Pin<&mut (dyn AsyncWrite + Send)>,
    jobs: &mut VecDeque<Job>,
    done: &mut Done,
    context: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    while let Some(first) = jobs.front() {
        let written = if jobs.len() == 1 {
            pipe.as_mut().poll_write(context, &first.rest)
        } else {
            let mut slices = [IoSlice::new(&[]); MOST_AT_ONCE];
            for (slice, job) in slices.iter_mut().zip(&*jobs) {
                *slice = IoSlice::new(&job.rest);
            }
            let count = jobs.len().min(MOST_AT_ONCE);
            pipe.as_mut().poll_write_vectored(context, slices.get(..count).unwrap_or_default())
        };
        match ready!(written)? {
            0 if !first.rest.is_empty() => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            written => advance(jobs, written, done),
        }
    }
    pipe.poll_flush(context)
}

/// Takes out of the jobs what was written of them.
fn advance(jobs: &mut VecDeque<Job>, mut written: usize, done: &mut Done) {
    while let Some(job) = jobs.front_mut() {
        let part = job.rest.len().min(written);
        job.rest.advance(part);
        written -= part;
        if job.receipt.is_none() {
            done.fed += part;
        }
        if !job.rest.is_empty() {
            return;
        }
        done.receipts.extend(jobs.pop_front().and_then(|job| job.receipt));
    }
}
