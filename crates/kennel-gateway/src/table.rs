//! The table of HTTP sessions: whose they are, how long they have been unused, and which one goes when a place is needed.

use crate::sync::lock;
use kennel_hub::Principal;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Sessions by their ids.
#[derive(Debug)]
pub(crate) struct Table<T> {
    state: Mutex<State<T>>,
    most: usize,
    floor: Duration,
    /// What the times of use are counted from.
    epoch: Instant,
}

#[derive(Debug)]
struct State<T> {
    entries: HashMap<Box<str>, Arc<Entry<T>>>,
    /// Places for sessions that are being made.
    reserved: usize,
}

/// A session in the table.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    principal: Principal,
    users: AtomicUsize,
    /// Milliseconds since the table's epoch.
    used: AtomicU64,
    epoch: Instant,
    pub(crate) value: T,
}

/// Says, as long as it lives, that a session is in use.
#[derive(Debug)]
pub(crate) struct InUse<T>(Arc<Entry<T>>);

/// A place in the table for a session that is being made.
#[derive(Debug)]
pub(crate) struct Place<T>(Arc<Table<T>>);

/// A place, and the session that had to go for it.
pub(crate) type Reserved<T> = (Place<T>, Option<Arc<Entry<T>>>);

/// All places are taken by sessions in use; one may be free after this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) retry_after: Duration,
}

impl<T> Table<T> {
    pub(crate) fn new(most: usize, floor: Duration) -> Arc<Self> {
        let state = Mutex::new(State { entries: HashMap::new(), reserved: 0 });
        Arc::new(Self { state, most, floor, epoch: Instant::now() })
    }

    /// Reserves a place, for which the session that was unused the longest may have to go. It is returned to be ended.
    pub(crate) fn reserve(self: &Arc<Self>) -> Result<Reserved<T>, Full> {
        let mut state = lock(&self.state);
        let mut evicted = None;
        if state.entries.len() + state.reserved >= self.most {
            evicted = Some(self.evict_from(&mut state)?);
        }
        state.reserved += 1;
        Ok((Place(Arc::clone(self)), evicted))
    }

    /// Takes out the session that was unused the longest, if that is long enough.
    pub(crate) fn evict(&self) -> Result<Arc<Entry<T>>, Full> {
        self.evict_from(&mut lock(&self.state))
    }

    fn evict_from(&self, state: &mut State<T>) -> Result<Arc<Entry<T>>, Full> {
        let idle = state.entries.iter().filter_map(|(id, entry)| Some((entry.unused()?, id)));
        let Some((unused, id)) = idle.max().map(|(unused, id)| (unused, id.clone())) else {
            return Err(Full { retry_after: self.floor });
        };
        if unused < self.floor {
            return Err(Full { retry_after: self.floor.saturating_sub(unused) });
        }
        state.entries.remove(&id).ok_or(Full { retry_after: self.floor })
    }

    /// The session with this id, if it belongs to the principal. It counts as used.
    pub(crate) fn get(&self, id: &str, principal: &Principal) -> Option<InUse<T>> {
        let state = lock(&self.state);
        let entry = state.entries.get(id).filter(|entry| entry.principal == *principal)?;
        // Under the lock, so that it cannot be taken for idle and removed at the same time.
        Some(InUse::new(entry))
    }

    /// Takes a session out, if it belongs to the principal.
    pub(crate) fn remove(&self, id: &str, principal: &Principal) -> Option<Arc<Entry<T>>> {
        let mut state = lock(&self.state);
        state.entries.get(id).filter(|entry| entry.principal == *principal)?;
        state.entries.remove(id)
    }

    /// Takes all sessions out that were unused for so long.
    pub(crate) fn remove_idle(&self, longest: Duration) -> Vec<Arc<Entry<T>>> {
        let mut state = lock(&self.state);
        let idle = |entry: &Arc<Entry<T>>| entry.unused().is_some_and(|unused| unused >= longest);
        let removed = state.entries.extract_if(|_, entry| idle(entry)).map(|(_, entry)| entry).collect();
        if state.entries.len() < state.entries.capacity() / 4 {
            state.entries.shrink_to_fit();
        }
        removed
    }

    /// All sessions.
    pub(crate) fn all(&self) -> Vec<Arc<Entry<T>>> {
        lock(&self.state).entries.values().cloned().collect()
    }

    /// Takes all sessions out.
    pub(crate) fn clear(&self) -> Vec<Arc<Entry<T>>> {
        lock(&self.state).entries.drain().map(|(_, entry)| entry).collect()
    }

    /// How many sessions there are.
    pub(crate) fn len(&self) -> usize {
        lock(&self.state).entries.len()
    }
}

impl<T> Place<T> {
    /// Puts the session into its place.
    pub(crate) fn take(self, id: &str, principal: &Principal, value: T) -> InUse<T> {
        let epoch = self.0.epoch;
        let (users, used) = (AtomicUsize::new(0), AtomicU64::new(milliseconds(epoch.elapsed())));
        let entry = Arc::new(Entry { principal: principal.clone(), users, used, epoch, value });
        let in_use = InUse::new(&entry);
        lock(&self.0.state).entries.insert(id.into(), entry);
        in_use
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        lock(&self.0.state).reserved -= 1;
    }
}

impl<T> Entry<T> {
    /// Whether it is in use, or was so recently.
    pub(crate) fn was_used_within(&self, longest: Duration) -> bool {
        self.unused().is_none_or(|unused| unused <= longest)
    }

    /// How long it was unused; `None` while it is in use.
    fn unused(&self) -> Option<Duration> {
        if self.users.load(Ordering::Acquire) > 0 {
            return None;
        }
        Some(self.epoch.elapsed().saturating_sub(Duration::from_millis(self.used.load(Ordering::Acquire))))
    }
}

impl<T> InUse<T> {
    fn new(entry: &Arc<Entry<T>>) -> Self {
        entry.users.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(entry))
    }
}

impl<T> std::ops::Deref for InUse<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> Drop for InUse<T> {
    fn drop(&mut self) {
        self.0.used.store(milliseconds(self.0.epoch.elapsed()), Ordering::Release);
        self.0.users.fetch_sub(1, Ordering::AcqRel);
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
