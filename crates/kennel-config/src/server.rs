//! Owns what is known of one server.

use crate::fields::Fields;
use crate::pattern::{ToolFilter, ToolRules};
use crate::sandbox::BoxSettings;
use crate::template::Template;
use crate::tree::Node;
use crate::value::Value;
use kennel_box::Size;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// One MCP server: how it is reached or started, shared, bounded and shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// How it is started or reached.
    pub launch: Launch,
    /// Whether it is served at all.
    pub enabled: bool,
    /// What it is for, in place of what it says itself.
    pub description: Option<String>,
    /// Words by which views select it.
    pub tags: BTreeSet<String>,
    /// When its first process is started.
    pub start: Start,
    /// Which clients share a process.
    pub model: Model,
    /// How it is talked to.
    pub era: Era,
    /// How many calls a process gets at once; as many as there are if `None`.
    pub concurrency: Option<u32>,
    /// How many calls may wait for a process.
    pub queue: u32,
    /// The largest message, either way.
    pub max_message: Size,
    /// The largest result of a tool that passes; as `max_message` if `None`.
    pub max_result: Option<Size>,
    /// How large the install of its package may be.
    pub max_install: Size,
    /// How many files it may have.
    pub max_install_files: u32,
    /// How many processes it may have at once.
    pub max_processes: u32,
    /// After how long without calls a process is stopped; never if `None`.
    pub idle_stop: Option<Duration>,
    /// How often a process that died is started again before Kennel gives up.
    pub restarts: u32,
    /// How long the first restart waits.
    pub restart_delay: Duration,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Tools without which it does not count as started, by its own names.
    pub require_tools: Vec<String>,
    /// Which of its tools are shown, and how.
    pub tools: ToolRules,
}

/// How a server is started or reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Launch {
    /// Kennel starts it, in a box.
    Process(Box<Process>),
    /// It runs elsewhere.
    Upstream(Upstream),
}

/// A server that Kennel starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// The program.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Its variables.
    pub env: BTreeMap<String, Value>,
    /// Where it starts.
    pub cwd: Option<Template>,
    /// What its box may touch and use.
    pub sandbox: BoxSettings,
    /// Whether a newer version of its package is looked for when Kennel starts.
    pub refresh: bool,
}

/// A server that runs elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Where it is.
    pub url: Template,
    /// Headers of every request.
    pub headers: BTreeMap<String, Value>,
    /// How it is talked to.
    pub transport: Transport,
}

/// How a server that runs elsewhere is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Streamable HTTP, and the older HTTP with SSE where a server has only that.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// The older HTTP with SSE.
    Sse,
}

/// When the first process of a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// With the first call that needs it.
    #[default]
    Lazy,
    /// With Kennel.
    Eager,
}

/// Which clients share a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Model {
    /// Each session has its own.
    #[default]
    PerSession,
    /// All sessions have one together.
    Shared,
    /// All sessions of a user have one together.
    PerUser,
    /// Each call has its own.
    PerCall,
}

/// How a server is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Era {
    /// Found out when it is first started, and remembered.
    #[default]
    Auto,
    /// With sessions: up to 2025-11-25.
    Legacy,
    /// Without: since 2026-07-28.
    Modern,
}

/// How long things may take; where nothing is said, as long as Kennel lets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// A call without an answer or progress.
    pub call: Option<Duration>,
    /// A call in all.
    pub call_total: Option<Duration>,
    /// A call that waits for a process that is not ready.
    pub start: Option<Duration>,
    /// Installing the package.
    pub install: Option<Duration>,
    /// Making the box.
    pub create_box: Option<Duration>,
    /// Starting the program.
    pub start_process: Option<Duration>,
    /// From the first message to the end of the handshake.
    pub handshake: Option<Duration>,
    /// An answer in the modern era, before the legacy one is tried.
    pub discover: Option<Duration>,
    /// Listing the tools.
    pub preflight: Option<Duration>,
}

impl Server {
    /// Whether a process of the one would do for the other: they differ at most in how they are shown, which can be changed
    /// while a process runs.
    #[must_use]
    pub fn runs_like(&self, other: &Self) -> bool {
        let shown_as_other = Self {
            enabled: other.enabled,
            description: other.description.clone(),
            tags: other.tags.clone(),
            start: other.start,
            tools: other.tools.clone(),
            ..self.clone()
        };
        shown_as_other == *other
    }

