//! Reads what a client asks of `search_tools` and `describe_tools`, and says what is wrong so that a model can mend it.

use super::json::Json;
use super::stub::Detail;
use kennel_wire::RawJson;
use thiserror::Error;

/// How many tools a search returns unless the client says.
const DEFAULT_LIMIT: usize = 5;
/// How many tools a search returns at most.
const LARGEST_LIMIT: usize = 50;
/// How many tools can be asked for at once.
const MOST_TOOLS: usize = 200;

/// What a client asks of `search_tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchArguments {
    /// What it wants to do.
    pub query: String,
    /// How many tools it wants: 1 to 50, whatever it said.
    pub limit: usize,
    /// The only servers whose tools it wants, by name or alias; where nothing is said, all.
    pub servers: Option<Vec<String>>,
    /// What it wants of each tool.
    pub detail: Detail,
}

/// What a client asks of `describe_tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribeArguments {
    /// The tools: `server.tool`, `server.*` or `server`, each with the name or the alias.
    pub tools: Vec<String>,
    /// What it wants of each tool.
    pub detail: Detail,
}

/// What is wrong with the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// There is no question.
    #[error("search_tools needs `query`: a text that says in a few words what you want to do")]
    NoQuery,
    /// The limit is no number.
    #[error("the `limit` of search_tools must be a whole number from 1 to {LARGEST_LIMIT}")]
    Limit,
    /// The server is no text.
    #[error("the `server` of search_tools must be the name of a server; leave it out to search all")]
    Server,
    /// The tools are no texts.
    #[error("describe_tools needs `tools`: a list of texts like \"server.tool\" or \"server.*\"")]
    NoTools,
    /// There are too many tools.
    #[error("describe_tools shows at most {MOST_TOOLS} entries of `tools` at once; ask again for the others")]
    TooManyTools,
    /// The detail is unknown.
    #[error("`detail` must be \"names\", \"signatures\", \"full\" or \"schema\"")]
    Detail,
}

impl SearchArguments {
    /// Reads the `arguments` of a call. What is `null` or an empty text counts as left out.
    pub fn read(arguments: Option<&RawJson>) -> Result<Self, ArgumentError> {
        let arguments = Given::new(arguments);
        let query = arguments.get("query").and_then(Json::text).filter(|query| !query.trim().is_empty());
        let query = query.ok_or(ArgumentError::NoQuery)?.to_owned();
        let limit =
            arguments.get("limit").map_or(Ok(DEFAULT_LIMIT), |limit| limit_of(limit).ok_or(ArgumentError::Limit))?;
        let servers = arguments.get("servers").or_else(|| arguments.get("server")).map(texts);
        let servers = servers.map(|servers| servers.ok_or(ArgumentError::Server)).transpose()?;
        Ok(Self { query, limit, servers, detail: arguments.detail(Detail::Signatures)? })
    }
}

impl DescribeArguments {
    /// These tools of a server, or all of them, with all that is known.
    #[must_use]
    pub fn of_server(alias: &str, tools: Option<&[String]>) -> Self {
        let tools = match tools {
            Some(tools) => tools.iter().map(|tool| format!("{alias}.{tool}")).collect(),
            None => vec![format!("{alias}.*")],
        };
        Self { tools, detail: Detail::Full }
    }

    /// Reads the `arguments` of a call. One text counts as a list of it.
    pub fn read(arguments: Option<&RawJson>) -> Result<Self, ArgumentError> {
        let arguments = Given::new(arguments);
        let tools = arguments.get("tools").and_then(texts).filter(|tools| !tools.is_empty());
        let tools = tools.ok_or(ArgumentError::NoTools)?;
        if tools.len() > MOST_TOOLS {
            return Err(ArgumentError::TooManyTools);
        }
        Ok(Self { tools, detail: arguments.detail(Detail::Full)? })
    }
}

/// The members that were given.
struct Given(Json);

impl Given {
    fn new(arguments: Option<&RawJson>) -> Self {
        Self(arguments.and_then(|arguments| Json::parse(arguments.as_bytes())).unwrap_or(Json::Null))
    }

    /// A member that says something. Models leave a text empty that they do not want to set.
    fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| **value != Json::Null && value.text() != Some(""))
    }

    fn detail(&self, default: Detail) -> Result<Detail, ArgumentError> {
        let Some(detail) = self.get("detail") else { return Ok(default) };
        detail.text().and_then(Detail::read).ok_or(ArgumentError::Detail)
    }
}

/// Texts; one counts as a list of it.
fn texts(value: &Json) -> Option<Vec<String>> {
    match value {
        Json::Text(text) => Some(vec![text.clone()]),
        Json::Array(elements) => elements.iter().map(|element| element.text().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// A whole number, also one that is written as a text or with `.0`, brought within the bounds.
fn limit_of(value: &Json) -> Option<usize> {
    let number = value.text().or_else(|| value.number())?.trim();
    let number = number.strip_suffix(".0").unwrap_or(number).parse::<i64>().ok()?.max(1);
    Some(usize::try_from(number).unwrap_or(LARGEST_LIMIT).min(LARGEST_LIMIT))
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
