//! Code mode as an MCP server, which is no process: conversations in Kennel itself, supervised like any other.
//!
//! What all conversations share is [`CodeMode`]: interpreters, notebooks, results and saved tools. A [`CodeServer`] is
//! that over one union of servers. Each conversation is one client's, known by whom its process is for; it is a client of
//! the union in its turn.

mod client;
mod conversation;
mod resources;
mod tools;

pub(crate) use client::{Client, Unanswered};

use crate::lazy::{EngineToCome, LazyPool};
use crate::notebook::{Registry, RegistryParts};
use crate::owner::{Holder, Owner};
use crate::pool::PoolSettings;
use crate::results::Results;
use crate::settings::{NotebookLimits, Settings};
use crate::toolbox::{Policy, SavedTools, Shelves, Toolbox};
use kennel_hub::Union;
use kennel_state::Store;
use kennel_supervisor::{LaunchFailure, LaunchFuture, LaunchSteps, Launched, Launcher, StandInError, StandIns};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What all conversations of code mode share.
pub struct CodeMode {
    pool: LazyPool,
    notebooks: Registry,
    results: Arc<Results>,
    saved: SavedTools,
    settings: CodeSettings,
}

/// How code mode runs.
#[derive(Debug, Clone)]
pub struct CodeSettings {
    /// The bounds of notebooks.
    pub notebooks: Settings,
    /// How interpreters are kept ready.
    pub pool: PoolSettings,
    /// How long a call waits for its cell before it returns what there is.
    pub yield_after: Duration,
}

impl CodeMode {
    /// Nothing is started before it is needed. Must be called within a tokio runtime.
    #[must_use]
    pub fn new(
        engine: impl Fn() -> EngineToCome + Send + Sync + 'static,
        store: Store,
        settings: CodeSettings,
    ) -> Arc<Self> {
        let pool = LazyPool::new(engine, settings.pool);
        let results = Arc::new(Results::new(settings.notebooks.results.clone()));
        let parts = RegistryParts { engine: Arc::new(pool.clone()), results: Arc::clone(&results) };
        let notebooks = Registry::new(parts, settings.notebooks.clone());
        Arc::new(Self { pool, notebooks, results, saved: SavedTools(store), settings })
    }

    /// Ends all notebooks and returns when nothing of them is left.
    pub async fn shutdown(&self) {
        self.notebooks.shutdown().await;
    }
}

/// Code mode over one union of servers.
pub(crate) struct CodeServer {
    mode: Arc<CodeMode>,
    union: Union,
    /// The view whose servers these are; none for all.
    view: Option<String>,
    policy: Policy,
    shelves: Arc<Shelves>,
}

/// Launches conversations of code mode over one union of servers. Dropping it ends them.
pub struct CodeLauncher {
    server: Arc<CodeServer>,
    conversations: StandIns,
}

impl CodeLauncher {
    /// A launcher of conversations over these servers, those of a view if one is named, which nothing of another view
    /// enters. The bounds are those of any process. Must be called within a tokio runtime.
    pub fn new(
        mode: &Arc<CodeMode>,
        union: Union,
        view: Option<&str>,
        policy: Policy,
        limits: kennel_exec::Limits,
    ) -> Result<Self, StandInError> {
        let view = view.map(str::to_owned);
        let server = CodeServer { mode: Arc::clone(mode), union, view, policy, shelves: Arc::default() };
        Ok(Self { server: Arc::new(server), conversations: StandIns::new("code", limits)? })
    }

    async fn start(&self, steps: &dyn LaunchSteps) -> Result<Launched, LaunchFailure> {
        let server = Arc::clone(&self.server);
        let holder = steps.owner().map(|user| server.holder(user, steps.is_stateless()));
        self.conversations.start(steps, move |pipes| conversation::converse(server, holder, pipes)).await
    }
}

impl Launcher for CodeLauncher {
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a> {
        Box::pin(self.start(steps))
    }
}

impl CodeServer {
    /// Who a conversation is held with.
    fn holder(&self, user: &str, is_stateless: bool) -> Holder {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let owner = Owner::new(user, self.view.as_deref());
        if is_stateless {
            Holder::stateless(owner)
        } else {
            Holder::conversation(owner, LAST.fetch_add(1, Ordering::Relaxed) + 1)
        }
    }

    fn toolbox(&self, holder: Holder, client: &Arc<Client>) -> Toolbox {
        let (union, client, shelves) = (self.union.clone(), Arc::clone(client), Arc::clone(&self.shelves));
        Toolbox::new(union, holder, client, shelves, self.mode.saved.clone(), self.policy.clone())
    }

    fn notebooks(&self) -> &Registry {
        &self.mode.notebooks
    }

    fn results(&self) -> &Results {
        &self.mode.results
    }

    fn yield_after(&self) -> Duration {
        self.mode.settings.yield_after
    }

    fn longest_wait(&self) -> Duration {
        self.mode.settings.notebooks.notebook.most_timeout
    }

    fn limits(&self) -> &NotebookLimits {
        &self.mode.settings.notebooks.notebook
    }

    /// Has interpreters made ready.
    fn warm(&self) {
        self.mode.pool.warm();
    }
}
