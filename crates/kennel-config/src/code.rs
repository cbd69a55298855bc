//! Owns what is known of code mode.

use crate::fields::Fields;
use crate::template::Template;
use kennel_box::Size;
use std::time::Duration;

/// How code mode runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeSettings {
    /// Whether it is offered.
    pub enabled: bool,
    /// The interpreter; found where nothing is said.
    pub python: Option<Template>,
    /// Paths that code sees, read-only.
    pub read: Vec<Template>,
    /// How many interpreters are kept ready.
    pub warm: u32,
    /// How long a cell may run where its caller says nothing.
    pub timeout: Duration,
    /// The longest that a caller may ask for.
    pub max_timeout: Duration,
    /// How long a call waits for its cell before it returns what there is.
    pub yield_after: Duration,
    /// After how long without cells an interpreter is stopped.
    pub idle_stop: Duration,
    /// How many notebooks there are at once.
    pub notebooks: u32,
    /// How many tools one cell may call.
    pub calls: u32,
    /// Memory of each interpreter's box.
    pub memory: Size,
    /// Which tools run without asking somebody.
    pub approve: Approval,
}

impl Default for CodeSettings {
    fn default() -> Self {
        Self::read(Fields::of(None))
    }
}

impl CodeSettings {
    pub(crate) fn read(fields: Fields<'_>) -> Self {
        Self {
            enabled: fields.boolean("enabled").unwrap_or(true),
            python: fields.template("python"),
            read: fields.templates("read"),
            warm: fields.count("warm").unwrap_or(2),
            timeout: fields.seconds("timeout").unwrap_or(Duration::from_secs(30)),
            max_timeout: fields.seconds("max-timeout").unwrap_or(Duration::from_mins(2)),
            yield_after: fields.seconds("yield-after").unwrap_or(Duration::from_secs(15)),
            idle_stop: fields.minutes("idle-stop").unwrap_or(Duration::from_mins(5)),
            notebooks: fields.count("notebooks").unwrap_or(128),
            calls: fields.count("calls").unwrap_or(1000),
            memory: fields.size("memory").unwrap_or(Size::mebibytes(512)),
            approve: Approval::read(fields).unwrap_or_default(),
        }
    }
}

/// Which tools that code calls run without asking somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// All of them.
    #[default]
    Auto,
    /// Those that say that they change nothing; the client's user is asked about the others.
    Ask,
    /// Those that say that they change nothing; the others do not run.
    Deny,
}

impl Approval {
    pub(crate) fn read(fields: Fields<'_>) -> Option<Self> {
        match fields.text("approve")? {
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => Some(Self::Auto),
        }
    }
}
