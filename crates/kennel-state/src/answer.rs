//! The answer to a question: awaited by tasks, or waited for by those who cannot.

use crate::error::StateError;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// What the store's thread will say. Dropping it takes the question back as far as anybody can notice.
#[derive(Debug)]
#[must_use = "an answer that nobody looks at was not worth asking for"]
pub struct Answer<T>(oneshot::Receiver<Result<T, StateError>>);

/// Where an answer is put.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, StateError>>;

impl<T> Answer<T> {
    pub(crate) fn new() -> (Reply<T>, Self) {
        let (reply, answer) = oneshot::channel();
        (reply, Self(answer))
    }

    pub(crate) fn ready(outcome: Result<T, StateError>) -> Self {
        let (reply, answer) = Self::new();
        // The receiver is right here.
        let _ = reply.send(outcome);
        answer
    }

    /// Blocks the thread until the answer is there, but no longer than this. For what must be known before a task can be
    /// given anything to do; everybody else awaits.
    pub fn wait(self, longest: Duration) -> Result<T, StateError> {
        let deadline = Instant::now() + longest;
        let mut answer = pin!(self);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(outcome) = answer.as_mut().poll(&mut context) {
                return outcome;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StateError::Late);
            }
            std::thread::park_timeout(left);
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Result<T, StateError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|said| said.unwrap_or(Err(StateError::Closed)))
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
