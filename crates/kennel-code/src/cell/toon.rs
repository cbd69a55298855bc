//! A result as TOON: the lines of an object whose members are strings, numbers, lists of strings and one object.
//!
//! The crate `toon-format` does more, but turns on `preserve_order` and `float_roundtrip` of `serde_json` for all of
//! Kennel, which changes the order of members everywhere.

use super::{CellError, CellResult};
use std::fmt::Write;

/// Writes a result, without what is empty.
pub(super) fn encode(result: &CellResult) -> String {
    let mut lines = vec![member("status", result.status.name())];
    let texts = [
        ("cell", &result.cell),
        ("session", &result.session),
        ("stdout", &result.stdout),
        ("stderr", &result.stderr),
        ("value", &result.value),
    ];
    lines.extend(texts.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| member(name, text)));
    if let Some(CellError { kind, message, traceback }) = &result.error {
        lines.push("error:".to_owned());
        lines.push(format!("  {}", member("type", kind)));
        lines.push(format!("  {}", member("message", message)));
        lines.extend((!traceback.is_empty()).then(|| format!("  {}", member("traceback", traceback))));
    }
    if !result.notes.is_empty() {
        let notes = result.notes.iter().map(|note| string(note)).collect::<Vec<_>>();
        lines.push(format!("notes[{}]: {}", notes.len(), notes.join(",")));
    }
    lines.extend((result.calls > 0).then(|| format!("calls: {}", result.calls)));
    lines.join("\n")
}

fn member(name: &str, text: &str) -> String {
    format!("{name}: {}", string(text))
}

/// A string as it is where it can be read as nothing else, and quoted otherwise.
fn string(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control < ' ' => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn is_plain(text: &str) -> bool {
    let special = |character: char| character < ' ' || ":\"\\[]{},".contains(character);
    let numeric = |character: char| character.is_ascii_digit() || "+-.eE".contains(character);
    !(text.is_empty()
        || text.trim() != text
        || ["true", "false", "null"].contains(&text)
        || text.starts_with(['-', '#'])
        || text.starts_with(|first: char| first.is_ascii_digit()) && text.chars().all(numeric)
        || text.contains(special))
}
