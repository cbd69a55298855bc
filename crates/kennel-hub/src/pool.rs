//! What all parts of the hub of one server share, and the pool of its exchanges: which there are, and how many may be.

use crate::book::Book;
use crate::callers::Callers;
use crate::client::{Client, ClientKey, Introduction};
use crate::exchange::{Exchange, Sharing};
use crate::fault::Fault;
use crate::front::Front;
use crate::observer::Observer;
use crate::principal::Principal;
use crate::results::Results;
use crate::seal::{Errand, Sealer};
use crate::settings::{ProcessModel, ServerSettings};
use crate::status::Counters;
use crate::sync::lock;
use kennel_supervisor::{EraPlan, Launcher, Stage};
use kennel_wire::{Era, Message};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The id of the last question to a client. One for all processes of all servers, for a client may be asked by several.
static QUESTIONS: AtomicI64 = AtomicI64::new(0);

/// The id under which a client sees the next question of a process.
pub(crate) fn next_question() -> i64 {
    QUESTIONS.fetch_add(1, Ordering::Relaxed) + 1
}

/// What all parts of the hub share.
pub(crate) struct Core {
    pub(crate) settings: ServerSettings,
    pub(crate) supervision: kennel_supervisor::Settings,
    pub(crate) launcher: Arc<dyn Launcher>,
    pub(crate) stage: Stage,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) counters: Counters,
    pub(crate) book: Arc<Book>,
    pub(crate) results: Results,
    pub(crate) tasks: TaskTracker,
    /// For what follows the end of a session, which may be dropped anywhere.
    runtime: Handle,
    pub(crate) closing: CancellationToken,
    /// What has taken this one's place; see [`Core::successor`].
    pub(crate) successor: RwLock<Option<Arc<Core>>>,
    /// What stands before the server at its own address.
    pub(crate) front: RwLock<Arc<Front>>,
    /// Why nothing is started just now, if somebody wants it so.
    pub(crate) held: Mutex<Option<String>>,
    /// Seals what clients without sessions carry from round to round.
    pub(crate) sealer: Option<Sealer>,
    /// What the times in what is sealed are counted from.
    pub(crate) epoch: Instant,
    /// Says that there is something that could take too long.
    watched: Notify,
    /// Says that there is a caller.
    pub(crate) called: Notify,
    pub(crate) pool: Mutex<Pool>,
    /// Why the last process that was started only to try the server out did not come up.
    pub(crate) trial_failure: Mutex<Option<String>>,
    /// One at a time finds out what the server offers; it holds when that last failed.
    pub(crate) learning: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

/// The exchanges and sessions that there are.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) exchanges: HashMap<String, Arc<Exchange>>,
    pub(crate) sessions: usize,
    /// The sessions of callers that open none.
    pub(crate) callers: Callers,
}

