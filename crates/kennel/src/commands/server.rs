//! From the flags of a command to a hub that serves one MCP server.

use crate::cli::{EngineName, EraName, ModelName, ServerFlags};
use crate::commands::console::{Console, Format};
use crate::commands::launcher::{Definition, Inference, ServerLauncher};
use crate::commands::naming::name_of;
use crate::commands::sandbox;
use crate::failure::Failure;
use kennel_box::{Engine, EngineKind, NativeEngine};
use kennel_exec::{Executor, SessionId, Stop};
use kennel_hub::{CatalogPlace, Hub, Limits, ProcessModel, ServerSettings, Timeouts};
use kennel_jail::Helper;
use kennel_packages::Refresh;
use kennel_state::Store;
use kennel_supervisor::{Backoff, RestartBudget};
use kennel_wire::Era;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Whether what the server offers is remembered from one run to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Yes, so that clients see it before the server is ready.
    Kept,
    /// No: whoever calls a tool of a script that was just changed means the new one.
    None,
}

/// A hub and what it stands on.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) hub: Hub,
    pub(crate) console: Arc<Console>,
    executor: Executor,
    /// What is kept from this run.
    store: Option<Store>,
}

impl Server {
    /// Wires everything up; nothing is started yet. Must be called within a tokio runtime.
    pub(crate) fn new(
        flags: ServerFlags,
        command: Vec<OsString>,
        format: Format,
        memory: Memory,
    ) -> Result<Self, Failure> {
        let name = flags.name.clone().unwrap_or_else(|| name_of(&command));
        let secrets = sandbox::passed_on(&flags.sandbox);
        let console = Arc::new(Console::new(&name, format, secrets));
        let kind = match flags.sandbox.engine {
            EngineName::Native => EngineKind::Native,
            EngineName::Host => EngineKind::Host,
        };
        if kind == EngineKind::Host {
            let text = "--engine host: no box; the server can do all that you can do";
            console.say("no_box", text, serde_json::json!({}));
        }
        let engine: Arc<dyn Engine> = Arc::new(NativeEngine::new(kind, Helper::own_program()));
        let message_bytes = bytes(flags.max_message);
        // A result that is too large to pass has to be read before it can be kept.
        let line_bytes = message_bytes.saturating_mul(2);
        let limits = kennel_exec::Limits {
            message_bytes: line_bytes,
            retained_bytes: line_bytes,
            pending_write_bytes: message_bytes,
            processes: flags.max_processes.saturating_mul(2),
            finished_kept: Duration::from_secs(1),
            ..kennel_exec::Limits::default()
        };
        let executor =
            Executor::new(Arc::clone(&engine), limits).map_err(|error| Failure::Argument(error.to_string()))?;
        let attachment =
            executor.open(SessionId::new("kennel")).map_err(|error| Failure::Argument(error.to_string()))?;
        let backoff = Backoff { base: seconds("--restart-delay", flags.restart_delay)?, ..Backoff::default() };
        let supervision = kennel_supervisor::Settings {
            backoff: Backoff { max: backoff.max.max(backoff.base), ..backoff },
            restarts: RestartBudget { count: flags.restarts, ..RestartBudget::default() },
            idle_stop: minutes(flags.idle_stop)?,
            required_tools: flags.require_tool.clone(),
            line_bytes,
            ..kennel_supervisor::Settings::default()
        };
        supervision.check().map_err(|error| Failure::Argument(error.to_string()))?;
        let data = data_directory(flags.data.as_deref())?;
        let store = match memory {
            Memory::Kept => Some(state(&data, &console)),
            Memory::None => None,
        };
        let catalog = store.clone().map(|store| CatalogPlace { store, fingerprint: fingerprint(&flags, &command) });
        let settings = ServerSettings {
            name: name.clone(),
            model: match flags.model {
                ModelName::PerSession => ProcessModel::PerSession,
                ModelName::Shared => ProcessModel::Shared,
                ModelName::PerUser => ProcessModel::PerUser,
                ModelName::PerCall => ProcessModel::PerCall,
            },
            era: match flags.era {
                EraName::Auto => None,
                EraName::Legacy => Some(Era::Legacy),
                EraName::Modern => Some(Era::Modern),
            },
            limits: Limits {
                message_bytes,
                result_bytes: flags.max_result.map_or(message_bytes, bytes),
                instances: flags.max_processes,
                ..Limits::default()
            },
            timeouts: Timeouts { inactivity: seconds("--call-timeout", flags.call_timeout)?, ..Timeouts::default() },
            catalog,
            results: None,
        };
        let inference = if flags.no_infer { Inference::Off } else { Inference::Granted };
        let installer: Arc<dyn Engine> = match kind {
            EngineKind::Native => engine,
            // Whatever a server runs in, its package is installed in a box.
            EngineKind::Host => Arc::new(NativeEngine::new(EngineKind::Native, Helper::own_program())),
        };
        let definition = Definition {
            command,
            sandbox: flags.sandbox,
            inference,
            store: data.join("store"),
            refresh: if flags.refresh { Refresh::Now } else { Refresh::Never },
            install_budget: supervision.budgets.install,
        };
        let launcher = ServerLauncher::new(definition, Arc::new(attachment), Arc::clone(&console), installer);
        let launcher = Arc::new(launcher);
        let hub = Hub::new(settings, supervision, launcher, Arc::clone(&console) as _);
        Ok(Self { name, hub, console, executor, store })
    }

    /// Stops everything in order and returns when nothing is left.
    pub(crate) async fn shutdown(&self) {
        self.hub.shutdown().await;
        self.executor.shutdown(Stop::Now).await;
        if let Some(store) = &self.store {
            // What could not be written was said.
            let _ = store.close().await;
        }
        self.console.flush();
    }
}

/// The state of all Kennels that keep their data here, opened in the background.
fn state(data: &Path, console: &Arc<Console>) -> Store {
    let console = Arc::clone(console);
    Store::open(data.join("state/kennel.db"), kennel_state::Limits::default(), move |warning| {
        console.say("state", &warning.to_string(), serde_json::json!({}));
    })
}

/// What tells this server from others: how it is started and what it can see, but no values that may be secret.
fn fingerprint(flags: &ServerFlags, command: &[OsString]) -> String {
    let names: Vec<&str> = flags.sandbox.env.iter().map(|text| text.split('=').next().unwrap_or(text)).collect();
    let cwd = std::env::current_dir().unwrap_or_default();
    format!(
        "{command:?} {names:?} {} {:?} {:?} {:?}",
        cwd.display(),
        flags.sandbox.read,
        flags.sandbox.write,
        flags.sandbox.network
    )
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

fn seconds(flag: &str, seconds: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(Failure::Argument(format!("{flag} {seconds}: must be more than 0 seconds"))),
    }
}

fn minutes(minutes: f64) -> Result<Option<Duration>, Failure> {
    if minutes == 0.0 {
        return Ok(None);
    }
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(duration) => Ok(Some(duration)),
        Err(_) => Err(Failure::Argument(format!("--idle-stop {minutes}: must be minutes, or 0 for never"))),
    }
}
