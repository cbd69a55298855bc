//! Owns what a file of JSON with comments or of TOML says: one kind of tree for both, in which everything knows its place.

use super::error::{ReadError, Spot};
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Which language a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// JSON; comments and commas at the end are accepted, because most clients accept them.
    Json,
    /// TOML.
    Toml,
}

impl Language {
    /// By the ending of the file's name; files without a telling one are JSON.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) { Self::Toml } else { Self::Json }
    }
}

/// A value and where it stands. Two are equal if they say the same, wherever that is written.
#[derive(Clone)]
pub struct Node {
    /// What it says.
    pub value: Value,
    /// The bytes of the file that say it; empty for what comes from no file.
    pub span: Range<usize>,
}

/// What a value says.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// JSON's null.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number as it is spelled.
    Number(String),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object or table, in the file's order. Names may come twice in JSON; the last one counts.
    Table(Vec<(String, Node)>),
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Node {}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self { value, span: 0..0 }
    }
}

// Values may be secrets: only their kinds are shown.
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::List(items) => f.debug_list().entries(items).finish(),
            Value::Table(members) => f.debug_map().entries(members.iter().map(|(name, node)| (name, node))).finish(),
            _ => f.write_str(self.kind()),
        }
    }
}

impl Node {
    /// A text that comes from no file.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into()).into()
    }

    /// A list of texts that comes from no file.
    pub fn texts(items: impl IntoIterator<Item = String>) -> Self {
        Value::List(items.into_iter().map(Self::text).collect()).into()
    }

    /// What kind of value it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The member of that name, if this is a table that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members()?.iter().rev().find(|(member, _)| member == name).map(|(_, node)| node)
    }

    /// What is found by going down these names.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    /// The members, if this is a table.
    #[must_use]
    pub fn members(&self) -> Option<&[(String, Self)]> {
        if let Value::Table(members) = &self.value { Some(members) } else { None }
    }

    /// The text, if this is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The items, if this is a list.
    #[must_use]
    pub fn items(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    /// The same as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => (*truth).into(),
            Value::Number(spelled) => {
                serde_json::from_str(spelled).unwrap_or_else(|_| serde_json::Value::String(spelled.clone()))
            }
            Value::Text(text) => text.clone().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(members) => {
                serde_json::Value::Object(members.iter().map(|(name, node)| (name.clone(), node.to_json())).collect())
            }
        }
    }
}

/// A file's text and what it says.
#[derive(Debug)]
pub struct Document<'a> {
    file: &'a Path,
    text: &'a str,
    /// What the file says; an empty file says an empty table.
    pub root: Node,
}

/// What some editors put before the first letter.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

impl<'a> Document<'a> {
    /// Understands a file's text.
    pub fn parse(file: &'a Path, language: Language, text: &'a str) -> Result<Self, ReadError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let root = match language {
            Language::Json => json(text),
            Language::Toml => toml(text),
        };
        match root {
            Ok(root) => Ok(Self { file, text, root }),
            Err((at, problem)) => Err(ReadError::Syntax { spot: Spot::find(file, text, at), problem }),
        }
    }

    /// Where in the file that is, for people.
    #[must_use]
    pub fn spot(&self, node: &Node) -> Spot {
        Spot::find(self.file, self.text, node.span.start)
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &'a Path {
        self.file
    }
}

/// How JSON is read: as the clients read it, so no further than comments and commas.
pub(crate) fn json_options() -> jsonc_parser::ParseOptions {
    jsonc_parser::ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

type Parsed = Result<Node, (usize, String)>;

fn json(text: &str) -> Parsed {
    let parsed = jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &json_options())
        .map_err(|error| (error.range().start, error.kind().to_string()))?;
    Ok(parsed.value.map_or_else(|| Value::Table(Vec::new()).into(), json_node))
}

fn json_node(value: jsonc_parser::ast::Value<'_>) -> Node {
    use jsonc_parser::ast;
    use jsonc_parser::common::Ranged;
    let span = value.start()..value.end();
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NumberLit(literal) => Value::Number(literal.value.to_owned()),
        ast::Value::StringLit(literal) => Value::Text(literal.value.into_owned()),
        ast::Value::Array(array) => Value::List(array.elements.into_iter().map(json_node).collect()),
        ast::Value::Object(object) => Value::Table(
            object.properties.into_iter().map(|member| (member.name.into_string(), json_node(member.value))).collect(),
        ),
    };
    Node { value, span }
}

fn toml(text: &str) -> Parsed {
    let document = toml_edit::Document::parse(text)
        .map_err(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    Ok(toml_table(document.as_table(), 0..text.len()))
}

fn toml_table(table: &dyn toml_edit::TableLike, span: Range<usize>) -> Node {
    let members = table.iter().map(|(name, item)| (name.to_owned(), toml_item(item, &span)));
    Node { value: Value::Table(members.collect()), span: span.clone() }
}

/// Tables that no line opens (`[a.b]` makes `a`) stand where the table around them stands.
fn toml_item(item: &toml_edit::Item, around: &Range<usize>) -> Node {
    let span = item.span().unwrap_or_else(|| around.clone());
    match item {
        toml_edit::Item::Value(value) => toml_value(value, span),
        toml_edit::Item::ArrayOfTables(tables) => {
            let tables = tables.iter().map(|table| toml_table(table, table.span().unwrap_or_else(|| span.clone())));
            Node { value: Value::List(tables.collect()), span: span.clone() }
        }
        toml_edit::Item::Table(table) => toml_table(table, span),
        toml_edit::Item::None => Node { value: Value::Null, span },
    }
}

fn toml_value(value: &toml_edit::Value, span: Range<usize>) -> Node {
    let value = match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Number(number.value().to_string()),
        toml_edit::Value::Float(number) => Value::Number(number.value().to_string()),
        toml_edit::Value::Boolean(truth) => Value::Bool(*truth.value()),
        toml_edit::Value::Datetime(time) => Value::Text(time.value().to_string()),
        toml_edit::Value::Array(array) => {
            let items = array.iter().map(|item| toml_value(item, item.span().unwrap_or_else(|| span.clone())));
            Value::List(items.collect())
        }
        toml_edit::Value::InlineTable(table) => return toml_table(table, span),
    };
    Node { value, span }
}
