//! Writes the arguments of a tool the short way: `path: string, head?: integer`.

use super::schema::{elements, string};
use super::text::one_line;
use kennel_wire::RawJson;

/// A schema with more bytes is not looked into.
const LARGEST_SCHEMA: usize = 256 * 1024;
/// How many characters a signature has at most.
const LONGEST: usize = 400;
/// How many characters of one name or value are written.
const LONGEST_WORD: usize = 48;
/// How many values or kinds of one argument are written.
const MOST_CHOICES: usize = 6;
/// How deep the kinds of lists of lists are looked for.
const DEEPEST: usize = 3;

/// The arguments that a schema asks for, those that must be given first; `…` says that there are more.
pub(crate) fn signature(schema: &RawJson) -> String {
    if schema.as_bytes().len() > LARGEST_SCHEMA {
        return "…".to_owned();
    }
    let members = schema.members();
    let member = |wanted: &str| members.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let required: Vec<String> =
        member("required").map(|names| elements(names, 256).iter().filter_map(string).collect()).unwrap_or_default();
    let (needed, optional): (Vec<_>, Vec<_>) = member("properties")
        .map(RawJson::members)
        .unwrap_or_default()
        .into_iter()
        .partition(|(name, _)| required.contains(name));
    let mut written = String::new();
    for ((name, schema), mark) in needed.iter().map(|it| (it, "")).chain(optional.iter().map(|it| (it, "?"))) {
        let argument = format!("{}{mark}: {}", one_line(name, LONGEST_WORD), kind(schema, DEEPEST));
        let separator = if written.is_empty() { "" } else { ", " };
        if written.chars().count() + separator.len() + argument.chars().count() > LONGEST {
            written.push_str(separator);
            written.push('…');
            break;
        }
        written.push_str(separator);
        written.push_str(&argument);
    }
    written
}

/// What an argument may be.
fn kind(schema: &RawJson, depth: usize) -> String {
    let Some(deeper) = depth.checked_sub(1) else { return "any".to_owned() };
    let members = schema.members();
    let member = |wanted: &str| members.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    if let Some(value) = member("const") {
        return literal(value);
    }
    if let Some(values) = member("enum") {
        return choices(elements(values, MOST_CHOICES + 1).iter().map(literal));
    }
    if let Some(schemas) = ["anyOf", "oneOf"].into_iter().find_map(member) {
        return choices(elements(schemas, MOST_CHOICES + 1).iter().map(|schema| kind(schema, deeper)));
    }
    let named = |name: String| match name.as_str() {
        "array" => match member("items").map(|items| kind(items, deeper)) {
            Some(items) if items.contains('|') => format!("({items})[]"),
            Some(items) => format!("{items}[]"),
            None => "any[]".to_owned(),
        },
        _ => one_line(&name, LONGEST_WORD),
    };
    match member("type") {
        Some(one) if string(one).is_some() => string(one).map(named).unwrap_or_default(),
        Some(several) => choices(elements(several, MOST_CHOICES + 1).iter().filter_map(string).map(named)),
        None => "any".to_owned(),
    }
}

/// Some of several, each once.
fn choices(all: impl Iterator<Item = String>) -> String {
    let mut different: Vec<String> = Vec::new();
    for choice in all {
        if !different.contains(&choice) {
            different.push(choice);
        }
    }
    if different.len() > MOST_CHOICES {
        different.truncate(MOST_CHOICES);
        different.push("…".to_owned());
    }
    if different.is_empty() { "any".to_owned() } else { different.join("|") }
}

/// A value as JSON, short.
fn literal(value: &RawJson) -> String {
    one_line(&String::from_utf8_lossy(value.as_bytes()), LONGEST_WORD)
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
