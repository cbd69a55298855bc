//! One tool as Python sees it, made from its definition.

use super::classes::{classes, short};
use super::json::Json;
use super::names;
use super::schema::Limits;
use super::signature::{Signature, signature};
use super::stub;
use super::text::{one_line, paragraphs, summary};
use kennel_wire::RawJson;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many bytes the stub of a tool has at most.
pub(crate) const LARGEST_STUB: usize = 4 * 1024;
/// A definition with more bytes is not looked into.
const LARGEST_DEFINITION: usize = 512 * 1024;
/// How many characters a name has where it is shown.
const LONGEST_NAME: usize = 256;
/// How many characters a summary has.
const LONGEST_SUMMARY: usize = 120;
/// How many bytes the types have where they are shown in short.
const LONGEST_SHORT: usize = 500;

/// What is said where not all is said.
const CUT: &str = "Not all is shown here: describe_tools with detail \"schema\" has the whole schema.";

/// How much is said of a tool: the first of these with which its stub is small enough.
const LEVELS: [Level; 6] = [
    level(6, 256, 64, 160, 1_500),
    level(6, 256, 64, 60, 600),
    level(4, 256, 32, 0, 300),
    level(2, 64, 16, 0, 300),
    level(1, 24, 8, 0, 200),
    level(1, 0, 0, 0, 100),
];

struct Level {
    limits: Limits,
    /// How many characters of the description are kept.
    description: usize,
}

const fn level(depth: usize, arguments: usize, fields: usize, note: usize, description: usize) -> Level {
    Level { limits: Limits { depth, arguments, fields, note }, description }
}

/// A tool as Python sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tool {
    /// Its name at its server.
    pub name: String,
    /// Its name in Python. [`Tool::read_all`] sees to it that no other tool of the server has it.
    pub python: String,
    /// `(path: str, *, head: int | None = None) -> str`
    pub signature: String,
    /// The names of arguments at the server by those in the signature, where they differ.
    pub names: BTreeMap<String, String>,
    /// What it does, on one line.
    pub summary: String,
    /// What it does, and what is to be said of its arguments.
    pub doc: String,
    /// The classes that the signature names, as Python.
    pub types: String,
    /// The same in short, for people; nothing where that would be long.
    pub short_types: String,
    /// Whether it says that it changes nothing.
    pub read_only: bool,
    /// Whether something of its schema is not in all this.
    pub is_cut: bool,
}

impl Tool {
    /// Reads a definition as `tools/list` has it. What is not as it should be counts as left out.
    #[must_use]
    pub fn read(definition: &RawJson) -> Self {
        let is_small = definition.as_bytes().len() <= LARGEST_DEFINITION;
        match Json::parse(definition.as_bytes()).filter(|_| is_small) {
            Some(tree) => Self::from_tree(&tree),
            None => Self::unread(definition),
        }
    }

    /// Reads the definitions of one server, in their order.
    #[must_use]
    pub fn read_all<'a>(definitions: impl IntoIterator<Item = &'a RawJson>) -> Vec<Self> {
        let mut tools: Vec<Self> = definitions.into_iter().map(Self::read).collect();
        let names = names::tools(tools.iter().map(|tool| tool.name.as_str()));
        for (tool, name) in tools.iter_mut().zip(names) {
            tool.python = name;
        }
        tools
    }

    /// What the box is told of it.
    #[must_use]
    pub fn for_box(&self) -> RawJson {
        #[derive(Serialize)]
        struct ForBox<'a> {
            name: &'a str,
            python: &'a str,
            signature: &'a str,
            doc: &'a str,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            names: &'a BTreeMap<String, String>,
            read_only: bool,
        }
        let Self { name, python, signature, names, read_only, .. } = self;
        let doc = if self.types.is_empty() { self.doc.clone() } else { joined(&self.doc, self.types.trim_end()) };
        let for_box = ForBox { name, python, signature, doc: &doc, names, read_only: *read_only };
        let written = serde_json::to_vec(&for_box).ok().and_then(|json| RawJson::parse(json).ok());
        written.unwrap_or_else(RawJson::empty_object)
    }

    fn from_tree(tree: &Json) -> Self {
        let mut tool = Self::default();
        for level in &LEVELS {
            tool = Self::at_level(tree, level);
            if stub::function(&tool).len() <= LARGEST_STUB {
                break;
            }
        }
        tool
    }

    fn at_level(tree: &Json, level: &Level) -> Self {
        let text = |name: &str| tree.get(name).and_then(Json::text).unwrap_or_default();
        let (name, title) = (text("name"), text("title"));
        let description = if text("description").trim().is_empty() { title } else { text("description") };
        let Signature { text: signature, names, notes, records, is_cut } =
            signature(tree.get("inputSchema"), tree.get("outputSchema"), level.limits);
        let mut doc = paragraphs(description, level.description);
        if !notes.is_empty() {
            let notes: Vec<String> = notes.iter().map(|(name, note)| format!("{name}: {note}")).collect();
            doc = joined(&doc, &notes.join("\n"));
        }
        if is_cut {
            doc = joined(&doc, CUT);
        }
        let annotated = |hint: &str| tree.get("annotations").and_then(|annotations| annotations.get(hint));
        Self {
            name: name.to_owned(),
            python: names::tools(std::iter::once(name)).swap_remove(0),
            signature,
            names,
            summary: summary(description, LONGEST_SUMMARY),
            doc,
            types: classes(&records),
            short_types: Some(short(&records)).filter(|short| short.len() <= LONGEST_SHORT).unwrap_or_default(),
            read_only: annotated("readOnlyHint") == Some(&Json::Bool(true)),
            is_cut,
        }
    }

    /// A tool of whose definition only the name can be told.
    fn unread(definition: &RawJson) -> Self {
        let members = definition.members();
        let name = members.iter().rev().find(|(name, _)| name == "name").map(|(_, value)| value);
        let name = name.and_then(|name| Json::parse(name.as_bytes()));
        let only_name = Json::Object(name.map(|name| ("name".to_owned(), name)).into_iter().collect());
        let [.., last] = &LEVELS;
        let tool = Self::at_level(&only_name, last);
        Self { doc: CUT.to_owned(), is_cut: true, ..tool }
    }

    /// Its name at its server where it is shown.
    pub(crate) fn shown_name(&self) -> String {
        one_line(&self.name, LONGEST_NAME)
    }
}

/// Two paragraphs, or the one that says something.
fn joined(first: &str, second: &str) -> String {
    if first.is_empty() { second.to_owned() } else { format!("{first}\n\n{second}") }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
