//! Owns the tables of words: what each client calls the things that all of them have.

use super::client::Client;
use super::entry::Transport;
use super::text::Spelling;

/// How a client says which program to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandForm {
    /// `command` is the program, `args` are its arguments.
    Apart,
    /// `command` is a list of both.
    Together,
    /// As apart, and `args` has to be there; `command` may also be a table of `path`, `args` and `env`, as older versions
    /// wrote it.
    ApartOrTable,
}

/// In what a client counts time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
}

/// A client's words. Where there are several for one thing, all are understood and the first is written.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) spelling: Spelling,
    pub(crate) command: CommandForm,
    /// `None` where the client starts no program anywhere else.
    pub(crate) cwd: Option<&'static str>,
    pub(crate) env: &'static str,
    pub(crate) headers: &'static str,
    /// Names of the address, with what they mean if no kind is said. Without any the client reaches no address.
    pub(crate) urls: &'static [(&'static str, Transport)],
    /// The key that says the kind, and its words.
    pub(crate) kind: Option<&'static str>,
    pub(crate) kinds: &'static [(&'static str, Kind)],
    /// Whether the client needs the kind of a program, and of an address, to be written.
    pub(crate) writes_kind: WritesKind,
    /// Names of the switch, with the value that turns a server off.
    pub(crate) off: &'static [(&'static str, bool)],
    /// How the client itself is told that a server is off.
    pub(crate) switch: Switch,
    pub(crate) start_timeout: Option<(&'static str, Unit)>,
    pub(crate) call_timeout: Option<(&'static str, Unit)>,
    pub(crate) allow: Option<&'static str>,
    pub(crate) deny: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    /// What is written into every new entry.
    pub(crate) always: &'static [(&'static str, &'static str)],
}

/// What a word for a kind means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Stdio,
    Http,
    Sse,
    /// An address that is talked to in one way or the other.
    Either,
}

/// How a client is told that a server is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// By the first of the names.
    Key,
    /// By a list of names beside the list of servers.
    List(&'static [&'static str]),
    /// Not at all: a server in the file is on.
    None,
}

/// When a client wants its kind to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritesKind {
    /// Where the name of the address means another one.
    WhereNeeded,
    Addresses,
    Always,
}

const KINDS: &[(&str, Kind)] = &[
    ("stdio", Kind::Stdio),
    ("http", Kind::Http),
    ("sse", Kind::Sse),
    ("streamable-http", Kind::Http),
    ("streamableHttp", Kind::Http),
    ("streamable_http", Kind::Http),
];

const COMMON: Dialect = Dialect {
    spelling: Spelling::Braces,
    command: CommandForm::Apart,
    cwd: Some("cwd"),
    env: "env",
    headers: "headers",
    urls: &[("url", Transport::Auto)],
    kind: Some("type"),
    kinds: KINDS,
    writes_kind: WritesKind::WhereNeeded,
    off: &[("disabled", true), ("enabled", false)],
    switch: Switch::Key,
    start_timeout: None,
    call_timeout: None,
    allow: None,
    deny: None,
    description: None,
    always: &[],
};

const CLAUDE_DESKTOP: Dialect = Dialect { spelling: Spelling::Plain, urls: &[], switch: Switch::None, ..COMMON };

const CLAUDE_CODE: Dialect = Dialect {
    cwd: None,
    urls: &[("url", Transport::Http)],
    writes_kind: WritesKind::Addresses,
    switch: Switch::None,
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    ..COMMON
};

const CURSOR: Dialect = Dialect { spelling: Spelling::Editor, ..COMMON };

const VS_CODE: Dialect = Dialect {
    switch: Switch::None,
    spelling: Spelling::Editor,
    urls: &[("url", Transport::Http)],
    writes_kind: WritesKind::Always,
    ..COMMON
};

const CODEX: Dialect = Dialect {
    spelling: Spelling::Plain,
    headers: "http_headers",
    urls: &[("url", Transport::Http)],
    kind: None,
    off: &[("enabled", false)],
    start_timeout: Some(("startup_timeout_sec", Unit::Seconds)),
    call_timeout: Some(("tool_timeout_sec", Unit::Seconds)),
    allow: Some("enabled_tools"),
    deny: Some("disabled_tools"),
    ..COMMON
};

const GEMINI: Dialect = Dialect {
    switch: Switch::List(&["mcp", "excluded"]),
    spelling: Spelling::Dollar,
    urls: &[("httpUrl", Transport::Http), ("url", Transport::Auto)],
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    allow: Some("includeTools"),
    deny: Some("excludeTools"),
    description: Some("description"),
    ..COMMON
};

const WINDSURF: Dialect = Dialect {
    spelling: Spelling::Editor,
    urls: &[("serverUrl", Transport::Auto), ("url", Transport::Auto)],
    deny: Some("disabledTools"),
    ..COMMON
};

const OPEN_CODE: Dialect = Dialect {
    spelling: Spelling::OpenCode,
    command: CommandForm::Together,
    env: "environment",
    kinds: &[("local", Kind::Stdio), ("remote", Kind::Either)],
    writes_kind: WritesKind::Always,
    off: &[("enabled", false), ("disabled", true)],
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    ..COMMON
};

const ZED: Dialect = Dialect {
    spelling: Spelling::Plain,
    command: CommandForm::ApartOrTable,
    urls: &[("url", Transport::Http)],
    kind: None,
    off: &[("enabled", false)],
    call_timeout: Some(("timeout", Unit::Seconds)),
    always: &[("source", "custom")],
    ..COMMON
};

impl Client {
    /// The client's words.
    pub(crate) fn dialect(self) -> &'static Dialect {
        match self {
            Self::ClaudeDesktop => &CLAUDE_DESKTOP,
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Cursor => &CURSOR,
            Self::VsCode => &VS_CODE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Windsurf => &WINDSURF,
            Self::OpenCode => &OPEN_CODE,
            Self::Zed => &ZED,
            Self::Common => &COMMON,
        }
    }
}
