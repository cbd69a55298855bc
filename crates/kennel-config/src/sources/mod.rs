//! Owns where secrets come from: Kennel's own variables, files, programs and the keyring of the desktop.

mod program;

use crate::secret::Secret;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest secret.
pub(crate) const LONGEST_SECRET: usize = 64 << 10;
/// How long a program that prints a secret may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The program that asks the keyring.
const KEYRING_PROGRAM: &str = "secret-tool";

/// Where values come from. Reading may block: whoever must not be held up asks elsewhere.
pub trait Sources {
    /// One of Kennel's own variables; `None` if it is not set.
    fn variable(&self, name: &str) -> Result<Option<String>, SourceError>;
    /// What a file holds, without its last line end.
    fn file(&self, path: &Path) -> Result<SecretFile, SourceError>;
    /// What a program prints, without its last line end.
    fn command(&self, words: &[String], directory: &Path) -> Result<Secret, SourceError>;
    /// What the keyring holds for an account of a service.
    fn keyring(&self, service: &str, account: &str) -> Result<Secret, SourceError>;
}

/// A secret from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFile {
    /// What it holds.
    pub secret: Secret,
    /// Whether users other than its owner and its group may read it.
    pub readable_by_all: bool,
}

/// Why a value cannot be had. None of this shows a value.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The variable holds bytes that are no text.
    #[error("the value of variable `{0}` is not UTF-8")]
    NotUnicode(String),
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The file is no place for a secret.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The program is not there or cannot be started.
    #[error("`{program}` cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The program failed; what it printed as a reason.
    #[error("`{program}` failed{}{said}", if said.is_empty() { "" } else { ": " })]
    Failed {
        /// The program.
        program: String,
        /// The last line of its standard error.
        said: String,
    },
    /// The program took too long. It has no terminal to ask at.
    #[error("`{program}` gave no answer within {} seconds; it has no terminal to ask you at", patience.as_secs())]
    TimedOut {
        /// The program.
        program: String,
        /// How long it was waited for.
        patience: Duration,
    },
    /// What is there is longer than a secret.
    #[error("{place} gives more than {LONGEST_SECRET} bytes, which is no secret")]
    TooLong {
        /// Where it comes from.
        place: String,
    },
    /// What is there cannot be given to a program.
    #[error("what {place} gives is not text that a program can be given")]
    NotText {
        /// Where it comes from.
        place: String,
    },
    /// There is nothing.
    #[error("{place} gives nothing")]
    Empty {
        /// Where it comes from.
        place: String,
    },
    /// There is no program that asks the keyring.
    #[error(
        "the keyring is asked through `secret-tool`, which is not installed; install it (package libsecret-tools or \
         libsecret), or keep the secret elsewhere"
    )]
    NoKeyring,
    /// The keyring has no such entry, or is locked.
    #[error(
        "the keyring has nothing for account `{account}` of `{service}`, or is locked; store it with \
         `secret-tool store --label '{service}' service '{service}' username '{account}'`"
    )]
    NotInKeyring {
        /// The service.
        service: String,
        /// The account.
        account: String,
    },
}

/// The real sources.
#[derive(Debug, Clone)]
pub struct SystemSources {
    patience: Duration,
    keyring_program: OsString,
}

impl Default for SystemSources {
    fn default() -> Self {
        Self { patience: PATIENCE, keyring_program: KEYRING_PROGRAM.into() }
    }
}

impl Sources for SystemSources {
    fn variable(&self, name: &str) -> Result<Option<String>, SourceError> {
        match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(SourceError::NotUnicode(name.to_owned())),
        }
    }

    fn file(&self, path: &Path) -> Result<SecretFile, SourceError> {
        let failed = |source| SourceError::File { path: path.to_owned(), source };
        // Before it is opened: opening a pipe would wait for somebody to write.
        let found = std::fs::metadata(path).map_err(failed)?;
        if !found.is_file() {
            return Err(SourceError::NotAFile(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(LONGEST_SECRET as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let secret = secret(bytes, &path.display().to_string())?;
        Ok(SecretFile { secret, readable_by_all: found.permissions().mode() & 0o004 != 0 })
    }

    fn command(&self, words: &[String], directory: &Path) -> Result<Secret, SourceError> {
        let Some((program, args)) = words.split_first() else {
            return Err(SourceError::Empty { place: "a command without words".to_owned() });
        };
        let printed = program::run(program.as_ref(), args, Some(directory), self.patience)?;
        secret(printed, &format!("`{program}`"))
    }

    fn keyring(&self, service: &str, account: &str) -> Result<Secret, SourceError> {
        let words = ["lookup", "service", service, "username", account].map(str::to_owned);
        let absent = || SourceError::NotInKeyring { service: service.to_owned(), account: account.to_owned() };
        match program::run(&self.keyring_program, &words, None, self.patience) {
            Ok(printed) if printed.is_empty() => Err(absent()),
            Ok(printed) => secret(printed, "the keyring"),
            Err(SourceError::Failed { said, .. }) if said.is_empty() => Err(absent()),
            Err(SourceError::Start { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Err(SourceError::NoKeyring)
            }
            Err(error) => Err(error),
        }
    }
}

/// The text without its last line end, if it can be a secret.
fn secret(bytes: Vec<u8>, place: &str) -> Result<Secret, SourceError> {
    let place = || place.to_owned();
    if bytes.len() > LONGEST_SECRET {
        return Err(SourceError::TooLong { place: place() });
    }
    let text = String::from_utf8(bytes).map_err(|_| SourceError::NotText { place: place() })?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.contains('\0') {
        return Err(SourceError::NotText { place: place() });
    }
    if text.is_empty() {
        return Err(SourceError::Empty { place: place() });
    }
    Ok(Secret::new(text))
}

#[cfg(test)]
#[path = "../sources_tests.rs"]
mod tests;
