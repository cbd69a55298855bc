//! What several of the tests need.

use serde_json::{Map, Value};
use std::path::PathBuf;

/// A file of the repository.
pub(crate) fn repository_file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first block of a language in a page.
pub(crate) fn code_block(page: &str, language: &str) -> String {
    let start = format!("```{language}\n");
    let from = page.find(&start).unwrap_or_else(|| panic!("no block of {language}")) + start.len();
    let length = page[from..].find("```").expect("the block ends");
    page[from..from + length].to_owned()
}

/// TOML as JSON.
pub(crate) fn as_json(toml: &str) -> Value {
    let document: toml_edit::DocumentMut = toml.parse().unwrap_or_else(|error| panic!("{error}"));
    of_table(document.as_table())
}

fn of_table(table: &dyn toml_edit::TableLike) -> Value {
    let members = table.iter().map(|(key, item)| (key.to_owned(), of_item(item)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn of_item(item: &toml_edit::Item) -> Value {
    match item {
        toml_edit::Item::Value(value) => of_value(value),
        other => of_table(other.as_table_like().expect("no other items in these files")),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(boolean) => Value::from(*boolean.value()),
        toml_edit::Value::Datetime(date) => Value::from(date.to_string()),
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(of_value).collect()),
        toml_edit::Value::InlineTable(table) => of_table(table),
    }
}