    /// What tells what this server offers from what others offer: how it is started or reached, and what it can see, with
    /// the names of its variables and headers but not their values. It has arguments as they are written in it: hash it
    /// before it is kept.
    #[must_use]
    pub fn fingerprint(&self, directory: &Path) -> String {
        let written = |templates: &[Template]| templates.iter().map(Template::written).collect::<Vec<_>>();
        match &self.launch {
            Launch::Process(process) => {
                let Process { command, args, env, cwd, sandbox, .. } = process.as_ref();
                format!(
                    "process {} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                    directory.display(),
                    command.written(),
                    written(args),
                    env.keys().collect::<Vec<_>>(),
                    cwd.as_ref().map(Template::written),
                    written(&sandbox.read),
                    written(&sandbox.write),
                    (sandbox.engine, sandbox.network, sandbox.profile),
                )
            }
            Launch::Upstream(Upstream { url, headers, transport }) => {
                format!("upstream {:?} {:?} {transport:?}", url.written(), headers.keys().collect::<Vec<_>>())
            }
        }
    }

    /// Reads a table that was checked, and to which the defaults were added; `None` if it says no way to reach a server.
    pub(crate) fn read(table: &Node) -> Option<Self> {
        let fields = Fields::of(Some(table));
        let idle_stop = fields.minutes("idle-stop").unwrap_or(Duration::from_mins(15));
        Some(Self {
            launch: Launch::read(fields)?,
            enabled: fields.boolean("enabled").unwrap_or(true),
            description: fields.text("description").map(str::to_owned),
            tags: fields.texts("tags").into_iter().collect(),
            start: match fields.text("start") {
                Some("eager") => Start::Eager,
                _ => Start::Lazy,
            },
            model: match fields.text("model") {
                Some("shared") => Model::Shared,
                Some("per-user") => Model::PerUser,
                Some("per-call") => Model::PerCall,
                _ => Model::PerSession,
            },
            era: match fields.text("era") {
                Some("legacy") => Era::Legacy,
                Some("modern") => Era::Modern,
                _ => Era::Auto,
            },
            concurrency: fields.count("concurrency"),
            queue: fields.count("queue").unwrap_or(4096),
            max_message: fields.size("max-message").unwrap_or(Size::mebibytes(64)),
            max_result: fields.size("max-result"),
            max_install: fields.size("max-install").unwrap_or(Size::mebibytes(8192)),
            max_install_files: fields.count("max-install-files").unwrap_or(250_000),
            max_processes: fields.count("max-processes").unwrap_or(64),
            idle_stop: Some(idle_stop).filter(|time| !time.is_zero()),
            restarts: fields.count("restarts").unwrap_or(5),
            restart_delay: fields.seconds("restart-delay").unwrap_or(Duration::from_millis(250)),
            timeouts: Timeouts::read(fields.table("timeouts")),
            require_tools: fields.texts("require-tools"),
            tools: ToolRules::read(fields.table("tools")),
        })
    }
}

impl Launch {
    fn read(fields: Fields<'_>) -> Option<Self> {
        if let Some(url) = fields.template("url") {
            let transport = match fields.text("transport") {
                Some("http") => Transport::Http,
                Some("sse") => Transport::Sse,
                _ => Transport::Auto,
            };
            return Some(Self::Upstream(Upstream { url, headers: fields.values("headers"), transport }));
        }
        Some(Self::Process(Box::new(Process {
            command: fields.template("command")?,
            args: fields.templates("args"),
            env: fields.values("env"),
            cwd: fields.template("cwd"),
            sandbox: BoxSettings::read(fields.table("box")),
            refresh: fields.boolean("refresh").unwrap_or(false),
        })))
    }
}

impl Timeouts {
    fn read(fields: Fields<'_>) -> Self {
        Self {
            call: fields.seconds("call"),
            call_total: fields.seconds("call-total"),
            start: fields.seconds("start"),
            install: fields.seconds("install"),
            create_box: fields.seconds("create-box"),
            start_process: fields.seconds("start-process"),
            handshake: fields.seconds("handshake"),
            discover: fields.seconds("discover"),
            preflight: fields.seconds("preflight"),
        }
    }
}

impl ToolRules {
    fn read(fields: Fields<'_>) -> Self {
        Self {
            filter: ToolFilter::read(fields),
            rename: fields.by_name("rename"),
            descriptions: fields.by_name("descriptions"),
        }
    }
}

impl ToolFilter {
    pub(crate) fn read(fields: Fields<'_>) -> Self {
        Self { allow: fields.patterns("allow"), deny: fields.patterns("deny") }
    }
}
