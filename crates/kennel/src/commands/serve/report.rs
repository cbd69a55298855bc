//! Owns what is told of one server, to people in a table and to programs in full.

use crate::commands::server::Assembled;
use kennel_config::{Era, Launch, Model, Server, Template};
use kennel_hub::{EraName, Readiness, Status};
use kennel_supervisor::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What is told of one server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServerReport {
    pub(crate) name: String,
    /// One word for how it is.
    pub(crate) state: ServerState,
    /// Why it is not served, or what failed last.
    pub(crate) problem: Option<String>,
    /// Where clients reach it, unless it is not served.
    pub(crate) url: Option<String>,
    /// The eras that it is known to speak, or is said to.
    pub(crate) eras: Vec<String>,
    /// Which clients share a process.
    pub(crate) model: String,
    /// How many processes it has, those that are about to be ready or to end included.
    pub(crate) processes: usize,
    pub(crate) sessions: usize,
    /// How many calls are in flight.
    pub(crate) calls: usize,
    pub(crate) description: Option<String>,
    pub(crate) tags: Vec<String>,
    /// The program, and the names of what it is given, as they are written; no values.
    pub(crate) command: Option<String>,
    /// All that its hub says.
    pub(crate) status: Option<Value>,
    /// What a version of the file lets it do that waits for the operator.
    #[serde(default)]
    pub(crate) waiting: Vec<String>,
}

/// How a server is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerState {
    /// A process can be called.
    Ready,
    /// A process is on its way.
    Starting,
    /// A process died and is started again soon.
    Waiting,
    /// There is no process, and the next call starts one.
    Idle,
    /// Processes fail, and none is started by itself.
    Failed,
    /// The operator has stopped it.
    Stopped,
    /// It cannot be served as it is defined.
    NotServed,
}

impl ServerState {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Starting => "starting",
            Self::Waiting => "waiting",
            Self::Idle => "idle",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::NotServed => "not served",
        }
    }

    fn of(status: &Status) -> Self {
        let has = |wanted: &[State]| status.instances.iter().any(|instance| wanted.contains(&instance.status.state));
        if status.held.is_some() {
            Self::Stopped
        } else if has(&[State::Ready]) {
            Self::Ready
        } else if has(&[State::Starting, State::Queued]) {
            Self::Starting
        } else if has(&[State::Waiting]) {
            Self::Waiting
        } else if matches!(status.readiness, Readiness::Failed { .. }) {
            Self::Failed
        } else {
            Self::Idle
        }
    }
}

impl ServerReport {
    pub(super) fn new(name: &str, gateway: &str, server: &Server, hub: Result<Arc<Assembled>, String>) -> Self {
        let mut report = Self {
            name: name.to_owned(),
            state: ServerState::NotServed,
            problem: None,
            url: None,
            eras: match server.era {
                Era::Auto => Vec::new(),
                Era::Legacy => vec!["legacy".to_owned()],
                Era::Modern => vec!["modern".to_owned()],
            },
            model: model(server.model).to_owned(),
            processes: 0,
            sessions: 0,
            calls: 0,
            description: server.description.clone(),
            tags: server.tags.iter().cloned().collect(),
            command: command(server),
            status: None,
            waiting: Vec::new(),
        };
        let assembled = match hub {
            Ok(assembled) => assembled,
            Err(problem) => return Self { problem: Some(problem), ..report },
        };
        let status = assembled.hub.status();
        report.state = ServerState::of(&status);
        report.url = Some(format!("{gateway}/servers/{name}/mcp"));
        report.eras = status.eras.iter().map(|era| era_word(*era).to_owned()).collect();
        let runs = [State::Starting, State::Ready, State::Stopping];
        report.processes = status.instances.iter().filter(|found| runs.contains(&found.status.state)).count();
        report.sessions = status.sessions;
        report.calls = status.instances.iter().map(|instance| instance.status.calls_in_flight).sum();
        report.problem = problem(&status, report.state);
        let mut whole = serde_json::to_value(&status).unwrap_or_default();
        assembled.console.hide_in(&mut whole);
        if let Some(problem) = &mut report.problem {
            let mut text = Value::String(std::mem::take(problem));
            assembled.console.hide_in(&mut text);
            text.as_str().unwrap_or_default().clone_into(problem);
        }
        report.status = Some(whole);
        report
    }
}

/// What somebody has to know of a server that does not do well.
fn problem(status: &Status, state: ServerState) -> Option<String> {
    match state {
        ServerState::Stopped => status.held.clone(),
        ServerState::Failed | ServerState::Waiting => {
            let failure = status.instances.iter().find_map(|instance| instance.status.last_failure.clone());
            let cause = match &status.readiness {
                Readiness::Failed { cause } => Some(cause.clone()),
                _ => None,
            };
            failure.map(|failure| format!("failed in phase {failure}")).or(cause)
        }
        ServerState::Ready | ServerState::Starting | ServerState::Idle | ServerState::NotServed => None,
    }
}

/// How a server is started or where it is, without anything that may be secret: arguments may be.
fn command(server: &Server) -> Option<String> {
    match &server.launch {
        Launch::Process(process) => Some(process.command.written()),
        Launch::Upstream(upstream) => upstream.url.literal().map(|url| host_of(url).to_owned()).or_else(|| {
            let names: Vec<&str> = Template::variables(&upstream.url).collect();
            Some(names.join(", "))
        }),
    }
}

/// A URL without its path and query, in which keys often are.
fn host_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    &url[..end]
}

fn model(model: Model) -> &'static str {
    match model {
        Model::PerSession => "per-session",
        Model::Shared => "shared",
        Model::PerUser => "per-user",
        Model::PerCall => "per-call",
    }
}

fn era_word(era: EraName) -> &'static str {
    match era {
        EraName::Legacy => "legacy",
        EraName::Modern => "modern",
    }
}
