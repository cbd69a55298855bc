//! Owns what one server of any client's file is, without the client's way to spell it.

use super::client::Client;
use super::document::Node;
use super::text::Text;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// One server of a client's file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the client calls it.
    pub name: String,
    /// Where it was found.
    pub origin: Origin,
    /// How it is started or reached.
    pub launch: Launch,
    /// Whether the client uses it.
    pub enabled: bool,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Which of its tools are wanted.
    pub tools: Tools,
    /// What people have written about it.
    pub description: Option<String>,
    /// What else the file says of it, as it was.
    pub other: Vec<(String, Node)>,
}

impl Entry {
    /// Whether both say the same of a server, wherever they stand.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        let Self { name, origin: _, launch, enabled, timeouts, tools, description, other: rest } = self;
        (name, launch, enabled, timeouts, tools, description, rest)
            == (
                &other.name,
                &other.launch,
                &other.enabled,
                &other.timeouts,
                &other.tools,
                &other.description,
                &other.other,
            )
    }
}

/// How a server is started or reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// A program that talks on standard input and output.
    Stdio {
        /// The program.
        command: Text,
        /// Its arguments.
        args: Vec<Text>,
        /// Variables that are set for it, in the file's order.
        env: Vec<(String, Text)>,
        /// Where it is started.
        cwd: Option<Text>,
    },
    /// An address.
    Http {
        /// The address.
        url: Text,
        /// What is sent with every request, in the file's order.
        headers: Vec<(String, Text)>,
        /// How to talk there.
        transport: Transport,
    },
}

impl Launch {
    /// All texts in it that may have placeholders.
    #[must_use]
    pub fn texts(&self) -> Vec<&Text> {
        match self {
            Self::Stdio { command, args, env, cwd } => {
                [command].into_iter().chain(args).chain(env.iter().map(|(_, text)| text)).chain(cwd).collect()
            }
            Self::Http { url, headers, .. } => [url].into_iter().chain(headers.iter().map(|(_, text)| text)).collect(),
        }
    }
}

/// How a server at an address is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP, or the older way where a server has only that.
    Auto,
    /// Streamable HTTP.
    Http,
    /// The older way with server-sent events.
    Sse,
}

/// How long things may take; `None` leaves it to the program that uses the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// To start.
    pub start: Option<Duration>,
    /// A call.
    pub call: Option<Duration>,
}

/// Which tools of a server are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Only these, if said.
    pub allow: Option<Vec<String>>,
    /// Not these.
    pub deny: Vec<String>,
}

/// For whom a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Everything that the user does.
    User,
    /// One project, by its directory.
    Project(PathBuf),
    /// A plugin of Claude Code.
    Plugin {
        /// Its name.
        name: String,
        /// Where it is installed.
        root: PathBuf,
    },
    /// A file that was named.
    File,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Project(directory) => write!(f, "project {}", directory.display()),
            Self::Plugin { name, .. } => write!(f, "plugin {name}"),
            Self::File => f.write_str("file"),
        }
    }
}

/// Where a server was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whose file it is.
    pub client: Client,
    /// For whom the file holds.
    pub scope: Scope,
    /// The file.
    pub file: PathBuf,
    /// The line on which the server's definition begins.
    pub line: usize,
    /// Its name in the file, with all that it stands in.
    pub key: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}:{})", self.client, self.scope, self.file.display(), self.line)
    }
}
