//! Owns the one shape in which every file is read: tables, lists and plain values, each with its place.
//!
//! A node has no `Debug`: what it holds may be secret.

mod json;
mod toml;

pub(crate) use json::read_json;
pub(crate) use toml::read_toml;

/// A value and where it begins.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) content: Content,
}

/// What a value is.
#[derive(Clone)]
pub(crate) enum Content {
    Text(String),
    Number(Number),
    Boolean(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// Something that no key takes: a date, or nothing.
    Other(&'static str),
}

/// A number, whole or not, as it is written.
#[derive(Clone)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) whole: Option<i64>,
    pub(crate) spelled: String,
}

/// A key and its value.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// How the key is found in the file, where that is not under its own name: `kennel.box` for `box`.
    pub(crate) written: String,
    pub(crate) at: usize,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn new(at: usize, content: Content) -> Self {
        Self { at, content }
    }

    /// What it is, for messages.
    pub(crate) fn what(&self) -> &'static str {
        match &self.content {
            Content::Text(_) => "text",
            Content::Number(number) if number.whole.is_some() => "a whole number",
            Content::Number(_) => "a number",
            Content::Boolean(_) => "true or false",
            Content::List(_) => "a list",
            Content::Table(_) => "a table",
            Content::Other(what) => what,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.content {
            Content::Boolean(boolean) => Some(boolean),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<&Number> {
        match &self.content {
            Content::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The members of a list; none of what is no list.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.content {
            Content::List(items) => items,
            _ => &[],
        }
    }

    /// The entries of a table; none of what is no table.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Table(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }
}

impl Entry {
    pub(crate) fn new(key: &str, at: usize, value: Node) -> Self {
        Self { key: key.to_owned(), written: key.to_owned(), at, value }
    }
}
