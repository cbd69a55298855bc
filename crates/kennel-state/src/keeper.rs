//! The thread that alone has the file open: it writes what waits in one transaction, answers questions, and now and then
//! removes what is too old.

use crate::error::{StateError, Warning};
use crate::file::{Opened, Place, is_damage};
use crate::limits::{Counters, Limits};
use crate::queue::{Asked, CatalogChange, Changes, Question, Queue, Request, SessionChange};
use crate::{audit, catalogs, sessions};
use rusqlite::{Connection, TransactionBehavior};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long after the start old rows are first looked for: not before everybody has what they need.
const FIRST_TIDY: Duration = Duration::from_secs(10);
/// How often they are looked for.
const TIDY_INTERVAL: Duration = Duration::from_hours(1);
/// How many rows of a kind are removed at once, so that nobody waits long for the file.
const TIDY_ROWS: u32 = 5000;
/// After which part of the rows that are kept, or of the bytes of the file, they are looked for sooner.
const TIDY_PART: u64 = 16;
/// It takes at least so many rows, which are little however few are kept.
const MANY_ROWS: u64 = 50_000;

/// What is counted, shared with the handles.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) written: AtomicU64,
    pub(crate) dropped_audit: AtomicU64,
    pub(crate) dropped_changes: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Counts {
    pub(crate) fn read(&self) -> Counters {
        Counters {
            written: self.written.load(Ordering::Relaxed),
            dropped_audit: self.dropped_audit.load(Ordering::Relaxed),
            dropped_changes: self.dropped_changes.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

/// Hears what the operator should.
pub(crate) type Report = Box<dyn Fn(&Warning) + Send>;

/// The thread's own.
pub(crate) struct Keeper {
    place: Place,
    limits: Limits,
    counts: Arc<Counts>,
    report: Report,
    state: Result<Opened, StateError>,
    /// What went wrong since somebody last asked whether all is written.
    failure: Option<StateError>,
    /// What the operator knows of rows that were lost.
    losses: Losses,
    /// How many audit rows, and how many bytes in them, were written since old ones were last looked for.
    written: (u64, u64),
}

/// What was lost, and what was said of it: at once, then once in each interval, and at the end.
#[derive(Default)]
struct Losses {
    failed: Told,
    dropped: Told,
    /// Why writing failed last.
    cause: Option<StateError>,
    /// When something was last said.
    said: Option<Instant>,
}

#[derive(Default)]
struct Told {
    total: u64,
    told: u64,
}

impl Told {
    /// How many are to be told, with those before; they are told with this.
    fn take(&mut self) -> Option<(u64, u64)> {
        let count = self.total - self.told;
        self.told = self.total;
        (count > 0).then_some((count, self.total))
    }
}

impl Keeper {
    /// Opens the state.
    pub(crate) fn new(place: Place, limits: Limits, counts: Arc<Counts>, report: Report) -> Self {
        let state = place.open(&limits, &report);
        if let Err(error) = &state {
            report(&Warning::Unkept(error.clone()));
        }
        Self { place, limits, counts, report, state, failure: None, losses: Losses::default(), written: (0, 0) }
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self, queue: &Queue) {
        let mut next_tidy = Instant::now() + FIRST_TIDY;
        loop {
            let next = self.next_loss().map_or(next_tidy, |next| next.min(next_tidy));
            let work = queue.take(next.saturating_duration_since(Instant::now()));
            self.write(&work.changes);
            self.tell_losses(work.is_last);
            for request in work.requests {
                match request {
                    Request::Read(question) => self.answer(question),
                    Request::Flush(reply) => {
                        let unopened = self.state.as_ref().err().cloned();
                        // Whoever has asked may be gone.
                        let _ = reply.send(self.failure.take().or(unopened).map_or(Ok(()), Err));
                    }
                    Request::Tidy(reply) => drop(reply.send(self.tidy_all())),
                }
            }
            if work.is_last {
                break;
            }
            if Instant::now() >= next_tidy || self.has_written_much() {
                self.written = (0, 0);
                // There is always a next time.
                let is_done = self.tidy().map_or(true, |removed| removed < TIDY_ROWS as usize);
                next_tidy = Instant::now() + if is_done { TIDY_INTERVAL } else { Duration::ZERO };
            }
        }
    }

    /// Whether so much was written that there may be too much before the hour is over.
    fn has_written_much(&self) -> bool {
        let (rows, bytes) = self.written;
        rows > (self.limits.audit_rows / TIDY_PART).max(MANY_ROWS) || bytes > self.limits.file_bytes / TIDY_PART
    }

    fn write(&mut self, changes: &Changes) {
        if changes.is_empty() {
            return;
        }
        self.written.0 += changes.audit.len() as u64;
        self.written.1 += changes.audit.iter().map(|row| row.bytes() as u64).sum::<u64>();
        let count = changes.count();
        match self.attempt(|connection| write(connection, changes)) {
            Ok(()) => {
                self.counts.written.fetch_add(count as u64, Ordering::Relaxed);
            }
            Err(cause) => {
                self.counts.failed.fetch_add(count as u64, Ordering::Relaxed);
                // That nothing is kept was said when it could not be opened.
                if self.state.is_ok() {
                    self.losses.failed.total += count as u64;
                    self.losses.cause = Some(cause.clone());
                }
                self.failure = Some(cause);
            }
        }
    }

    /// When the next losses are to be told, where there are any.
    fn next_loss(&self) -> Option<Instant> {
        let Losses { failed, dropped, said, .. } = &self.losses;
        let is_untold = failed.total > failed.told || dropped.total > dropped.told;
        is_untold.then_some(said.map_or_else(Instant::now, |said| said + self.limits.loss_interval))
    }

    /// Tells the operator how many rows were lost, unless that was a moment ago and there is a next time.
    fn tell_losses(&mut self, is_last: bool) {
        if self.state.is_ok() {
            self.losses.dropped.total = self.counts.dropped_audit.load(Ordering::Relaxed);
        }
        let is_due = self.next_loss().is_some_and(|next| is_last || Instant::now() >= next);
        if !is_due {
            return;
        }
        self.losses.said = Some(Instant::now());
        if let (Some((count, total)), Some(cause)) = (self.losses.failed.take(), self.losses.cause.clone()) {
            (self.report)(&Warning::Lost { count, total, cause });
        }
        if let Some((count, total)) = self.losses.dropped.take() {
            (self.report)(&Warning::Dropped { count, total });
        }
    }

    fn answer(&mut self, mut question: Question) {
        if let Err(error) = self.attempt(|connection| question(Asked::File(connection))) {
            // It was said to nobody yet.
            let _ = question(Asked::Nobody(&error));
        }
    }

    fn tidy_all(&mut self) -> Result<usize, StateError> {
        let mut all = 0;
        loop {
            let removed = self.tidy()?;
            all += removed;
            if removed < TIDY_ROWS as usize {
                return Ok(all);
            }
        }
    }

    /// Removes some of what is too old or too much.
    fn tidy(&mut self) -> Result<usize, StateError> {
        let limits = self.limits.clone();
        self.attempt(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let removed =
                audit::expire(&transaction, limits.audit_age, limits.audit_rows, limits.file_bytes, TIDY_ROWS)?
                    + sessions::expire_some(&transaction, limits.session_age, TIDY_ROWS)?
                    + catalogs::expire(&transaction, limits.catalog_age, TIDY_ROWS)?;
            transaction.commit()?;
            Ok(removed)
        })
    }

    /// Does something with the file; once more with a new one if it turns out to be damaged.
    fn attempt<T>(&mut self, mut act: impl FnMut(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StateError> {
        let opened = self.state.as_mut().map_err(|error| error.clone())?;
        let outcome = match act(&mut opened.connection) {
            Err(error) if is_damage(&error) => {
                self.begin_anew(&error);
                act(&mut self.state.as_mut().map_err(|error| error.clone())?.connection)
            }
            outcome => outcome,
        };
        outcome.map_err(|source| StateError::Failed { path: self.place.path().to_owned(), source: Arc::new(source) })
    }

    fn begin_anew(&mut self, cause: &rusqlite::Error) {
        let Ok(damaged) = std::mem::replace(&mut self.state, Err(StateError::Closed)) else { return };
        self.state = self.place.open_anew(damaged, cause, &self.limits, &self.report);
        if let Err(error) = &self.state {
            (self.report)(&Warning::Unkept(error.clone()));
        }
    }
}

/// Writes everything, or nothing.
fn write(connection: &mut Connection, changes: &Changes) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (server, change) in &changes.catalogs {
        match change {
            CatalogChange::Put(catalog) => catalogs::put(&transaction, server, catalog)?,
            CatalogChange::Used => catalogs::used(&transaction, server)?,
        }
    }
    for (key, change) in &changes.sessions {
        match change {
            SessionChange::Put(session) => sessions::put(&transaction, *key, session)?,
            SessionChange::Touched(used) => sessions::touch(&transaction, *key, *used)?,
            SessionChange::Removed => sessions::remove(&transaction, *key)?,
        }
    }
    audit::record(&transaction, &changes.audit)?;
    transaction.commit()
}
