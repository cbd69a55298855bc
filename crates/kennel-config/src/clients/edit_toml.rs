//! Owns the same changes for files of TOML.

use super::document::{Node, Value};
use super::edit::Change;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// The longest line that a table is written on.
const WIDEST: usize = 100;

pub(crate) fn edit_toml(text: &str, changes: &[&Change]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    for change in changes {
        match change {
            Change::Put { path, name, value } => {
                if let Some(table) = descend(document.as_table_mut(), path) {
                    // A server is a table of its own, however small.
                    match of_table(value) {
                        Some(new) if !table.contains_key(name) => {
                            table.insert(name, Item::Table(new));
                        }
                        _ => put(table, name, value),
                    }
                }
            }
            Change::Remove { path, name } => {
                if let Some(table) = descend(document.as_table_mut(), path) {
                    table.remove(name);
                }
            }
            // No file of TOML has such lists.
            Change::Append { .. } | Change::AppendNamed { .. } => {}
        }
    }
    let edited = document.to_string();
    Ok(if text.contains("\r\n") { with_line_ends(&edited) } else { edited })
}

/// Lines that are new get the line ends that the others have.
pub(crate) fn with_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// The table at a path; tables that are made on the way get no line of their own.
pub(crate) fn descend<'a>(table: &'a mut Table, path: &[&str]) -> Option<&'a mut dyn TableLike> {
    let mut here: &mut dyn TableLike = table;
    for name in path {
        let entry = here.entry(name).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        here = entry.as_table_like_mut()?;
    }
    Some(here)
}

/// Sets a member; tables are changed member by member, so that comments in them stay.
pub(crate) fn put(table: &mut dyn TableLike, name: &str, value: &Node) {
    let inner = table.get_mut(name).and_then(Item::as_table_like_mut);
    if let (Some(inner), Some(members)) = (inner, value.members()) {
        let old: Vec<String> = inner.iter().map(|(name, _)| name.to_owned()).collect();
        for name in old.iter().filter(|old| members.iter().all(|(name, _)| name != *old)) {
            inner.remove(name);
        }
        for (name, value) in members {
            put(inner, name, value);
        }
        return;
    }
    if let Some(old) = table.get_mut(name)
        && let (Item::Value(old), Some(mut new)) = (&mut *old, of_value(value))
    {
        if says(old, value) {
            return;
        }
        *new.decor_mut() = old.decor().clone();
        *old = new;
        return;
    }
    if let Some(item) = of_node(name, value) {
        table.insert(name, item);
    }
}

fn says(old: &toml_edit::Value, value: &Node) -> bool {
    of_value(value).is_some_and(|new| {
        let plain = |value: &toml_edit::Value| {
            let mut value = value.clone();
            value.decor_mut().clear();
            value.to_string()
        };
        plain(old) == plain(&new)
    })
}

/// A table of its own for what is large, one on a line for what is small.
fn of_node(name: &str, node: &Node) -> Option<Item> {
    let Some(members) = node.members() else { return of_value(node).map(Item::Value) };
    let is_nested = members.iter().any(|(_, member)| member.members().is_some());
    if !is_nested {
        let inline = of_value(node)?;
        if name.len() + inline.to_string().len() + " = ".len() <= WIDEST && members.len() <= 3 {
            return Some(Item::Value(inline));
        }
    }
    of_table(node).map(Item::Table)
}

/// A table with a line of its own.
pub(crate) fn of_table(node: &Node) -> Option<Table> {
    let mut table = Table::new();
    let members = node.members()?;
    // What is on lines must come before what are tables.
    let items = members.iter().filter_map(|(name, member)| Some((name, of_node(name, member)?)));
    let (tables, values): (Vec<_>, Vec<_>) = items.partition(|(_, item)| item.is_table());
    for (name, item) in values.into_iter().chain(tables) {
        table.insert(name, item);
    }
    Some(table)
}

/// `None` for null, which TOML does not have.
fn of_value(node: &Node) -> Option<toml_edit::Value> {
    Some(match &node.value {
        Value::Null => return None,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(spelled) => match spelled.parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => spelled.parse::<f64>().ok()?.into(),
        },
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().filter_map(of_value).collect::<Array>().into(),
        Value::Table(members) => {
            let members = members.iter().filter_map(|(name, member)| Some((name.as_str(), of_value(member)?)));
            members.collect::<InlineTable>().into()
        }
    })
}
