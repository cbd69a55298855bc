//! Owns how what is wrong with a file is told: where it is, which key, what is wrong and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// More than this about one file helps nobody.
const MOST_PROBLEMS: usize = 100;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read at all.
    #[error("{} cannot be read: {source}{}", file.display(), hint(source))]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{} has more than {limit} bytes; is it really a configuration of MCP servers?", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// How much is read.
        limit: u64,
    },
    /// A directory holds more files than any collection of servers.
    #[error("{} holds more than {limit} files of servers", directory.display())]
    TooManyFiles {
        /// The directory.
        directory: PathBuf,
        /// How many are read.
        limit: usize,
    },
    /// A directory holds none.
    #[error("{} holds no file of servers: none ends with .json, .jsonc or .toml", directory.display())]
    Empty {
        /// The directory.
        directory: PathBuf,
    },
    /// Two files of a directory name the same thing.
    #[error("{}: the {what} `{name}` is in a file before this one, too; rename or remove one of them", file.display())]
    Twice {
        /// What it is.
        what: &'static str,
        /// Its name.
        name: String,
        /// The file that has it again.
        file: PathBuf,
    },
    /// The file says something that makes no sense; all of it is listed.
    #[error("{}", lines(problems))]
    Invalid {
        /// What is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
}

impl ConfigError {
    /// What is wrong in the file, if it could be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid { problems } => problems,
            Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::TooManyFiles { .. }
            | Self::Empty { .. }
            | Self::Twice { .. } => &[],
        }
    }
}

fn hint(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::NotFound => "; name another file with -c, or make one with `kennel add` or `kennel import`",
        _ => "",
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// One thing that is wrong, or that somebody should know, at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The key as it is written in the file, such as `servers.github.box.memory`; empty for the file as a whole.
    pub key: String,
    /// What is wrong. It never shows a value that may be secret.
    pub text: String,
    /// What to do about it.
    pub suggestion: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if !self.key.is_empty() {
            write!(formatter, "{}: ", self.key)?;
        }
        formatter.write_str(&self.text)?;
        match &self.suggestion {
            Some(suggestion) => write!(formatter, "; {suggestion}"),
            None => Ok(()),
        }
    }
}

/// Collects what is found in one file.
pub(crate) struct Report<'a> {
    file: &'a Path,
    text: &'a str,
    problems: Vec<(usize, Problem)>,
    warnings: Vec<(usize, Problem)>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(file: &'a Path, text: &'a str) -> Self {
        Self { file, text, problems: Vec::new(), warnings: Vec::new() }
    }

    /// Something that keeps the file from being used.
    pub(crate) fn problem(&mut self, at: usize, key: &str, text: impl Into<String>, suggestion: Option<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            let problem = self.place(at, key, text.into(), suggestion);
            if !self.problems.iter().any(|(_, known)| *known == problem) {
                self.problems.push((at, problem));
            }
        }
    }

    /// Something that should be known and keeps nothing from working.
    pub(crate) fn warning(&mut self, at: usize, key: &str, text: impl Into<String>, suggestion: Option<String>) {
        if self.warnings.len() < MOST_PROBLEMS {
            let warning = self.place(at, key, text.into(), suggestion);
            if !self.warnings.iter().any(|(_, known)| *known == warning) {
                self.warnings.push((at, warning));
            }
        }
    }

    pub(crate) fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// The warnings, or the problems if there are any; both in the order of the file.
    pub(crate) fn finish(self) -> Result<Vec<Problem>, ConfigError> {
        let sorted = |mut found: Vec<(usize, Problem)>| {
            found.sort_by_key(|(at, _)| *at);
            found.into_iter().map(|(_, problem)| problem).collect::<Vec<_>>()
        };
        if self.problems.is_empty() {
            Ok(sorted(self.warnings))
        } else {
            Err(ConfigError::Invalid { problems: sorted(self.problems) })
        }
    }

    fn place(&self, at: usize, key: &str, text: String, suggestion: Option<String>) -> Problem {
        let (line, column) = line_and_column(self.text, at);
        Problem { file: self.file.to_owned(), line, column, key: key.to_owned(), text, suggestion }
    }
}

/// The line and the column, both from 1, of a byte in a text; of its last character for what lies behind its end.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    if at == text.len() && text.ends_with('\n') {
        at -= 1;
    }
    let before = &text.as_bytes()[..at];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.split(|byte| *byte == b'\n').count();
    // Bytes that continue a character do not count.
    let column = before[start..].iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1;
    (line, column)
}

/// A key below another one, quoted where its letters ask for it.
pub(crate) fn join(path: &str, key: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let key = if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
