//! What went wrong with an instance: all of it for the operator, and a short safe text for the client.

use crate::phase::Phase;
use kennel_box::{ExitCause, ExitReport};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permanence {
    /// Another attempt may succeed.
    Transient,
    /// Another attempt would fail in the same way, until someone changes something.
    Permanent,
}

/// Why an instance could not be started, or ended without being asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where it happened.
    pub phase: Phase,
    /// What happened.
    pub cause: Cause,
    /// What else was tried before this was told, such as the other era, and what became of it; for the operator.
    pub remark: Option<String>,
    /// What the operator can do about it, where that is known.
    pub hint: Option<String>,
    /// Whether trying again can help.
    pub permanence: Permanence,
    /// The last lines the process wrote to standard error, oldest first.
    pub stderr: Vec<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The process could not be made; the text is the launcher's, for the operator.
    Launch(String),
    /// The phase took longer than its budget.
    TimedOut {
        /// The budget.
        budget: Duration,
        /// How the first line began that was not a message, if the process wrote such lines.
        junk: Option<String>,
    },
    /// The process ended.
    Exited(ExitReport),
    /// The process answered, but not as an MCP server of this era does.
    Protocol(String),
    /// The process answered with more than may pass.
    TooLarge {
        /// How many bytes its answer has.
        length: u64,
    },
    /// Tools that the definition requires are not there.
    MissingTools(Vec<String>),
    /// The process did not answer this many probes in a row.
    Ill {
        /// How many.
        probes: u32,
    },
    /// The process cannot be reached any more, though it may run.
    Lost(String),
}

impl Failure {
    /// A failure without remark, hint and standard error.
    #[must_use]
    pub fn new(phase: Phase, cause: Cause, permanence: Permanence) -> Self {
        Self { phase, cause, remark: None, hint: None, permanence, stderr: Vec::new() }
    }

    /// The end of a process that nobody asked for.
    pub(crate) fn exited(phase: Phase, report: ExitReport, stderr: Vec<String>) -> Self {
        let hint = match report.cause {
            ExitCause::OutOfMemory => Some("raise the memory limit of the box if the server needs that much"),
            ExitCause::PidsLimit => Some("raise the limit of processes of the box if the server needs that many"),
            ExitCause::Seccomp => {
                Some("the box forbids this system call to every server; look for a setting to avoid it")
            }
            ExitCause::Deadline => Some("a server must not have a deadline; remove it from the definition"),
            ExitCause::Exited | ExitCause::Signalled | ExitCause::BoxEnded => None,
        };
        let hint = hint.map(str::to_owned);
        Self { hint, stderr, ..Self::new(phase, Cause::Exited(report), Permanence::Transient) }
    }

    /// What a client may be told: short, and without paths, output or anything else of the process.
    #[must_use]
    pub fn client_text(&self) -> String {
        let what = match &self.cause {
            Cause::Launch(_) => match self.phase {
                Phase::EngineUnavailable => "no server can be started on this machine at present",
                Phase::Install => "the server could not be installed",
                _ => "the server could not be started",
            },
            Cause::TimedOut { .. } => "the server was not ready in time",
            Cause::Exited(report) => match report.cause {
                ExitCause::OutOfMemory => "the server ran out of memory",
                ExitCause::PidsLimit => "the server reached its limit of processes",
                ExitCause::Seccomp => "the server made a forbidden system call",
                ExitCause::Deadline => "the server ran longer than it may",
                ExitCause::Exited | ExitCause::Signalled | ExitCause::BoxEnded => "the server ended unexpectedly",
            },
            Cause::Protocol(_) => "the server does not speak the protocol",
            Cause::TooLarge { .. } => "the server says more of itself than may pass",
            Cause::MissingTools(_) => "the server lacks a tool that it must have",
            Cause::Ill { .. } => "the server does not answer any more",
            Cause::Lost(_) => "the connection to the server was lost",
        };
        format!("{what} (phase {})", self.phase)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(text) | Self::Protocol(text) | Self::Lost(text) => formatter.write_str(text),
            Self::TimedOut { budget, junk } => {
                write!(formatter, "not done within {} s", budget.as_secs_f64())?;
                match junk {
                    Some(junk) => {
                        write!(formatter, "; the process wrote what is not a message, beginning with: {junk}")
                    }
                    None => Ok(()),
                }
            }
            Self::Exited(report) => write!(formatter, "the process ended: {report}"),
            Self::TooLarge { length } => write!(
                formatter,
                "the process answered with {length} bytes, which are more than pass; raise --max-message or `max-message` \
                 if it needs that much"
            ),
            Self::MissingTools(names) => {
                write!(formatter, "the server has no tool `{}`, which the definition requires", names.join("`, `"))
            }
            Self::Ill { probes } => write!(formatter, "the process did not answer {probes} probes in a row"),
        }
    }
}

/// Everything, for the operator.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.phase, self.cause)?;
        if let Some(remark) = &self.remark {
            write!(formatter, "; {remark}")?;
        }
        if let Some(hint) = &self.hint {
            write!(formatter, "\nhint: {hint}")?;
        }
        if !self.stderr.is_empty() {
            formatter.write_str("\nlast lines of standard error:")?;
            for line in &self.stderr {
                write!(formatter, "\n  {line}")?;
            }
        }
        Ok(())
    }
}

/// For the operator, like [`fmt::Display`], but in parts.
impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Failure", 7)?;
        fields.serialize_field("phase", &self.phase)?;
        fields.serialize_field("cause", &self.cause.to_string())?;
        fields.serialize_field("remark", &self.remark)?;
        fields.serialize_field("client_text", &self.client_text())?;
        fields.serialize_field("hint", &self.hint)?;
        fields.serialize_field("permanence", &self.permanence)?;
        fields.serialize_field("stderr", &self.stderr)?;
        fields.end()
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
