//! Owns what can be wrong with a client's file, said with the place in it and what to do.

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
