//! Waiting for something that almost never comes, beside something busy.

use futures_util::task::AtomicWaker;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is asked again only after it has called for that, however often the task around it wakes. To ask a
/// token whether it is cancelled takes locks that all connections share.
pub(crate) struct Rare<F> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
}

struct Bell {
    has_rung: AtomicBool,
    task: AtomicWaker,
}

/// Waits for `future`.
pub(crate) fn rarely<F: Future>(future: F) -> Rare<F> {
    let bell = Bell { has_rung: AtomicBool::new(true), task: AtomicWaker::new() };
    Rare { future: Box::pin(future), bell: Arc::new(bell) }
}

impl<F: Future> Future for Rare<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Before looking, so that a bell that rings after looking is heard.
        self.bell.task.register(context.waker());
        if !self.bell.has_rung.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        self.bell.has_rung.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&self.bell));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, poll_fn};
    use std::sync::atomic::AtomicUsize;
    use tokio::sync::Notify;
    use tokio::task::yield_now;

    #[tokio::test]
    async fn it_is_not_asked_while_only_others_wake() {
        let asked = AtomicUsize::new(0);
        let counted = poll_fn(|context| {
            asked.fetch_add(1, Ordering::Relaxed);
            std::pin::pin!(pending::<()>()).poll(context)
        });
        let mut rare = rarely(counted);
        for _ in 0..10 {
            tokio::select! {
                biased;
                () = &mut rare => unreachable!("it never comes"),
                () = yield_now() => {}
            }
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn it_is_heard_when_it_calls() {
        for _ in 0..1000 {
            let comes = Arc::new(Notify::new());
            let waiting = tokio::spawn({
                let comes = Arc::clone(&comes);
                async move { rarely(comes.notified()).await }
            });
            yield_now().await;
            comes.notify_one();
            waiting.await.expect("it comes");
        }
    }
}
