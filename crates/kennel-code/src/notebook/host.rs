//! What a cell may ask of Kennel, and who answers.

use super::patience::Patience;
use crate::owner::Holder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// A future of a host. Dropping it calls the request off.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers what cells ask for.
pub trait Host: Send + Sync {
    /// Works on one request of a cell. Several of a cell are worked on at once.
    fn ask<'a>(&'a self, cell: &'a CellContext, ask: Ask) -> HostFuture<'a, Result<Box<RawValue>, AskError>>;
}

impl fmt::Debug for dyn Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Host")
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellContext {
    /// Who has begun the cell.
    pub holder: Holder,
    /// The name of the notebook.
    pub session: Arc<str>,
    /// The id of the cell.
    pub cell: Arc<str>,
    /// The aliases of the servers that the cell may use; all where there is no list. Calls and descriptions of others
    /// are refused before the host hears of them; a search has to leave them out itself.
    pub servers: Option<Arc<[String]>>,
    /// Who is told that a person is asked for the cell.
    pub patience: Patience,
}

impl CellContext {
    /// Whether the cell may use a server.
    #[must_use]
    pub fn may_use(&self, alias: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.iter().any(|server| server == alias))
    }
}

/// A request of a cell.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Call a tool; the answer is its result as the protocol has it.
    CallTool(CallTool),
    /// Find tools.
    SearchTools(SearchTools),
    /// The documentation of tools as text.
    DescribeTools(DescribeTools),
    /// Keep a function for later notebooks.
    SaveTool(SaveTool),
    /// Keep it no longer.
    RemoveTool(RemoveTool),
    /// What is kept.
    ListSaved,
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize)]
pub struct CallTool {
    /// The alias of the server.
    pub alias: String,
    /// The name of the tool as its server has it.
    pub tool: String,
    /// The arguments, an object.
    pub arguments: Option<Box<RawValue>>,
}

/// A search for tools.
#[derive(Debug, Clone, Deserialize)]
pub struct SearchTools {
    /// What they should be good for.
    pub query: String,
    /// How many are wanted.
    pub limit: Option<u64>,
    /// The aliases of the servers to look at.
    pub servers: Option<Vec<String>>,
    /// How much is told of each.
    pub detail: Option<String>,
}

/// Which tools are to be described.
#[derive(Debug, Clone, Deserialize)]
pub struct DescribeTools {
    /// The alias of the server.
    pub alias: String,
    /// The names of the tools; all where there is no list.
    pub tools: Option<Vec<String>>,
}

/// A function to be kept.
#[derive(Debug, Clone, Deserialize)]
pub struct SaveTool {
    /// Its name.
    pub name: String,
    /// Its source.
    pub source: String,
    /// What it is good for.
    pub description: Option<String>,
}

/// A function to be kept no longer.
#[derive(Debug, Clone, Deserialize)]
pub struct RemoveTool {
    /// Its name.
    pub name: String,
}

/// Of what kind a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskErrorKind {
    /// The tool itself says that it failed.
    Tool,
    /// Its server could not answer, or the request is not one.
    Protocol,
    /// The cell may not do this.
    Refused,
    /// The cell has done too much of it.
    Limit,
}

/// Why a request has no answer.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct AskError {
    /// Of what kind it is.
    pub kind: AskErrorKind,
    /// What happened.
    pub message: String,
    /// The code of a protocol error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The data of a protocol error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    /// What the tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
}

impl AskError {
    /// A failure with nothing but a message.
    #[must_use]
    pub fn new(kind: AskErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, data: None, content: None }
    }
}
