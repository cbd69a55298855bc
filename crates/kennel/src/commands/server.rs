//! From the definition of a server to a hub that serves it, and what all servers of one Kennel stand on.

use crate::cli::ServerFlags;
use crate::commands::belongings::Belongings;
use crate::commands::console::{Console, Format, Naming, Output};
use crate::commands::definition::Definition;
use crate::commands::elsewhere;
use crate::commands::launcher::ServerLauncher;
use crate::failure::Failure;
use kennel_box::{Engine, EngineKind, NativeEngine};
use kennel_config::{Audit, Era, Launch, Model, Sources, SystemSources};
use kennel_exec::{Executor, SessionId, Stop};
use kennel_hub::{AuditedArguments, CatalogPlace, Hub, Limits, ProcessModel, ServerSettings, Timeouts};
use kennel_jail::Helper;
use kennel_packages::InstallLimits;
use kennel_state::Store;
use kennel_supervisor::{Backoff, Launcher, PhaseBudgets, RestartBudget, SettingsError, Stage};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Whether what servers offer is remembered from one run to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Yes, so that clients see it before the server is ready.
    Kept,
    /// No: whoever calls a tool of a script that was just changed means the new one.
    None,
}

/// What is kept at least of lists, of requests and of questions, however small messages must be.
const LEAST_KEPT: usize = 2 << 20;
/// How often a server that runs elsewhere is asked whether it is still there.
const DISTANT_PROBE: Duration = Duration::from_mins(1);

/// What all servers stand on: each engine with its one helper, the state, and where output goes.
pub(crate) struct Ground {
    pub(crate) output: Arc<Output>,
    pub(crate) native: Arc<dyn Engine>,
    host: Arc<dyn Engine>,
    /// Where packages and the state are.
    pub(crate) data: PathBuf,
    /// What is kept from this run.
    pub(crate) store: Option<Store>,
    /// How much of calls is written down there.
    audit: Audit,
    /// The turns for starting processes, which all servers share.
    stage: Stage,
    /// Where secrets come from.
    pub(crate) sources: Arc<dyn Sources + Send + Sync>,
    /// What no box is granted.
    pub(crate) belongings: Arc<Belongings>,
}

impl Ground {
    /// Nothing is started yet; the state is opened in the background.
    pub(crate) fn new(output: Arc<Output>, data: PathBuf, memory: Memory) -> Self {
        let engine = |kind| -> Arc<dyn Engine> { Arc::new(NativeEngine::new(kind, Helper::own_program())) };
        let store = match memory {
            Memory::Kept => Some(state(&data, &output)),
            Memory::None => None,
        };
        let (native, host) = (engine(EngineKind::Native), engine(EngineKind::Host));
        let (audit, stage, sources) = (Audit::Off, Stage::default(), Arc::new(SystemSources::default()));
        let belongings = Arc::new(Belongings::new(Some(data.clone())));
        Self { output, native, host, data, store, audit, stage, sources, belongings }
    }

    /// The same with so many processes starting at once, where that is said.
    pub(crate) fn starting(self, at_once: Option<u32>) -> Self {
        Self { stage: at_once.map_or_else(Stage::default, |at_once| Stage::new(count(at_once))), ..self }
    }

    /// The same for servers of a file, operated by a socket.
    pub(crate) fn using(self, config: &Path, socket: Option<&Path>) -> Self {
        Self { belongings: Arc::new(Belongings::new(Some(self.data.clone())).using(config, socket)), ..self }
    }

    /// The same with calls written down.
    pub(crate) fn audited(self, audit: Audit) -> Self {
        Self { audit, ..self }
    }

    /// Where calls are written down.
    pub(crate) fn audit(&self) -> Option<kennel_hub::Audit> {
        let arguments = match self.audit {
            Audit::Off => return None,
            Audit::Digest => AuditedArguments::Digest,
            Audit::Text => AuditedArguments::Text,
        };
        self.store.clone().map(|store| kennel_hub::Audit { store, arguments })
    }

    fn engine(&self, kind: EngineKind) -> Arc<dyn Engine> {
        match kind {
            EngineKind::Native => Arc::clone(&self.native),
            EngineKind::Host => Arc::clone(&self.host),
        }
    }

    /// Writes what is still to be written, when all servers have ended.
    pub(crate) async fn close(&self) {
        if let Some(store) = &self.store {
            // What could not be written was said.
            let _ = store.close().await;
        }
        self.output.flush();
    }
}

