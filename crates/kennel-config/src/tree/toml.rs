//! Owns how TOML becomes the one shape.

use crate::problem::Report;
use crate::tree::{Content, Entry, Node, Number};
use toml_edit::{Document, Item, TableLike, Value};

/// The whole file as a table, or `None` and a problem.
pub(crate) fn read_toml(text: &str, report: &mut Report<'_>) -> Option<Node> {
    match Document::parse(text) {
        Ok(document) => Some(Node::new(0, table(text, document.as_table(), 0))),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            report.problem(at, "", format!("this is not TOML: {}", first_line(error.message())), None);
            None
        }
    }
}

/// What the parser says, without the lists that may follow.
fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or("it cannot be read")
}

fn table(text: &str, table: &dyn TableLike, fallback: usize) -> Content {
    let entries = table.iter().map(|(key, item)| {
        let at = table.key(key).and_then(toml_edit::Key::span).map_or(fallback, |span| span.start);
        Entry::new(key, at, node(text, item, at))
    });
    Content::Table(entries.collect())
}

fn node(text: &str, item: &Item, fallback: usize) -> Node {
    match item {
        Item::None => Node::new(fallback, Content::Other("nothing")),
        Item::Value(value) => self::value(text, value, fallback),
        Item::Table(members) => Node::new(fallback, table(text, members, fallback)),
        Item::ArrayOfTables(tables) => {
            let members = tables.iter().map(|members| {
                let at = members.span().map_or(fallback, |span| span.start);
                Node::new(at, table(text, members, at))
            });
            Node::new(fallback, Content::List(members.collect()))
        }
    }
}

fn value(text: &str, value: &Value, fallback: usize) -> Node {
    let span = value.span().unwrap_or(fallback..fallback);
    let spelled = || text.get(span.clone()).unwrap_or_default().to_owned();
    let content = match value {
        Value::String(string) => Content::Text(string.value().clone()),
        Value::Integer(integer) => {
            let whole = *integer.value();
            #[expect(clippy::cast_precision_loss, reason = "whole numbers are taken from `whole`")]
            let value = whole as f64;
            Content::Number(Number { value, whole: Some(whole), spelled: spelled() })
        }
        Value::Float(float) => Content::Number(Number { value: *float.value(), whole: None, spelled: spelled() }),
        Value::Boolean(boolean) => Content::Boolean(*boolean.value()),
        Value::Datetime(_) => Content::Other("a date"),
        Value::Array(array) => {
            Content::List(array.iter().map(|member| self::value(text, member, span.start)).collect())
        }
        Value::InlineTable(members) => table(text, members, span.start),
    };
    Node::new(span.start, content)
}
