//! Who reads the standard output of a process: a task of the executor, or the one consumer that waits for it.
//!
//! A consumer that reads the pipe in its own task saves a wake for every chunk, which is most of what a small message
//! costs. In exchange nothing is read ahead for it while it does something else.

use crate::sync::{lock, wake};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

type Reading = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The reading of one pipe, which whoever is entitled drives on.
#[derive(Default)]
pub(crate) struct Outlet(Mutex<State>);

#[derive(Default)]
struct State {
    reading: Option<Reading>,
    /// How many consumers read for themselves.
    consumers: usize,
    /// The process has ended: the task reads what is left, whatever consumers do.
    is_last_call: bool,
    task: Option<Waker>,
}

impl Outlet {
    /// Begins to read.
    pub(crate) fn open(&self, reading: impl Future<Output = ()> + Send + 'static) {
        lock(&self.0).reading = Some(Box::pin(reading));
    }

    /// A consumer reads for itself from now on.
    pub(crate) fn enter(&self) {
        lock(&self.0).consumers += 1;
    }

    /// A consumer no longer does.
    pub(crate) fn leave(&self) {
        let mut state = lock(&self.0);
        state.consumers = state.consumers.saturating_sub(1);
        wake(state.task.take());
    }

    /// The process has ended.
    pub(crate) fn last_call(&self) {
        let mut state = lock(&self.0);
        state.is_last_call = true;
        wake(state.task.take());
    }

    /// Reads for a consumer that has entered, as far as there is something to read.
    pub(crate) fn read(&self, context: &mut Context<'_>) {
        let mut state = lock(&self.0);
        if !state.is_last_call {
            state.drive(context);
        }
    }

    /// Reads to the end while no consumer does. What is not read when this is dropped is never read.
    pub(crate) async fn run(&self) {
        let _given_up = GivenUp(self);
        poll_fn(|context| {
            let mut state = lock(&self.0);
            if state.consumers == 0 || state.is_last_call {
                state.drive(context);
            }
            if state.reading.is_none() {
                return Poll::Ready(());
            }
            state.task = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl State {
    fn drive(&mut self, context: &mut Context<'_>) {
        if let Some(reading) = &mut self.reading
            && reading.as_mut().poll(context).is_ready()
        {
            self.reading = None;
            wake(self.task.take());
        }
    }
}

/// Lets go of the pipe with the task.
struct GivenUp<'a>(&'a Outlet);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        let reading = lock(&self.0.0).reading.take();
        drop(reading);
    }
}