/// A server that can be called: its hub, and what its processes belong to.
pub(crate) struct Assembled {
    pub(crate) hub: Hub,
    pub(crate) console: Arc<Console>,
    /// What its processes belong to, where they are started here.
    executor: Option<Executor>,
}

impl Assembled {
    /// Wires up one server; nothing of it is started yet. Must be called within a tokio runtime.
    pub(crate) fn new(definition: Definition, ground: &Ground, console: Arc<Console>) -> Result<Self, Failure> {
        let (settings, supervision) = settings(&definition, ground);
        supervision.check().map_err(|error| Failure::Argument(error.to_string()))?;
        if let Err(error) = supervision.check_told(settings.timeouts.start) {
            console.say("warning", &error.to_string(), serde_json::json!({}));
        }
        let limits = kennel_exec::Limits {
            message_bytes: supervision.line_bytes,
            retained_bytes: supervision.line_bytes,
            pending_write_bytes: settings.limits.message_bytes,
            processes: settings.limits.instances.saturating_mul(2),
            finished_kept: Duration::from_secs(1),
            ..kennel_exec::Limits::default()
        };
        let (launcher, executor): (Arc<dyn Launcher>, _) = match &definition.server.launch {
            Launch::Process(process) => {
                let kind = process.sandbox.engine;
                // One for each server, for the bounds differ; what costs something, the helper, belongs to the engine.
                let executor =
                    Executor::new(ground.engine(kind), limits).map_err(|error| Failure::Argument(error.to_string()))?;
                let attachment =
                    executor.open(SessionId::new("kennel")).map_err(|error| Failure::Argument(error.to_string()))?;
                if kind == EngineKind::Host {
                    let text = "--engine host: no box; the server can do all that you can do";
                    console.say("no_box", text, serde_json::json!({}));
                }
                let budget = supervision.budgets.install;
                let (attachment, console) = (Arc::new(attachment), Arc::clone(&console));
                let install = install_limits(&definition.server);
                let launcher = ServerLauncher::new(definition, attachment, console, ground, budget, install);
                (Arc::new(launcher), Some(executor))
            }
            Launch::Upstream(_) => {
                (Arc::new(elsewhere::launcher(definition, &console, &ground.sources, limits)?), None)
            }
        };
        let hub = Hub::staged(settings, supervision, launcher, Arc::clone(&console) as _, ground.stage.share());
        Ok(Self { hub, console, executor })
    }

    /// Stops everything of the server in order and returns when nothing is left.
    pub(crate) async fn shutdown(&self) {
        self.hub.shutdown().await;
        if let Some(executor) = &self.executor {
            executor.shutdown(Stop::Now).await;
        }
    }
}

/// A server alone, and what it stands on.
pub(crate) struct Server {
    pub(crate) name: String,
    /// Whether its box has the network of this machine.
    pub(crate) has_network: bool,
    assembled: Assembled,
    ground: Ground,
}

impl Server {
    /// Wires everything up; nothing is started yet. Must be called within a tokio runtime.
    pub(crate) fn new(
        flags: &ServerFlags,
        command: &[OsString],
        format: Format,
        memory: Memory,
    ) -> Result<Self, Failure> {
        let definition = Definition::of_flags(flags, command)?;
        let data = data_directory(flags.data.as_deref())?;
        let ground = Ground::new(Arc::new(Output::new(format, Naming::Known)), data, memory);
        let name = definition.title.clone();
        let has_network = match &definition.server.launch {
            Launch::Process(process) => process.sandbox.has_network(),
            Launch::Upstream(_) => false,
        };
        let console = Arc::new(Console::new(&name, &ground.output));
        Ok(Self { name, has_network, assembled: Assembled::new(definition, &ground, console)?, ground })
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.assembled.hub
    }

    pub(crate) fn console(&self) -> &Console {
        &self.assembled.console
    }

    /// Stops everything in order and returns when nothing is left.
    pub(crate) async fn shutdown(&self) {
        self.assembled.shutdown().await;
        self.ground.close().await;
    }
}

/// How large the install of a server's package may become.
fn install_limits(server: &kennel_config::Server) -> InstallLimits {
    InstallLimits { bytes: server.max_install.bytes(), files: server.max_install_files.into() }
}

