//! Owns which servers are served just now: what the file says of each, and the hub that serves it.

use super::reloading::Waiting;
use super::report::ServerReport;
use super::retiring::Retiring;
use super::unions::{Served, Unions};
use crate::commands::coding::{Coding, NAME};
use crate::commands::console::Console;
use crate::commands::definition::Definition;
use crate::commands::server::{Assembled, Ground};
use kennel_config::{Config, ServerName, Start};
use kennel_gateway::{Address, Directory};
use kennel_hub::{Endpoint, Hub};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// At least so many servers are started at once with Kennel, however few processors there are.
const FEWEST_STARTS: usize = 2;

/// How long the start of one server keeps others from theirs.
const TURN: Duration = Duration::from_secs(1);

/// The servers of one file.
pub(crate) struct Fleet {
    pub(super) ground: Ground,
    pub(super) console: Console,
    file: PathBuf,
    url: String,
    state: RwLock<State>,
    /// Turns for servers that are started with Kennel, so that many do not delay each other or anybody else.
    turns: Arc<Semaphore>,
    pub(super) tasks: TaskTracker,
    pub(super) closing: CancellationToken,
}

/// What is served, and what it was made from.
#[derive(Default)]
pub(super) struct State {
    pub(super) config: Config,
    pub(super) members: BTreeMap<ServerName, Member>,
    pub(super) unions: Unions,
    /// What runs code, where that is wanted.
    pub(super) coding: Option<Arc<Coding>>,
    /// A version of the file that waits for the operator's word.
    pub(super) waiting: Option<(Waiting, Config)>,
    /// How many versions have waited.
    pub(super) changes: u64,
}

/// One server of the file.
#[derive(Clone)]
pub(super) struct Member {
    /// What serves it, or why nothing does.
    pub(super) served: Result<Arc<Assembled>, String>,
    /// What is said of it, whatever serves it.
    pub(super) console: Arc<Console>,
}

