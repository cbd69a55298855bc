//! How much all sessions together keep of what they sent.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A sum with a bound. It may be exceeded for a moment: whoever adds to it looks afterwards.
#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    most: usize,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Self {
        Self { used: AtomicUsize::new(0), most }
    }

    /// Says that somebody who used so much before uses so much now.
    pub(crate) fn change(&self, before: usize, after: usize) {
        if after >= before {
            self.used.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.used.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// By how much the bound is exceeded.
    pub(crate) fn excess(&self) -> usize {
        self.used.load(Ordering::Relaxed).saturating_sub(self.most)
    }
}