/// What the hub and the supervisor of a server have to know.
fn settings(definition: &Definition, ground: &Ground) -> (ServerSettings, kennel_supervisor::Settings) {
    let server = &definition.server;
    let message_bytes = bytes(server.max_message);
    let times = server.timeouts;
    let (budgets, timeouts, backoff) = (PhaseBudgets::default(), Timeouts::default(), Backoff::default());
    let usual = kennel_supervisor::Settings::default();
    let supervision = kennel_supervisor::Settings {
        // Somebody else's machine is not asked as often as one's own.
        probe_interval: match server.launch {
            Launch::Process(_) => usual.probe_interval,
            Launch::Upstream(_) => DISTANT_PROBE,
        },
        budgets: PhaseBudgets {
            install: times.install.unwrap_or(budgets.install),
            create_box: times.create_box.unwrap_or(budgets.create_box),
            start_process: times.start_process.unwrap_or(budgets.start_process),
            handshake: times.handshake.unwrap_or(budgets.handshake),
            discover: times.discover.unwrap_or(budgets.discover),
            preflight: times.preflight.unwrap_or(budgets.preflight),
        },
        backoff: Backoff { base: server.restart_delay, max: backoff.max.max(server.restart_delay), ..backoff },
        restarts: RestartBudget { count: server.restarts, ..RestartBudget::default() },
        idle_stop: server.idle_stop,
        required_tools: server.require_tools.clone(),
        // A result that is too large to pass has to be read before it can be kept.
        line_bytes: message_bytes.saturating_mul(2),
        tool_bytes: message_bytes.clamp(LEAST_KEPT, usual.tool_bytes),
        ..usual
    };
    let catalog = ground.store.clone().map(|store| CatalogPlace { store, fingerprint: fingerprint(definition) });
    let settings = ServerSettings {
        name: definition.title.clone(),
        model: match server.model {
            Model::PerSession => ProcessModel::PerSession,
            Model::Shared => ProcessModel::Shared,
            Model::PerUser => ProcessModel::PerUser,
            Model::PerCall => ProcessModel::PerCall,
        },
        era: match server.era {
            Era::Auto => None,
            Era::Legacy => Some(kennel_wire::Era::Legacy),
            Era::Modern => Some(kennel_wire::Era::Modern),
        },
        limits: Limits {
            message_bytes,
            result_bytes: server.max_result.map_or(message_bytes, bytes),
            instances: count(server.max_processes),
            concurrency: server.concurrency.and_then(|concurrency| NonZeroUsize::new(count(concurrency))),
            waiting_requests: count(server.queue),
            server_request_bytes: message_bytes.max(LEAST_KEPT),
            in_flight_bytes: message_bytes.saturating_mul(4).max(LEAST_KEPT),
            catalog_bytes: supervision.tool_bytes,
            ..Limits::default()
        },
        timeouts: Timeouts {
            start: times.start.unwrap_or_else(|| told(&supervision, timeouts.start)),
            inactivity: times.call.unwrap_or(timeouts.inactivity),
            call: times.call_total.unwrap_or(timeouts.call),
            ..timeouts
        },
        catalog,
        audit: ground.audit(),
        results: None,
    };
    (settings, supervision)
}

/// How long clients wait for a start where nothing is said of it: as usual, or until it can be known what became of it.
fn told(supervision: &kennel_supervisor::Settings, usual: Duration) -> Duration {
    match supervision.check_told(usual) {
        Err(SettingsError::LongerThanTold { start, stop, .. }) => start + stop + Duration::from_secs(1),
        Err(_) | Ok(()) => usual,
    }
}

/// The state of all Kennels that keep their data here, opened in the background.
fn state(data: &Path, output: &Arc<Output>) -> Store {
    let console = Console::of_kennel(output);
    Store::open(data.join("state/kennel.db"), kennel_state::Limits::default(), move |warning| {
        console.say("state", &warning.to_string(), serde_json::json!({}));
    })
}

/// What tells this server from others: how it is started and what it can see, but no values that may be secret.
fn fingerprint(definition: &Definition) -> String {
    definition.server.fingerprint(&definition.directory)
}

/// Where Kennel keeps what it needs again.
pub(crate) fn data_directory(wanted: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(wanted) = wanted {
        return std::path::absolute(wanted).map_err(|source| Failure::System { what: "finding --data", source });
    }
    if let Some(data) = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        return Ok(data.join("kennel"));
    }
    match std::env::home_dir() {
        Some(home) => Ok(home.join(".local/share/kennel")),
        None => Err(Failure::Argument("you have no home directory; say with --data where to keep packages".into())),
    }
}

fn bytes(size: kennel_box::Size) -> usize {
    usize::try_from(size.bytes()).unwrap_or(usize::MAX / 4).min(usize::MAX / 4)
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
