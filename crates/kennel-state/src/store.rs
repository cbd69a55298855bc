//! The handle to the state: what everybody else may ask and say.

use crate::answer::Answer;
use crate::audit::{Arguments, AuditFilter, AuditRow};
use crate::catalogs::Catalog;
use crate::error::{StateError, Warning};
use crate::file::Place;
use crate::keeper::{Counts, Keeper, Report};
use crate::keys::AuditKey;
use crate::limits::{Counters, Limits};
use crate::queue::{Asked, CatalogChange, Queue, Request, SessionChange, Taken};
use crate::saved::{Kept, SavedLimits, SavedTool};
use crate::sessions::{Session, SessionKey};
use crate::{audit, catalogs, saved, sessions};
use rusqlite::Connection;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;

/// The state of Kennel. Cheap to clone; when the last handle is dropped, what waits is written and the file closed.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

struct Shared {
    place: Place,
    limits: Limits,
    queue: Arc<Queue>,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
    /// Says nothing, and that when the thread has closed the file.
    ended: watch::Receiver<()>,
}

impl Store {
    /// The state in a file, which is made if it is not there. Returns before it is opened. `report` hears, in the store's
    /// own thread, what the operator should; it must not hold a handle to this store.
    #[must_use]
    pub fn open(path: impl Into<PathBuf>, limits: Limits, report: impl Fn(&Warning) + Send + 'static) -> Self {
        Self::start(Place::File(path.into()), limits, Box::new(report))
    }

