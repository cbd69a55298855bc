//! What waits for the store's thread, bounded: changes that wait under their keys so that the last one wins, audit rows in
//! their order, and questions.

use crate::answer::Reply;
use crate::audit::AuditRow;
use crate::catalogs::Catalog;
use crate::error::StateError;
use crate::limits::Limits;
use crate::sessions::{Session, SessionKey};
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long audit rows and catalogs wait for others to be written with: a server says several things when it starts.
const LINGER: Duration = Duration::from_millis(100);
/// How long it may take until the file knows that something was used.
const USE_LINGER: Duration = Duration::from_secs(5);

/// A question with the place for its answer. It may be asked again after a connection that turned out to be broken, which
/// it says by returning the error; then nothing was answered.
pub(crate) type Question = Box<dyn FnMut(Asked<'_>) -> Result<(), rusqlite::Error> + Send>;

/// Whom a question is asked.
pub(crate) enum Asked<'a> {
    /// The file.
    File(&'a Connection),
    /// Nobody: this is the answer.
    Nobody(&'a StateError),
}

/// What the thread is asked to do, beside writing.
pub(crate) enum Request {
    /// A question to the file.
    Read(Question),
    /// To say when all before is in the file.
    Flush(Reply<()>),
    /// To remove what is too old or too much, and say how many rows.
    Tidy(Reply<usize>),
}

/// A change of a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CatalogChange {
    Put(Catalog),
    Used,
}

/// A change of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionChange {
    Put(Session),
    Touched(SystemTime),
    Removed,
}

impl SessionChange {
    /// This change and then another one, as one.
    fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Put(session), Self::Touched(used)) => Self::Put(Session { used: session.used.max(used), ..session }),
            (Self::Touched(before), Self::Touched(used)) => Self::Touched(before.max(used)),
            (Self::Removed, Self::Touched(_)) => Self::Removed,
            (_, next @ (Self::Put(_) | Self::Removed)) => next,
        }
    }
}

/// What is written together.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) catalogs: HashMap<String, CatalogChange>,
    pub(crate) sessions: HashMap<SessionKey, SessionChange>,
    pub(crate) audit: Vec<AuditRow>,
    audit_bytes: usize,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.catalogs.is_empty() && self.sessions.is_empty() && self.audit.is_empty()
    }

    /// How many of them somebody would miss.
    pub(crate) fn count(&self) -> usize {
        let puts = self.catalogs.values().filter(|change| **change != CatalogChange::Used).count();
        puts + self.sessions.len() + self.audit.len()
    }
}

/// All that the thread is to do next.
pub(crate) struct Work {
    pub(crate) changes: Changes,
    pub(crate) requests: Vec<Request>,
    /// Nothing will follow.
    pub(crate) is_last: bool,
}

/// Whether something was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    /// There is no room for it, or nobody who would write it.
    Dropped,
}

#[derive(Default)]
struct Waiting {
    changes: Changes,
    requests: Vec<Request>,
    /// When the thread is to look at it.
    due: Option<Instant>,
    is_closed: bool,
}

/// The queue of one store.
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    earlier: Condvar,
    limits: Limits,
}

impl Queue {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { waiting: Mutex::default(), earlier: Condvar::new(), limits }
    }

    pub(crate) fn catalog(&self, server: String, change: CatalogChange) -> Taken {
        let linger = if change == CatalogChange::Used { USE_LINGER } else { LINGER };
        let Some(mut waiting) = self.lock_open() else { return Taken::Dropped };
        let catalogs = &mut waiting.changes.catalogs;
        match (catalogs.get_mut(&server), change) {
            (Some(_), CatalogChange::Used) => return Taken::Yes,
            (Some(known), change) => *known = change,
            (None, change) => {
                if catalogs.len() >= self.limits.keys_waiting {
                    return Taken::Dropped;
                }
                catalogs.insert(server, change);
            }
        }
        self.look(waiting, linger)
    }

    pub(crate) fn session(&self, key: SessionKey, change: SessionChange) -> Taken {
        let linger = if let SessionChange::Touched(_) = change { USE_LINGER } else { Duration::ZERO };
        let Some(mut waiting) = self.lock_open() else { return Taken::Dropped };
        let sessions = &mut waiting.changes.sessions;
        if let Some(before) = sessions.remove(&key) {
            sessions.insert(key, before.then(change));
        } else {
            if sessions.len() >= self.limits.keys_waiting {
                return Taken::Dropped;
            }
            sessions.insert(key, change);
        }
        self.look(waiting, linger)
    }

    pub(crate) fn audit(&self, row: AuditRow) -> Taken {
        let bytes = row.bytes();
        let Some(mut waiting) = self.lock_open() else { return Taken::Dropped };
        let changes = &mut waiting.changes;
        let is_too_much = changes.audit_bytes.saturating_add(bytes) > self.limits.audit_waiting_bytes;
        if changes.audit.len() >= self.limits.audit_waiting || is_too_much {
            return Taken::Dropped;
        }
        changes.audit.push(row);
        changes.audit_bytes += bytes;
        self.look(waiting, LINGER)
    }

    /// Gives a request back that cannot be taken, with the reason.
    pub(crate) fn request(&self, request: Request) -> Result<(), (StateError, Request)> {
        let Some(mut waiting) = self.lock_open() else { return Err((StateError::Closed, request)) };
        let limit = self.limits.questions_waiting;
        if waiting.requests.len() >= limit {
            return Err((StateError::Busy { limit }, request));
        }
        waiting.requests.push(request);
        self.look(waiting, Duration::ZERO);
        Ok(())
    }

    /// Has the thread finish what there is, and then end.
    pub(crate) fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        self.look(waiting, Duration::ZERO);
    }

    /// Waits until there is something to do, or nothing was for so long; only for the thread.
    pub(crate) fn take(&self, longest: Duration) -> Work {
        let end = Instant::now() + longest;
        let mut waiting = self.lock();
        loop {
            let due = waiting.due.map_or(end, |due| due.min(end));
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            waiting = self.earlier.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let Waiting { changes, requests, is_closed, .. } = &mut *waiting;
        let work = Work { changes: std::mem::take(changes), requests: std::mem::take(requests), is_last: *is_closed };
        waiting.due = None;
        work
    }

    /// Has the thread look after so long, unless it does so earlier anyway.
    fn look(&self, mut waiting: MutexGuard<'_, Waiting>, linger: Duration) -> Taken {
        let due = Instant::now() + linger;
        if waiting.due.is_none_or(|before| due < before) {
            waiting.due = Some(due);
            drop(waiting);
            self.earlier.notify_one();
        }
        Taken::Yes
    }

    fn lock_open(&self) -> Option<MutexGuard<'_, Waiting>> {
        Some(self.lock()).filter(|waiting| !waiting.is_closed)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