/// A number that nothing else in this process has: sessions go from one hub to another.
pub(crate) fn unique_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Core {
    pub(crate) fn new(
        settings: ServerSettings,
        supervision: kennel_supervisor::Settings,
        launcher: Arc<dyn Launcher>,
        observer: Arc<dyn Observer>,
        stage: Stage,
    ) -> Arc<Self> {
        let core = Arc::new(Core {
            book: Book::open(settings.catalog.as_ref(), settings.limits.catalog_bytes),
            results: Results::new(settings.results.clone(), settings.limits.kept_result_bytes),
            settings,
            supervision,
            launcher,
            stage,
            observer,
            counters: Counters::default(),
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
            closing: CancellationToken::new(),
            successor: RwLock::default(),
            front: RwLock::default(),
            held: Mutex::default(),
            sealer: Sealer::new(),
            epoch: Instant::now(),
            watched: Notify::new(),
            called: Notify::new(),
            pool: Mutex::default(),
            trial_failure: Mutex::default(),
            learning: Arc::default(),
        });
        let (watch, closing) = (Arc::clone(&core), core.closing.clone());
        core.tasks.spawn(async move { closing.run_until_cancelled(watch.sweep()).await });
        let (tended, closing) = (Arc::clone(&core), core.closing.clone());
        core.tasks.spawn(async move { closing.run_until_cancelled(tended.tend_callers()).await });
        core
    }

    /// The exchange with this name, made if it is not there.
    pub(crate) fn exchange(
        self: &Arc<Self>,
        name: String,
        sharing: Sharing,
        introduction: &Introduction,
    ) -> Result<Arc<Exchange>, Fault> {
        self.found(&mut lock(&self.pool), name, sharing, introduction, None)
    }

    /// The exchange with this name, with a client that joins it before anybody can think that it has none.
    pub(crate) fn joined(
        self: &Arc<Self>,
        client: &Arc<Client>,
        name: String,
        sharing: Sharing,
        introduction: &Introduction,
    ) -> Result<Arc<Exchange>, Fault> {
        let owner = Some(&client.principal).filter(|_| self.settings.model != ProcessModel::Shared);
        let mut pool = lock(&self.pool);
        let exchange = self.found(&mut pool, name, sharing, introduction, owner)?;
        exchange.join(client);
        Ok(exchange)
    }

    /// The exchange that serves a session, with the session in it: its own, or one that it shares.
    pub(crate) fn assigned(self: &Arc<Self>, client: &Arc<Client>) -> Result<Arc<Exchange>, Fault> {
        let ClientKey(key) = client.key;
        match self.settings.model {
            ProcessModel::Shared => {
                self.joined(client, "shared".to_owned(), Sharing::Shared, &Introduction::of_kennel())
            }
            ProcessModel::PerUser => {
                let name = format!("user {}", client.principal);
                self.joined(client, name, Sharing::Shared, &Introduction::of_kennel())
            }
            ProcessModel::PerSession => {
                self.joined(client, format!("session {key}"), Sharing::Solitary, &client.introduction)
            }
            ProcessModel::PerCall => {
                self.joined(client, format!("catalog {key}"), Sharing::Solitary, &client.introduction)
            }
        }
    }

    fn found(
        self: &Arc<Self>,
        pool: &mut Pool,
        name: String,
        sharing: Sharing,
        introduction: &Introduction,
        owner: Option<&Principal>,
    ) -> Result<Arc<Exchange>, Fault> {
        // Under the lock under which the shutdown empties the pool, so that nothing is made behind its back.
        if self.closing.is_cancelled() {
            let cause = "Kennel is being shut down";
            return Err(Fault::unavailable(&self.settings.name, kennel_supervisor::Phase::Runtime, cause));
        }
        if let Some(reason) = &*lock(&self.held) {
            return Err(Fault::unavailable(&self.settings.name, kennel_supervisor::Phase::Runtime, reason));
        }
        if let Some(exchange) = pool.exchanges.get(&name) {
            return Ok(Arc::clone(exchange));
        }
        if pool.exchanges.len() >= self.settings.limits.instances && !self.make_room(pool) {
            return Err(Fault::saturated("processes of this server", self.settings.limits.instances));
        }
        let exchange = Exchange::new(self, unique_number(), name.clone(), sharing, introduction, owner);
        pool.exchanges.insert(name, Arc::clone(&exchange));
        Ok(exchange)
    }

    /// Ends a process that nobody has a session with any more, and says whether there was one.
    fn make_room(&self, pool: &mut Pool) -> bool {
        let is_unused =
            |exchange: &Exchange| exchange.sharing == Sharing::Shared && exchange.state().members.is_empty();
        let unused = pool.exchanges.iter().find(|(_, exchange)| is_unused(exchange)).map(|(name, _)| name.clone());
        let Some(exchange) = unused.and_then(|name| pool.exchanges.remove(&name)) else { return false };
        self.tasks.spawn_on(async move { exchange.end().await }, &self.runtime);
        true
    }

    /// In which era a process is tried first: as the server is defined; as its client talks, where it has one; in one
    /// that the server is known to speak; in the modern one, which says whom a message of the process is for.
    pub(crate) fn plan(&self, sharing: Sharing, era: Era) -> EraPlan {
        if let Some(first) = self.settings.era {
            return EraPlan { first, is_fixed: true };
        }
        let knows = self.book.eras();
        let first = match sharing {
            Sharing::Shared if knows.is_spoken(Era::Modern) => Era::Modern,
            Sharing::Shared if knows.is_spoken(Era::Legacy) => Era::Legacy,
            Sharing::Shared => Era::Modern,
            Sharing::Solitary | Sharing::OneCall => era,
        };
        let other = match first {
            Era::Legacy => Era::Modern,
            Era::Modern => Era::Legacy,
        };
        EraPlan { first: if knows.is_refused(first) { other } else { first }, is_fixed: false }
    }

    /// A process for one request of a session.
    pub(crate) fn for_one_call(self: &Arc<Self>, client: &Arc<Client>) -> Result<Arc<Exchange>, Fault> {
        self.joined(client, format!("call {}", unique_number()), Sharing::OneCall, &client.introduction)
    }

    /// The process for one request that still works on the request that this one goes on with.
    pub(crate) fn call_to_resume(&self, client: &Client, message: &Message) -> Option<Arc<Exchange>> {
        let Errand::Resume { exchange, .. } = self.opened_ticket(message)?.errand else { return None };
        self.calls_of(client).into_iter().find(|call| call.key == exchange)
    }

    /// Ends an exchange in the background.
    pub(crate) fn retire(&self, name: &str) {
        if let Some(exchange) = lock(&self.pool).exchanges.remove(name) {
            self.tasks.spawn_on(async move { exchange.end().await }, &self.runtime);
        }
    }

    /// The exchanges that serve single calls of a session.
    pub(crate) fn calls_of(&self, client: &Client) -> Vec<Arc<Exchange>> {
        let exchanges: Vec<_> = lock(&self.pool).exchanges.values().cloned().collect();
        exchanges
            .into_iter()
            .filter(|exchange| {
                exchange.sharing == Sharing::OneCall && exchange.state().members.contains_key(&client.key)
            })
            .collect()
    }

    pub(crate) fn session_began(&self) {
        lock(&self.pool).sessions += 1;
    }

    pub(crate) fn session_ended(&self) {
        let mut pool = lock(&self.pool);
        pool.sessions = pool.sessions.saturating_sub(1);
    }

    /// Notes how trying the server out went.
    pub(crate) fn tried_out(&self, failure: Option<&(impl AsRef<str> + ?Sized)>) {
        if let Some(failure) = failure {
            *lock(&self.trial_failure) = Some(failure.as_ref().to_owned());
            self.book.tried_in_vain();
        }
    }

    /// Says that there is something that could take too long.
    pub(crate) fn watch(&self) {
        self.watched.notify_one();
    }

    /// Looks after what takes too long, as long as there is anything.
    async fn sweep(&self) {
        let timeouts = &self.settings.timeouts;
        let shortest = timeouts.inactivity.min(timeouts.start).min(timeouts.call);
        let interval = (shortest / 8).clamp(Duration::from_millis(10), Duration::from_secs(5));
        loop {
            self.watched.notified().await;
            loop {
                tokio::time::sleep(interval).await;
                let exchanges: Vec<_> = lock(&self.pool).exchanges.values().cloned().collect();
                let now = Instant::now();
                for exchange in &exchanges {
                    exchange.sweep(now);
                }
                if exchanges.iter().all(|exchange| exchange.state().pending.is_empty()) {
                    break;
                }
            }
        }
    }
}
