//! Reads what a client asks of the two tools, and says what is wrong with it so that a model can mend it.

use super::text::text_of;
use kennel_wire::{RawJson, ValueKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

/// How many tools are returned unless the client says.
const DEFAULT_LIMIT: usize = 8;
/// How many tools are returned at most.
const LARGEST_LIMIT: usize = 50;

/// What is returned of each tool that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Its name.
    Names,
    /// A line: its name, its arguments, what it does.
    #[default]
    Summary,
    /// Its whole description and schemas.
    Full,
}

/// What a client asks of `search_tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchArguments {
    /// What it wants to do.
    pub query: String,
    /// How many tools it wants: 1 to 50, whatever it said.
    pub limit: usize,
    /// The only server whose tools it wants.
    pub server: Option<String>,
    /// What it wants of each tool.
    pub detail: Detail,
}

/// What a client asks of `call_tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallArguments {
    /// The tool.
    pub name: String,
    /// Its arguments: an object, as spelled.
    pub arguments: RawJson,
}

/// What is wrong with the arguments of one of the two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// There is no question.
    #[error("search_tools needs `query`: a text that says in a few words what you want to do")]
    NoQuery,
    /// The limit is no number.
    #[error("the `limit` of search_tools must be a whole number from 1 to {LARGEST_LIMIT}")]
    Limit,
    /// The server is no text.
    #[error("the `server` of search_tools must be the name of a server, as in the results; leave it out to search all")]
    Server,
    /// The detail is unknown.
    #[error("the `detail` of search_tools must be \"names\", \"summary\" or \"full\"")]
    Detail,
    /// There is no name.
    #[error("call_tool needs `name`: the name of a tool as search_tools returned it")]
    NoName,
    /// The arguments are no object.
    #[error("the `arguments` of call_tool must be an object with the tool's arguments")]
    Arguments,
}

impl SearchArguments {
    /// Reads the `arguments` of a call. What is `null` counts as left out.
    pub fn read(arguments: Option<&RawJson>) -> Result<Self, ArgumentError> {
        #[derive(Deserialize, Default)]
        struct Members<'a> {
            #[serde(borrow)]
            query: Option<&'a RawValue>,
            #[serde(borrow)]
            limit: Option<&'a RawValue>,
            #[serde(borrow)]
            server: Option<&'a RawValue>,
            #[serde(borrow)]
            detail: Option<&'a RawValue>,
        }
        let members: Option<Members<'_>> = arguments.and_then(|object| serde_json::from_slice(object.as_bytes()).ok());
        let Members { query, limit, server, detail } = members.unwrap_or_default();
        let query = query.and_then(text_of).filter(|query| !query.trim().is_empty()).ok_or(ArgumentError::NoQuery)?;
        let limit = limit.map_or(Ok(DEFAULT_LIMIT), |limit| limit_of(limit).ok_or(ArgumentError::Limit))?;
        let server = server.map(|server| text_of(server).ok_or(ArgumentError::Server)).transpose()?;
        let detail = match detail.map(|detail| text_of(detail).unwrap_or_default()).as_deref() {
            None | Some("summary") => Detail::Summary,
            Some("names") => Detail::Names,
            Some("full") => Detail::Full,
            Some(_) => return Err(ArgumentError::Detail),
        };
        // Models leave a text empty that they do not want to set.
        Ok(Self { query, limit, server: server.filter(|server| !server.is_empty()), detail })
    }
}

impl CallArguments {
    /// Reads the `arguments` of a call. Arguments that are an object written into a text, as some models do, count as it.
    pub fn read(arguments: Option<&RawJson>) -> Result<Self, ArgumentError> {
        #[derive(Deserialize, Default)]
        struct Members<'a> {
            #[serde(borrow)]
            name: Option<&'a RawValue>,
            #[serde(borrow)]
            arguments: Option<&'a RawValue>,
        }
        let members: Option<Members<'_>> = arguments.and_then(|object| serde_json::from_slice(object.as_bytes()).ok());
        let Members { name, arguments } = members.unwrap_or_default();
        let name = name.and_then(text_of).filter(|name| !name.is_empty()).ok_or(ArgumentError::NoName)?;
        let object = |json: String| RawJson::parse(json).ok().filter(|value| value.kind() == ValueKind::Object);
        let arguments = match arguments {
            None => Some(RawJson::empty_object()),
            Some(value) => object(text_of(value).unwrap_or_else(|| value.get().to_owned())),
        };
        Ok(Self { name, arguments: arguments.ok_or(ArgumentError::Arguments)? })
    }
}

/// A whole number, also one that is written as a text or with `.0`, brought within the bounds.
fn limit_of(value: &RawValue) -> Option<usize> {
    let number = text_of(value).unwrap_or_else(|| value.get().to_owned());
    let number = number.trim().strip_suffix(".0").unwrap_or(number.trim());
    let number = number.parse::<i64>().ok()?.max(1);
    Some(usize::try_from(number).unwrap_or(LARGEST_LIMIT).min(LARGEST_LIMIT))
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
