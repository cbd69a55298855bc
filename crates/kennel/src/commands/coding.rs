//! Wires code mode up as the file says, over any union of servers.

use crate::commands::console::Console;
use crate::commands::server::Ground;
use kennel_box::HostView;
use kennel_code::engine::{CodeEngine, NativePython, NativePythonSettings, Source};
use kennel_code::{
    CodeLauncher, CodeMode, CodeSettings, EngineToCome, NotebookLimits, Policy, PoolSettings, RegistryLimits, Settings,
};
use kennel_config::{Approval, Config, SystemSources, Template, Value};
use kennel_hub::{Hub, Limits, ProcessModel, ServerSettings, Timeouts, Union};
use kennel_state::Store;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What the server is called where nothing else is.
pub(crate) const NAME: &str = "code";
/// How many clients code mode has at once; a conversation without a notebook costs next to nothing.
const CONVERSATIONS: usize = 4096;

/// Code mode as one file says it.
pub(crate) struct Coding {
    mode: Arc<CodeMode>,
    settings: kennel_config::CodeSettings,
    console: Arc<Console>,
    audit: Option<kennel_hub::Audit>,
}

impl Coding {
    /// Nothing is started before it is used; nothing where the file wants no code mode. Must be called within a tokio
    /// runtime.
    pub(crate) fn new(config: &Config, ground: &Ground) -> Option<Arc<Self>> {
        let settings = &config.code;
        if !settings.enabled {
            return None;
        }
        let console = Arc::new(Console::new(NAME, &ground.output));
        let python = NativePythonSettings {
            python: resolved(config, config.code.python.iter(), &console).pop(),
            read: resolved(config, config.code.read.iter(), &console),
            memory: settings.memory,
            ..NativePythonSettings::default()
        };
        let (native, belongings) = (Arc::clone(&ground.native), Arc::clone(&ground.belongings));
        let engine = move || -> EngineToCome {
            let host = HostView::current();
            let python = NativePythonSettings { own: belongings.list(&host.home), ..python.clone() };
            let native = Arc::clone(&native);
            Box::pin(async move {
                let found = NativePython::new(native, Source::embedded(), &host, python).await?;
                Ok(Arc::new(found) as Arc<dyn CodeEngine>)
            })
        };
        let store = ground.store.clone().unwrap_or_else(Store::in_memory);
        let (all, usual) = (count(settings.notebooks), RegistryLimits::default());
        let notebooks = Settings {
            notebook: NotebookLimits {
                timeout: settings.timeout,
                most_timeout: settings.max_timeout,
                idle: settings.idle_stop,
                asks: count(settings.calls),
                ..NotebookLimits::default()
            },
            // All clients of this gateway are one user's.
            registry: RegistryLimits { owner_notebooks: all, notebooks: all, ..usual },
            ..Settings::default()
        };
        let pool = PoolSettings { ready: count(settings.warm), waiting: all, ..PoolSettings::default() };
        let code = CodeSettings { notebooks, pool, yield_after: settings.yield_after };
        let mode = CodeMode::new(engine, store, code);
        Some(Arc::new(Self { mode, settings: settings.clone(), console, audit: ground.audit() }))
    }

    /// Whether the file still says the same.
    pub(crate) fn is_of(&self, config: &Config) -> bool {
        config.code == self.settings
    }

    /// A hub whose clients run code that calls the tools of these servers, those of a view if one is named.
    pub(crate) fn hub(&self, view: Option<&str>, union: &Union, policy: &Policy) -> Result<Hub, String> {
        let limits = kennel_exec::Limits { processes: CONVERSATIONS * 2, ..kennel_exec::Limits::default() };
        let launcher = CodeLauncher::new(&self.mode, union.clone(), view, policy.clone(), limits)
            .map_err(|error| error.to_string())?;
        // Its notebooks have times of their own, and what cannot die needs no probes that say so.
        let supervision = kennel_supervisor::Settings { idle_stop: None, ..kennel_supervisor::Settings::default() };
        // A call may wait for its cell as long as the file says.
        let usual = Timeouts::default();
        let longest = self.settings.yield_after.max(self.settings.max_timeout) + Duration::from_mins(1);
        let settings = ServerSettings {
            name: view.map_or_else(|| NAME.to_owned(), |view| format!("{NAME} of {view}")),
            model: ProcessModel::PerSession,
            era: Some(kennel_wire::Era::Legacy),
            limits: Limits { instances: CONVERSATIONS, ..Limits::default() },
            timeouts: Timeouts { inactivity: usual.inactivity.max(longest), ..usual },
            catalog: None,
            audit: self.audit.clone(),
            results: None,
        };
        Ok(Hub::new(settings, supervision, Arc::new(launcher), Arc::clone(&self.console) as _))
    }

    /// Which tools run without asking somebody, where a view says this or nothing of its own.
    pub(crate) fn approval(&self, approve: Option<Approval>) -> kennel_code::Approval {
        match approve.unwrap_or(self.settings.approve) {
            Approval::Auto => kennel_code::Approval::Auto,
            Approval::Ask => kennel_code::Approval::Ask,
            Approval::Deny => kennel_code::Approval::Deny,
        }
    }

    /// What is said of it.
    pub(crate) fn console(&self) -> &Arc<Console> {
        &self.console
    }

    /// Ends all notebooks and returns when nothing of them is left.
    pub(crate) async fn shutdown(&self) {
        self.mode.shutdown().await;
    }
}

/// Paths that the file names. One that cannot be told is said.
fn resolved<'a>(config: &Config, paths: impl Iterator<Item = &'a Template>, console: &Console) -> Vec<PathBuf> {
    let mut resolved = Vec::new();
    for path in paths {
        match kennel_config::resolve(&Value::Text(path.clone()), &config.directory, &SystemSources::default()) {
            Ok(text) => resolved.push(match (text.expose().strip_prefix("~/"), std::env::home_dir()) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => config.directory.join(text.expose()),
            }),
            Err(cause) => console.say("warning", &format!("[code]: {cause}"), serde_json::json!({})),
        }
    }
    resolved
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
