//! Owns what can be wrong with a client's file, said with the place in it and what to do, and why a client cannot be told.

use super::client::Client;
use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a file, as editors count it: the first line and the first letter are 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The file.
    pub file: PathBuf,
    /// The line.
    pub line: usize,
    /// The letter in that line.
    pub column: usize,
}

impl Spot {
    /// Where in a text a byte stands.
    pub(crate) fn find(file: &Path, text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Why nothing is taken from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be read.
    #[error("{} could not be read: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is larger than any list of servers.
    #[error("{} has more than {limit} bytes, which no list of servers needs; name the right file", .file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// How many bytes it may have.
        limit: u64,
    },
    /// The file is no text.
    #[error("{spot}: this is no UTF-8 text; save the file as UTF-8")]
    NotText {
        /// The first byte that is none.
        spot: Spot,
    },
    /// The file breaks the rules of its language.
    #[error("{spot}: {problem}; mend the file, nothing was taken from it")]
    Syntax {
        /// Where.
        spot: Spot,
        /// What the parser says.
        problem: String,
    },
    /// A value is of the wrong kind.
    #[error("{spot}: `{key}` must be {expected}, but it is {found}")]
    Kind {
        /// Where.
        spot: Spot,
        /// The value's name, with all that it stands in.
        key: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A value is of the right kind and makes no sense.
    #[error("{spot}: `{key}` {problem}")]
    Value {
        /// Where.
        spot: Spot,
        /// The value's name, with all that it stands in.
        key: String,
        /// What is wrong, as the rest of a sentence.
        problem: String,
    },
    /// Nothing in the file is a list of servers.
    #[error(
        "{} has no list of servers; Kennel knows `mcpServers`, `servers`, `mcp`, `mcp_servers` and `context_servers`",
        .file.display()
    )]
    NoServers {
        /// The file.
        file: PathBuf,
    },
    /// A directory holds more files than any collection of servers.
    #[error("{} holds more than {limit} files of servers; name the files one by one", .directory.display())]
    TooMany {
        /// The directory.
        directory: PathBuf,
        /// How many it may hold.
        limit: usize,
    },
}

/// Why a client cannot be told of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SayError {
    /// The client only starts programs.
    #[error("`{name}` is at an address, and {client} only starts programs; use `kennel client install {}`", .client.word())]
    Address {
        /// The server.
        name: String,
        /// The client.
        client: Client,
    },
    /// The client talks Streamable HTTP only.
    #[error("`{name}` wants the older transport with SSE, which {client} does not speak; serve it through Kennel")]
    Transport {
        /// The server.
        name: String,
        /// The client.
        client: Client,
    },
    /// The client cannot fill a placeholder.
    #[error(
        "`{name}` has {placeholder} in `{key}`, which {client} cannot fill; serve it through Kennel, or write the value"
    )]
    Placeholder {
        /// The server.
        name: String,
        /// The client.
        client: Client,
        /// What holds the placeholder.
        key: String,
        /// The placeholder.
        placeholder: String,
    },
    /// The secret is where no client can fetch it.
    #[error("`{name}` takes `{key}` from a secret store that only Kennel asks; serve it through Kennel")]
    Reference {
        /// The server.
        name: String,
        /// What holds the secret.
        key: String,
    },
    /// The client has no switch.
    #[error("`{name}` is turned off, which {client} cannot be told, so it is left out")]
    Off {
        /// The server.
        name: String,
        /// The client.
        client: Client,
    },
}
