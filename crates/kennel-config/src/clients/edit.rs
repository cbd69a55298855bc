//! Owns changes to a client's file that leave everything else in it as it was: order, comments, blanks, line ends.

use super::document::{BYTE_ORDER_MARK, Document, Language, Node, Value, json_options};
use super::error::ReadError;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use std::path::Path;

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A member of a table is to have this value.
    Put { path: &'static [&'static str], name: String, value: Node },
    /// A member of a table is to be gone.
    Remove { path: &'static [&'static str], name: String },
    /// A list is to have this item.
    Append { list: &'static [&'static str], item: Node },
    /// A list of tables is to have one with this name under `key`; one that is there stays as it is.
    AppendNamed { list: &'static [&'static str], key: &'static str, item: Node },
}

/// The file's text with the changes. Text that says all of it already comes back as it is, byte for byte.
pub(crate) fn edit(file: &Path, text: &str, changes: &[Change]) -> Result<String, ReadError> {
    let language = Language::of(file);
    // Also proves that the file can be understood, before anything in it is touched.
    let document = Document::parse(file, language, text)?;
    for path in changes.iter().map(Change::path) {
        check(&document, path)?;
    }
    let pending: Vec<&Change> = changes.iter().filter(|change| !change.is_done(&document.root)).collect();
    if pending.is_empty() {
        return Ok(text.to_owned());
    }
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    };
    let edited = match language {
        Language::Json => edit_json(body, &pending),
        Language::Toml => super::edit_toml::edit_toml(body, &pending),
    };
    let edited = edited.map_err(|problem| ReadError::Syntax { spot: document.spot(&document.root), problem })?;
    Ok(format!("{mark}{edited}"))
}

impl Change {
    fn path(&self) -> &'static [&'static str] {
        match self {
            Self::Put { path, .. } | Self::Remove { path, .. } => path,
            Self::Append { list, .. } | Self::AppendNamed { list, .. } => &list[..list.len().saturating_sub(1)],
        }
    }

    /// Whether the file says so already.
    fn is_done(&self, root: &Node) -> bool {
        match self {
            Self::Put { path, name, value } => root.at(path).and_then(|node| node.get(name)) == Some(value),
            Self::Remove { path, name } => root.at(path).and_then(|node| node.get(name)).is_none(),
            Self::Append { list, item } => items(root, list).contains(item),
            Self::AppendNamed { list, key, item } => {
                items(root, list).iter().any(|there| there.get(key) == item.get(key))
            }
        }
    }
}

fn items<'a>(root: &'a Node, list: &[&str]) -> &'a [Node] {
    root.at(list).and_then(Node::items).unwrap_or_default()
}

/// What is in the way is not thrown away.
fn check(document: &Document<'_>, path: &[&str]) -> Result<(), ReadError> {
    for depth in 0..=path.len() {
        if let Some(node) = document.root.at(&path[..depth]).filter(|node| node.members().is_none()) {
            let key = if depth == 0 { "(file)".to_owned() } else { path[..depth].join(".") };
            return Err(ReadError::Kind { spot: document.spot(node), key, expected: "a table", found: node.kind() });
        }
    }
    Ok(())
}

fn edit_json(text: &str, changes: &[&Change]) -> Result<String, String> {
    let root = CstRootNode::parse(text, &json_options()).map_err(|error| error.kind().to_string())?;
    let is_new = root.value().is_none();
    for change in changes {
        let mut table = root.object_value_or_set();
        for name in change.path() {
            table = last_object(&table, name);
        }
        match change {
            Change::Put { name, value, .. } => put(&table, name, value),
            Change::Remove { name, .. } => {
                for member in table.properties().into_iter().filter(|member| is_called(member, name)) {
                    member.remove();
                }
            }
            Change::Append { list, item } | Change::AppendNamed { list, item, .. } => {
                if let Some(name) = list.last() {
                    table.array_value_or_set(name).append(input(item));
                }
            }
        }
    }
    let text = root.to_string();
    Ok(if is_new && !text.ends_with('\n') { format!("{text}\n") } else { text })
}

fn is_called(member: &jsonc_parser::cst::CstObjectProp, name: &str) -> bool {
    member.decoded_name().as_deref() == Some(name)
}

/// The object of that name; of several the last, which is the one that counts.
fn last_object(table: &CstObject, name: &str) -> CstObject {
    match table.properties().into_iter().rev().find(|member| is_called(member, name)) {
        Some(member) => member.object_value_or_set(),
        None => table.object_value_or_set(name),
    }
}

/// Sets a member. Objects are changed member by member, so that comments in them stay.
fn put(table: &CstObject, name: &str, value: &Node) {
    let Some(member) = table.properties().into_iter().rev().find(|member| is_called(member, name)) else {
        table.append(name, input(value));
        return;
    };
    let (Some(inner), Some(members)) = (member.object_value(), value.members()) else {
        let is_same = member.value().is_some_and(|there| says(&there.to_string(), value));
        if !is_same {
            member.set_value(input(value));
        }
        return;
    };
    for old in inner.properties() {
        if members.iter().all(|(name, _)| !is_called(&old, name)) {
            old.remove();
        }
    }
    for (name, value) in members {
        put(&inner, name, value);
    }
}

fn says(text: &str, value: &Node) -> bool {
    Document::parse(Path::new(""), Language::Json, text).is_ok_and(|document| document.root == *value)
}

fn input(node: &Node) -> CstInputValue {
    match &node.value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(spelled) => CstInputValue::Number(spelled.clone()),
        Value::Text(text) => CstInputValue::String(text.clone()),
        Value::List(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Table(members) => {
            CstInputValue::Object(members.iter().map(|(name, node)| (name.clone(), input(node))).collect())
        }
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
