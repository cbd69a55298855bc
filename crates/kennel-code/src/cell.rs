//! Cells: what is asked for, and what comes back in which form.

mod forms;
mod toon;

pub use forms::Format;

use crate::notebook::Host;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A cell to be run.
#[derive(Debug, Clone)]
pub struct CellRequest {
    /// The Python code.
    pub code: String,
    /// The aliases of the servers that it may use; all where there is no list.
    pub servers: Option<Arc<[String]>>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// The message that says which servers there are.
    pub catalog: Option<Versioned>,
    /// The message that says which tools are saved.
    pub saved: Option<Versioned>,
    /// Who answers what it asks for.
    pub host: Arc<dyn Host>,
}

impl CellRequest {
    /// A cell that may use all servers and run as long as is usual.
    #[must_use]
    pub fn new(code: impl Into<String>, host: Arc<dyn Host>) -> Self {
        Self { code: code.into(), servers: None, timeout: None, catalog: None, saved: None, host }
    }
}

/// A message that an interpreter needs once, until there is another version of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// Differs where the message differs.
    pub version: u64,
    /// The message as JSON.
    pub message: Bytes,
}

/// How a cell has ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It came to its end.
    Success,
    /// An exception or an exit with a code other than 0 ended it, or its interpreter ended.
    Error,
    /// It took too long.
    Timeout,
    /// It was not run: what was asked for is not possible.
    ValidationError,
    /// It waits or runs.
    Running,
    /// It was called off.
    Cancelled,
}

impl Status {
    /// Whether a client should see it as a failure.
    #[must_use]
    pub fn is_error(self) -> bool {
        match self {
            Self::Error | Self::Timeout | Self::ValidationError => true,
            Self::Success | Self::Running | Self::Cancelled => false,
        }
    }

    /// As results spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::ValidationError => "validation_error",
            Self::Running => "running",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What ended a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellError {
    /// The name of the exception, or of what happened.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// Where it was raised, as Python prints it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub traceback: String,
}

/// What a client hears of a cell. Output that was returned before is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellResult {
    /// How it has ended, or that it has not.
    pub status: Status,
    /// Its id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cell: String,
    /// The name of its notebook.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// What it printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// What it printed as errors.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Its last expression, as Python writes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// What ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CellError>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How many tools it has called.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u64,
}

impl CellResult {
    /// A result that has nothing but a status yet.
    #[must_use]
    pub fn new(status: Status, cell: &str, session: &str) -> Self {
        Self {
            status,
            cell: cell.to_owned(),
            session: session.to_owned(),
            stdout: String::new(),
            stderr: String::new(),
            value: String::new(),
            error: None,
            notes: Vec::new(),
            calls: 0,
        }
    }

    /// The result of a request that is not possible.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        let error = CellError { kind: "ValidationError".to_owned(), message: message.into(), ..CellError::default() };
        Self { error: Some(error), ..Self::new(Status::ValidationError, "", "") }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
