//! Owns how the members of one table are taken out one by one, so that what is left over is known too.

use super::document::{Document, Node, Value};
use super::error::ReadError;
use super::text::{Spelling, Text, Words};
use std::time::Duration;

/// The members of a table that nobody has taken yet.
pub(crate) struct Fields<'a> {
    document: &'a Document<'a>,
    key: String,
    members: Vec<(&'a str, &'a Node)>,
    spelling: Spelling,
    words: &'a Words,
}

impl<'a> Fields<'a> {
    /// Those of a node that must be a table. Of names that come twice the last counts, as in every client.
    pub(crate) fn of(
        document: &'a Document<'a>,
        key: String,
        node: &'a Node,
        spelling: Spelling,
        words: &'a Words,
    ) -> Result<Self, ReadError> {
        let Some(table) = node.members() else { return Err(kind(document, key, node, "a table")) };
        let is_last = |at: usize, name: &str| table[at + 1..].iter().all(|(later, _)| later != name);
        let members = table.iter().enumerate().filter(|(at, (name, _))| is_last(*at, name));
        let members = members.map(|(_, (name, node))| (name.as_str(), node)).collect();
        Ok(Self { document, key, members, spelling, words })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(member, _)| *member == name)
    }

    /// Takes a member whatever it is; null is as good as nothing.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a Node> {
        let at = self.members.iter().position(|(member, _)| *member == name)?;
        let (_, node) = self.members.remove(at);
        if node.value == Value::Null { None } else { Some(node) }
    }

    /// What nobody has taken.
    pub(crate) fn rest(self) -> Vec<(String, Node)> {
        self.members.into_iter().map(|(name, node)| (name.to_owned(), node.clone())).collect()
    }

    pub(crate) fn kind_error(&self, name: &str, node: &Node, expected: &'static str) -> ReadError {
        kind(self.document, format!("{}.{name}", self.key), node, expected)
    }

    pub(crate) fn value_error(&self, name: &str, node: &Node, problem: impl Into<String>) -> ReadError {
        let key = format!("{}.{name}", self.key);
        ReadError::Value { spot: self.document.spot(node), key, problem: problem.into() }
    }

    /// Takes a text as it is written.
    pub(crate) fn plain(&mut self, name: &str) -> Result<Option<&'a str>, ReadError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        node.as_text().map(Some).ok_or_else(|| self.kind_error(name, node, "a text"))
    }

    /// Takes a text with placeholders.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<Text>, ReadError> {
        Ok(self.plain(name)?.map(|text| self.parse(text)))
    }

    pub(crate) fn parse(&self, text: &str) -> Text {
        Text::parse(text, self.spelling, self.words)
    }

    pub(crate) fn truth(&mut self, name: &str) -> Result<Option<bool>, ReadError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        if let Value::Bool(truth) = node.value {
            Ok(Some(truth))
        } else {
            Err(self.kind_error(name, node, "true or false"))
        }
    }

    /// Takes a list of texts as they are written.
    pub(crate) fn names(&mut self, name: &str) -> Result<Option<Vec<String>>, ReadError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        self.list(name, node)?.iter().map(|(_, text)| Ok(text.clone())).collect::<Result<_, _>>().map(Some)
    }

    /// The texts of a list; numbers and truth values count as they are spelled.
    pub(crate) fn list(&self, name: &str, node: &'a Node) -> Result<Vec<(&'a Node, String)>, ReadError> {
        let Some(items) = node.items() else { return Err(self.kind_error(name, node, "a list of texts")) };
        let item = |(at, item): (usize, &'a Node)| match scalar(item) {
            Some(text) => Ok((item, text)),
            None => Err(self.kind_error(&format!("{name}[{at}]"), item, "a text")),
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Takes a list of texts with placeholders.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<Text>>, ReadError> {
        Ok(self.names(name)?.map(|names| names.iter().map(|text| self.parse(text)).collect()))
    }

    /// Takes a table of texts with placeholders; null members are left out.
    pub(crate) fn table(&mut self, name: &str) -> Result<Vec<(String, Text)>, ReadError> {
        let Some(node) = self.take(name) else { return Ok(Vec::new()) };
        let fields = Fields::of(self.document, format!("{}.{name}", self.key), node, self.spelling, self.words)?;
        let mut texts = Vec::new();
        for (member, node) in &fields.members {
            match scalar(node) {
                Some(text) => texts.push(((*member).to_owned(), self.parse(&text))),
                None if node.value == Value::Null => {}
                None => return Err(fields.kind_error(member, node, "a text")),
            }
        }
        Ok(texts)
    }

    /// Takes a length of time that the file gives in that many seconds.
    pub(crate) fn duration(&mut self, name: &str, unit: f64) -> Result<Option<Duration>, ReadError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let Value::Number(spelled) = &node.value else { return Err(self.kind_error(name, node, "a number")) };
        let seconds = spelled.parse::<f64>().ok().and_then(|count| Duration::try_from_secs_f64(count * unit).ok());
        let duration = seconds.ok_or_else(|| self.value_error(name, node, "is no length of time"))?;
        Ok(Some(duration))
    }
}

fn kind(document: &Document<'_>, key: String, node: &Node, expected: &'static str) -> ReadError {
    ReadError::Kind { spot: document.spot(node), key, expected, found: node.kind() }
}

/// A text, or a number or truth value as it is spelled.
fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::List(_) | Value::Table(_) => None,
    }
}
