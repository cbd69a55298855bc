//! What counts of a tool when it is searched for, read from its definition as the server spelled it.

use super::schema;
use super::text::{start, text_of};
use kennel_wire::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How many bytes of a name or title count.
const LONGEST_NAME: usize = 256;
/// How many bytes of a description count.
const LONGEST_DESCRIPTION: usize = 4 * 1024;

/// What counts of one tool. What a definition of Kennel's says instead (another name, another description) can be put
/// in before it is indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document<'a> {
    /// The server that has it.
    pub server: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its name for people.
    pub title: Cow<'a, str>,
    /// What it does.
    pub description: Cow<'a, str>,
    /// The words of its arguments: names, descriptions, values to choose from.
    pub arguments: Cow<'a, str>,
}

impl<'a> Document<'a> {
    /// Reads a tool as `tools/list` has it. What is not as it should be is left out; only a tool without a name is none.
    #[must_use]
    pub fn read(server: &'a str, tool: &RawJson) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Tool<'t> {
            #[serde(borrow)]
            name: &'t RawValue,
            #[serde(borrow)]
            title: Option<&'t RawValue>,
            #[serde(borrow)]
            description: Option<&'t RawValue>,
            #[serde(borrow)]
            input_schema: Option<&'t RawValue>,
        }
        let tool: Tool<'_> = serde_json::from_slice(tool.as_bytes()).ok()?;
        let name = text_of(tool.name)?;
        let text = |value: Option<&RawValue>, longest| {
            let text = value.and_then(text_of).unwrap_or_default();
            Cow::Owned(start(&text, longest).to_owned())
        };
        Some(Self {
            server: Cow::Borrowed(server),
            name: Cow::Owned(name),
            title: text(tool.title, LONGEST_NAME),
            description: text(tool.description, LONGEST_DESCRIPTION),
            arguments: Cow::Owned(tool.input_schema.map(schema::words_of).unwrap_or_default()),
        })
    }

    /// The part of the name that counts.
    pub(crate) fn counted_name(&self) -> &str {
        start(&self.name, LONGEST_NAME)
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
