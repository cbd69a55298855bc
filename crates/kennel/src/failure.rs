//! How a command fails: what, why, and what to do, in plain lines on standard error.

use kennel_box::BoxError;
use kennel_jail::{JailError, Stage};
use std::fmt;
use std::process::ExitCode;

/// The codes that `env` and the container engines use for the same reasons.
const SERVER_FAILED: u8 = 1;
const KENNEL_FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A box could not be made or used.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// The endpoint could not be taken.
    #[error(transparent)]
    Bind(#[from] kennel_gateway::BindError),
    /// The server could not be started; why was said when it happened.
    #[error("{0}")]
    Server(String),
    /// A client's file cannot be used.
    #[error(transparent)]
    Read(#[from] kennel_config::clients::ReadError),
    /// Kennel's own file of servers cannot be used.
    #[error(transparent)]
    Config(#[from] kennel_config::ConfigError),
    /// Kennel's own file of servers is not changed.
    #[error(transparent)]
    Plan(#[from] kennel_config::clients::PlanError),
    /// A file was not changed.
    #[error(transparent)]
    Write(#[from] kennel_config::clients::WriteError),
    /// A change was not taken back.
    #[error(transparent)]
    Undo(#[from] kennel_config::clients::UndoError),
    /// Nobody could be asked whether a file may be changed.
    #[error("{} was not changed: there is no terminal at which to ask", .0.display())]
    Unasked(std::path::PathBuf),
    /// An argument makes no sense.
    #[error("{0}")]
    Argument(String),
    /// The system refused something that always works.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Failure {
    /// What to do about it, where that is known.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Box(BoxError::Jail(error)) => error.hint().map(str::to_owned),
            Self::Unasked(_) => Some("look at what would change with --dry-run, and say --yes".to_owned()),
            _ => None,
        }
    }
}

/// A failure as it is shown.
pub(crate) struct Shown(Failure);

impl<F: Into<Failure>> From<F> for Shown {
    fn from(failure: F) -> Self {
        Self(failure.into())
    }
}

impl From<JailError> for Failure {
    fn from(error: JailError) -> Self {
        Self::Box(error.into())
    }
}

impl Shown {
    /// The exit code that tells a script what happened.
    pub(crate) fn code(&self) -> ExitCode {
        let code = match &self.0 {
            Failure::Box(BoxError::Jail(JailError::NotStarted(error))) if error.stage == Stage::Execute => {
                if error.errno() == rustix::io::Errno::NOENT { NOT_FOUND } else { NOT_EXECUTABLE }
            }
            Failure::Server(_) => SERVER_FAILED,
            _ => KENNEL_FAILED,
        };
        ExitCode::from(code)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kennel: {}", self.0)?;
        if let Some(hint) = self.0.hint() {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}
