//! The one way this crate takes a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock that is never held over an await. A poisoned one is used as it is: nothing panics under these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
