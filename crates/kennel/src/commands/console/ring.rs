//! Owns the last of many things, for readers that come late and for those that stay.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The last things that were said, within bounds. Whoever adds one never waits; a reader that is too slow misses some, and
/// is told how many.
pub(crate) struct Ring<T> {
    state: Mutex<State<T>>,
    /// The number of the newest.
    newest: watch::Sender<u64>,
    most: usize,
    most_bytes: usize,
}

struct State<T> {
    entries: VecDeque<(T, usize)>,
    bytes: usize,
    /// How many there have been in all, which is the number of the newest.
    count: u64,
}

/// What is there after some number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page<T> {
    /// How many there were before these that are not kept any more.
    pub(crate) missed: u64,
    /// The things themselves, the oldest first.
    pub(crate) entries: Vec<T>,
    /// The number to go on after.
    pub(crate) last: u64,
}

impl<T: Clone> Ring<T> {
    /// An empty ring for so many things of so many bytes together; the newest is kept, however large.
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        let state = State { entries: VecDeque::new(), bytes: 0, count: 0 };
        Self { state: Mutex::new(state), newest: watch::Sender::new(0), most, most_bytes }
    }

    /// Adds one thing, for which the oldest may have to go.
    pub(crate) fn push(&self, entry: T, bytes: usize) {
        let mut state = self.state();
        state.entries.push_back((entry, bytes));
        state.bytes += bytes;
        state.count += 1;
        while state.entries.len() > 1 && (state.entries.len() > self.most || state.bytes > self.most_bytes) {
            if let Some((_, bytes)) = state.entries.pop_front() {
                state.bytes -= bytes;
            }
        }
        let count = state.count;
        drop(state);
        self.newest.send_if_modified(|newest| {
            let is_newer = *newest < count;
            *newest = count.max(*newest);
            is_newer
        });
    }

    /// What came after this number; 0 for all that is kept.
    pub(crate) fn after(&self, last: u64) -> Page<T> {
        let state = self.state();
        let first = state.count - state.entries.len() as u64;
        let skipped = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
        let entries = state.entries.iter().skip(skipped).map(|(entry, _)| entry.clone()).collect();
        // Whoever asks for all that is kept has missed nothing.
        let missed = if last == 0 { 0 } else { first.saturating_sub(last) };
        Page { missed, entries, last: state.count }
    }

    /// Waits until there is something after this number.
    pub(crate) async fn newer(&self, last: u64) {
        let mut newest = self.newest.subscribe();
        // Fails only if the ring is gone, and here it is.
        let _ = newest.wait_for(|newest| *newest > last).await;
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
