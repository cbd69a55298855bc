//! Owns what of a file may be seen on a screen: everything but the values that may be secrets.

use super::document::{BYTE_ORDER_MARK, Document, Language, Node, Value};
use std::ops::Range;
use std::path::Path;

/// What stands for a value that is not shown.
pub const MASK: &str = "…";
/// What comments begin with that keep what Kennel has no word for.
pub(crate) const KEPT: &str = "# kept from";

/// Tables whose values may all be secrets.
const HIDDEN: [&str; 5] = ["env", "environment", "headers", "http_headers", "oauth"];
/// Parts of names of what is a secret.
const SECRET: [&str; 9] =
    ["token", "secret", "password", "passwd", "apikey", "api-key", "api_key", "credential", "authorization"];

/// The text with its lines, but without values that may be secrets. A text that cannot be understood is not shown.
pub fn masked(file: &Path, text: &str) -> String {
    let language = Language::of(file);
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let Ok(document) = Document::parse(file, language, text) else {
        return text.lines().flat_map(|_| [MASK, "\n"]).collect();
    };
    let mut hidden = Vec::new();
    walk(&document.root, Showing::All, &mut hidden);
    hidden.sort_by_key(|range| range.start);
    let mut shown = String::new();
    let mut at = 0;
    for range in hidden {
        if range.start < at {
            continue;
        }
        shown.push_str(text.get(at..range.start).unwrap_or_default());
        shown.push_str(&hide(text.get(range.clone()).unwrap_or_default()));
        at = range.end;
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    shown.split_inclusive('\n').map(without_kept).collect()
}

/// Keeps the quotes, the placeholders and the line ends.
fn hide(value: &str) -> String {
    let quote = if value.starts_with(['"', '\'']) { &value[..1] } else { "" };
    let line_ends = "\n".repeat(value.matches('\n').count());
    format!("{quote}{}{line_ends}{quote}", with_placeholders(value.trim_matches(['"', '\''])))
}

fn with_placeholders(value: &str) -> String {
    let mut shown = String::new();
    let mut rest = value;
    while let Some(start) = rest.find("${").or_else(|| rest.find("{env:")) {
        let Some(end) = rest[start..].find('}').map(|end| start + end + 1) else { break };
        // The default of a variable may be a secret as well.
        if rest[start..end].contains(":-") {
            break;
        }
        if start > 0 {
            shown.push_str(MASK);
        }
        shown.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        shown.push_str(MASK);
    }
    shown
}

fn without_kept(line: &str) -> String {
    match line.find(KEPT).and_then(|start| line[start..].find(" = ").map(|at| start + at)) {
        Some(at) => format!("{} = {MASK}{}", &line[..at], if line.ends_with('\n') { "\n" } else { "" }),
        None => line.to_owned(),
    }
}

/// What of a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Showing {
    All,
    /// Names only.
    Names,
}

fn walk(node: &Node, showing: Showing, hidden: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Table(members) => {
            for (name, member) in members {
                // A reference to a secret is none.
                let is_reference =
                    name.starts_with("from-") || name.ends_with("_env_var") || name == "env_http_headers";
                let is_hidden = HIDDEN.contains(&name.as_str()) || is_secret(name);
                match showing {
                    _ if is_reference => walk(member, Showing::All, hidden),
                    Showing::All if !is_hidden => walk(member, Showing::All, hidden),
                    _ => walk(member, Showing::Names, hidden),
                }
            }
        }
        Value::List(items) if showing == Showing::All => list(items, hidden),
        Value::List(items) => items.iter().for_each(|item| walk(item, showing, hidden)),
        Value::Text(text) if showing == Showing::All => hidden.extend(address_secret(node, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
            if showing == Showing::Names {
                hidden.push(node.span.clone());
            }
        }
    }
}

/// In a list of arguments, what follows a name of a secret is one.
fn list(items: &[Node], hidden: &mut Vec<Range<usize>>) {
    let mut is_next = false;
    for item in items {
        match item.as_text() {
            Some(text) => {
                let is_flag = text.starts_with('-') && is_secret(text);
                let is_assigned = text.split_once('=').is_some_and(|(name, _)| is_secret(name));
                if is_next || is_assigned {
                    hidden.push(item.span.clone());
                } else {
                    walk(item, Showing::All, hidden);
                }
                is_next = is_flag && !is_assigned;
            }
            None => walk(item, Showing::All, hidden),
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// An address with a password or a query in it is not shown.
fn address_secret(node: &Node, text: &str) -> Option<Range<usize>> {
    let (_, rest) = text.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    (host.contains('@') || rest.contains('?')).then(|| node.span.clone())
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