impl Fleet {
    /// A fleet without servers.
    pub(crate) fn new(ground: Ground, file: PathBuf, url: String) -> Arc<Self> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Arc::new(Self {
            console: Console::of_kennel(&ground.output),
            ground,
            file,
            url,
            state: RwLock::default(),
            turns: Arc::new(Semaphore::new(processors.max(FEWEST_STARTS))),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        })
    }

    /// Takes up the servers of a file. Nothing is started but those that are to be started with Kennel.
    pub(crate) fn adopt(self: &Arc<Self>, config: Config) {
        self.ground.belongings.note_unboxed(&config);
        let members: BTreeMap<_, _> =
            config.enabled().map(|(name, _)| (name.clone(), self.member(&config, name, None))).collect();
        {
            let mut state = self.write();
            *state = State { config, members: members.clone(), ..State::default() };
            self.show(&mut state);
        }
        for (name, member) in &members {
            self.begin(name, member);
        }
    }

    /// Brings what is shown of many servers in line with what there is.
    pub(super) fn show(&self, state: &mut State) {
        let former = state.coding.take_if(|coding| !coding.is_of(&state.config));
        if state.coding.is_none() {
            state.coding = Coding::new(&state.config, &self.ground);
        }
        let State { config, members, unions, coding, .. } = state;
        let served = Served { config, members, coding: coding.as_ref(), trials: &self.turns };
        let retired = unions.update(&served);
        if former.is_some() || !retired.is_empty() {
            self.tasks.spawn(async move {
                for hub in retired {
                    hub.shutdown().await;
                }
                if let Some(former) = former {
                    former.shutdown().await;
                }
            });
        }
    }

    /// A server of this configuration, with nothing of it started. Its log goes on where there was one.
    pub(super) fn member(&self, config: &Config, name: &ServerName, former: Option<&Member>) -> Member {
        let new_console = || Arc::new(Console::new(name.as_str(), &self.ground.output));
        let console = former.map_or_else(new_console, |former| Arc::clone(&former.console));
        let Some(server) = config.servers.get(name) else {
            return Member { served: Err("it is not in the file".to_owned()), console };
        };
        let (title, server, directory) = (name.to_string(), server.clone(), config.directory.clone());
        let definition = Definition { title, name: name.clone(), server, directory };
        let assembled = Assembled::new(definition, &self.ground, Arc::clone(&console));
        Member { served: assembled.map(Arc::new).map_err(|failure| failure.to_string()), console }
    }

    /// Says why a server is not served, or starts it if it is to be started without a call.
    pub(super) fn begin(self: &Arc<Self>, name: &ServerName, member: &Member) {
        match &member.served {
            Err(problem) => {
                let text = format!("{name} is not served: {problem}");
                self.console.say("not_served", &text, json!({ "about": name.as_str(), "problem": problem }));
            }
            Ok(assembled) => {
                let is_eager = {
                    let state = self.read();
                    state.config.servers.get(name).is_some_and(|server| server.start == Start::Eager)
                };
                if is_eager {
                    self.start_in_turn(assembled);
                }
            }
        }
    }

    /// Starts a process as soon as it is its turn. How that went is said by its console.
    pub(super) fn start_in_turn(self: &Arc<Self>, assembled: &Arc<Assembled>) {
        let (turns, hub, closing) = (Arc::clone(&self.turns), assembled.hub.clone(), self.closing.clone());
        self.tasks.spawn(async move {
            let starting = async {
                let turn = turns.acquire().await;
                let trial = hub.try_out();
                tokio::pin!(trial);
                // One that hangs goes on by itself, and the next has its turn.
                if timeout(TURN, &mut trial).await.is_err() {
                    drop(turn);
                    let _ = trial.await;
                }
            };
            closing.run_until_cancelled(starting).await;
        });
    }

    /// Where clients reach everything.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The file that the servers are from.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn ground(&self) -> &Ground {
        &self.ground
    }

    /// What is said of a server.
    pub(crate) fn console(&self, name: &str) -> Option<Arc<Console>> {
        self.read().members.get(name).map(|member| Arc::clone(&member.console))
    }

    /// What serves a server.
    pub(super) fn served(&self, name: &str) -> Option<Result<Arc<Assembled>, String>> {
        self.read().members.get(name).map(|member| member.served.clone())
    }

    /// The names of all servers that are enabled.
    pub(crate) fn names(&self) -> Vec<String> {
        self.read().members.keys().map(ToString::to_string).collect()
    }

    /// Where clients reach code over all servers, if it is served.
    pub(crate) fn code_url(&self) -> Option<String> {
        self.read().unions.code().map(|_| format!("{}/servers/{NAME}/mcp", self.url))
    }

    /// The names of all views.
    pub(crate) fn views(&self) -> Vec<String> {
        self.read().config.views.keys().map(ToString::to_string).collect()
    }

    /// What is to be told of each server.
    pub(crate) fn reports(&self) -> Vec<ServerReport> {
        self.names().iter().filter_map(|name| self.report(name)).collect()
    }

    /// What is to be told of one server.
    pub(crate) fn report(&self, name: &str) -> Option<ServerReport> {
        let (served, definition, waiting) = {
            let state = self.read();
            let widens = state.waiting.iter().flat_map(|(waiting, _)| &waiting.widens);
            let waiting: Vec<_> = widens.filter(|widened| widened.server.as_deref() == Some(name)).collect();
            let waiting = waiting.into_iter().map(|widened| widened.what.clone()).collect();
            (state.members.get(name)?.served.clone(), state.config.servers.get(name)?.clone(), waiting)
        };
        Some(ServerReport { waiting, ..ServerReport::new(name, &self.url, &definition, served) })
    }

    /// Ends all servers and returns when nothing is left.
    pub(crate) async fn shutdown(&self) {
        self.closing.cancel();
        let (members, unions, coding) = {
            let mut state = self.write();
            (std::mem::take(&mut state.members), std::mem::take(&mut state.unions), state.coding.take())
        };
        // What calls the servers goes first.
        for hub in unions.hubs() {
            hub.shutdown().await;
        }
        if let Some(coding) = coding {
            coding.shutdown().await;
        }
        drop(unions);
        let mut ends = tokio::task::JoinSet::new();
        for assembled in members.into_values().filter_map(|member| member.served.ok()) {
            ends.spawn(async move { assembled.shutdown().await });
        }
        while ends.join_next().await.is_some() {}
        // Those that were replaced are ended by their own tasks, at once now.
        self.tasks.close();
        self.tasks.wait().await;
        self.ground.close().await;
    }

    /// Ends what served a server before, when its calls are done.
    pub(super) fn retire(&self, name: &ServerName, assembled: Arc<Assembled>) {
        let retiring = Retiring::new(name, assembled, self.patience_with(name));
        let closing = self.closing.clone();
        self.tasks.spawn(async move { retiring.end(&closing).await });
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hub of a server.
    fn hub(&self, name: &str) -> Option<Hub> {
        let state = self.read();
        state.members.get(name)?.served.as_ref().ok().map(|assembled| assembled.hub.clone())
    }
}

impl Directory for Fleet {
    fn endpoint(&self, address: Address<'_>) -> Option<Endpoint> {
        match address {
            Address::Server(name) => {
                let server = self.hub(name).map(Endpoint::Server);
                server.or_else(|| self.read().unions.code().filter(|_| name == NAME))
            }
            Address::View(name) => self.read().unions.view(name),
            Address::All => self.read().unions.all(),
        }
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        let state = self.read();
        let served = state.members.values().filter_map(|member| member.served.as_ref().ok());
        let servers = served.map(|assembled| Endpoint::Server(assembled.hub.clone()));
        servers.chain(state.unions.endpoints()).collect()
    }

    fn servers(&self) -> Vec<Hub> {
        let state = self.read();
        let served = state.members.values().filter_map(|member| member.served.as_ref().ok());
        served.map(|assembled| assembled.hub.clone()).collect()
    }

    fn unserved(&self) -> Vec<(String, String)> {
        let state = self.read();
        let unserved = state.members.iter().filter_map(|(name, member)| Some((name, member.served.as_ref().err()?)));
        unserved.map(|(name, problem)| (name.to_string(), problem.clone())).collect()
    }
}
