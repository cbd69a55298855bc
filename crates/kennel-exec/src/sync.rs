//! The one way this crate takes a lock, and wakes a task that waits for what changed under it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Takes a lock that is never held over an await.
///
/// A poisoned lock is used as it is: the code under these locks does not panic half-way through a change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes a task, if one waits.
pub(crate) fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}
