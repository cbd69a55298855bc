//! When a silent stream gives a sign of life.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// Beats when nothing was sent for so long.
#[derive(Debug)]
pub(crate) struct Pulse {
    rhythm: Duration,
    next: Pin<Box<Sleep>>,
}

impl Pulse {
    pub(crate) fn new(rhythm: Duration) -> Self {
        Self { rhythm, next: Box::pin(sleep(rhythm)) }
    }

    /// Ready when it is time for a sign of life; from then on it is counted anew.
    pub(crate) fn poll_beat(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let beat = self.next.as_mut().poll(context);
        if beat.is_ready() {
            self.rest();
        }
        beat
    }

    /// Something was sent: puts the next sign of life off.
    pub(crate) fn rest(&mut self) {
        self.next.as_mut().reset(Instant::now() + self.rhythm);
    }
}