    /// A state that is forgotten with its last handle.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::start(Place::Memory, Limits::default(), Box::new(|_| {}))
    }

    fn start(place: Place, limits: Limits, report: Report) -> Self {
        let (queue, counts) = (Arc::new(Queue::new(limits.clone())), Arc::new(Counts::default()));
        let kept = (place.clone(), limits.clone(), Arc::clone(&counts), Arc::clone(&queue));
        let (ending, ended) = watch::channel(());
        let keep = move || {
            let _ending = ending;
            let (place, limits, counts, queue) = kept;
            let closing = Closing(queue);
            Keeper::new(place, limits, counts, report).run(&closing.0);
        };
        let thread = std::thread::Builder::new().name("kennel-state".to_owned()).spawn(keep).ok();
        if thread.is_none() {
            // Without a thread there is nobody to answer or write.
            queue.close();
        }
        Self(Arc::new(Shared { place, limits, queue, counts, thread, ended }))
    }

    /// Whether the file could be opened, answered when it is known.
    pub fn opened(&self) -> Answer<()> {
        self.read(|_| Ok(()))
    }

    /// The catalog of a server.
    pub fn catalog(&self, server: &str) -> Answer<Option<Catalog>> {
        let key = server.to_owned();
        let answer = self.read(move |connection| catalogs::get(connection, &key));
        // Noted later, with something else; one that is dropped is noted the next time.
        let _ = self.0.queue.catalog(server.to_owned(), CatalogChange::Used);
        answer
    }

    /// Puts the catalog of a server in place of the one that is there.
    pub fn put_catalog(&self, server: &str, catalog: Catalog) {
        let taken = self.0.queue.catalog(server.to_owned(), CatalogChange::Put(catalog));
        count(taken, &self.0.counts.dropped_changes);
    }

    /// A session by the key of its id.
    pub fn session(&self, key: SessionKey) -> Answer<Option<Session>> {
        self.read(move |connection| sessions::get(connection, key))
    }

    /// The sessions of an endpoint, or of all endpoints where none is named: at most so many, the last used first.
    pub fn sessions(&self, endpoint: Option<&str>, most: u32) -> Answer<Vec<(SessionKey, Session)>> {
        let endpoint = endpoint.map(ToOwned::to_owned);
        self.read(move |connection| sessions::all(connection, endpoint.as_deref(), most))
    }

    /// Keeps a session, in place of what is kept of it.
    pub fn put_session(&self, key: SessionKey, session: Session) {
        count(self.0.queue.session(key, SessionChange::Put(session)), &self.0.counts.dropped_changes);
    }

    /// Notes that a session was used; one that is not there stays away.
    pub fn touch_session(&self, key: SessionKey, used: SystemTime) {
        count(self.0.queue.session(key, SessionChange::Touched(used)), &self.0.counts.dropped_changes);
    }

    /// Forgets a session.
    pub fn remove_session(&self, key: SessionKey) {
        count(self.0.queue.session(key, SessionChange::Removed), &self.0.counts.dropped_changes);
    }

    /// Forgets the sessions that were last used before this moment, and says how many.
    pub fn expire_sessions(&self, before: SystemTime) -> Answer<usize> {
        self.read(move |connection| sessions::expire(connection, before))
    }

    /// Keeps a tool of somebody, if they may have it beside their others.
    pub fn save_tool(&self, tool: SavedTool, limits: SavedLimits) -> Answer<Kept> {
        self.read(move |connection| saved::put(connection, &tool, limits))
    }

    /// The saved tools of an owner in one view, or in all, by views and names.
    pub fn saved_tools(&self, owner: &str, view: Option<&str>) -> Answer<Vec<SavedTool>> {
        let (owner, view) = (owner.to_owned(), view.map(ToOwned::to_owned));
        self.read(move |connection| saved::all(connection, &owner, view.as_deref()))
    }

    /// Forgets a saved tool, and says whether it was there.
    pub fn remove_tool(&self, owner: &str, view: &str, name: &str) -> Answer<bool> {
        let (owner, view, name) = (owner.to_owned(), view.to_owned(), name.to_owned());
        self.read(move |connection| saved::remove(connection, &owner, &view, &name))
    }

    /// Adds a call to the audit log, unless too many wait to be written: then it is dropped and counted.
    pub fn record(&self, mut row: AuditRow) {
        row.arguments.cut(self.0.limits.argument_bytes);
        row.cut_name(self.0.limits.name_bytes);
        count(self.0.queue.audit(row), &self.0.counts.dropped_audit);
    }

    /// Calls of the audit log, at most so many, the newest first.
    pub fn audit(&self, filter: AuditFilter, most: u32) -> Answer<Vec<AuditRow>> {
        self.read(move |connection| audit::query(connection, &filter, most))
    }

    /// The digest under which the audit log of this state keeps these arguments.
    pub fn digest(&self, arguments: &[u8]) -> Answer<String> {
        let hash = Arguments::hashed(arguments).hash.unwrap_or_default();
        self.read(move |connection| Ok(AuditKey::of(connection)?.digest(&hash)))
    }

    /// Removes what is too old or too much, as happens every hour, and says how many rows that were.
    pub fn tidy(&self) -> Answer<usize> {
        let (reply, answer) = Answer::new();
        self.request(Request::Tidy(reply)).map_or_else(|error| Answer::ready(Err(error)), |()| answer)
    }

    /// Answered when all that was said before is in the file, or with what kept it from getting there.
    pub fn flush(&self) -> Answer<()> {
        let (reply, answer) = Answer::new();
        self.request(Request::Flush(reply)).map_or_else(|error| Answer::ready(Err(error)), |()| answer)
    }

    /// Writes what waits, closes the file and takes nothing more, for all handles. Dropping the last handle does the
    /// same, but blocks.
    pub async fn close(&self) -> Result<(), StateError> {
        let flushed = self.flush();
        self.0.queue.close();
        let flushed = flushed.await;
        // An error is what it waits for: the other end is gone.
        let _ = self.0.ended.clone().changed().await;
        flushed
    }

    /// What was counted since the store was opened.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.0.counts.read()
    }

    fn read<T: Send + 'static>(&self, read: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static) -> Answer<T> {
        let (reply, answer) = Answer::new();
        let mut reply = Some(reply);
        let mut say = move |outcome| {
            // Whoever has asked may be gone.
            let _ = reply.take().map(|reply| reply.send(outcome));
        };
        let question = move |asked: Asked<'_>| {
            match asked {
                Asked::File(connection) => say(Ok(read(connection)?)),
                Asked::Nobody(error) => say(Err(error.clone())),
            }
            Ok(())
        };
        self.request(Request::Read(Box::new(question))).map_or_else(|error| Answer::ready(Err(error)), |()| answer)
    }

    fn request(&self, request: Request) -> Result<(), StateError> {
        self.0.queue.request(request).map_err(|(error, _)| error)
    }
}

/// Sees to it that nobody waits for a thread that is gone, whyever it is.
struct Closing(Arc<Queue>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
        // Whoever waits for an answer hears that there will be none.
        drop(self.0.take(Duration::ZERO));
    }
}

fn count(taken: Taken, dropped: &AtomicU64) {
    if taken == Taken::Dropped {
        dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Store").field(&self.0.place.path()).finish()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // It reports what it could not write by itself.
            let _ = thread.join();
        }
    }
}
