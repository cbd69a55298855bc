//! What somebody is told who has to decide on a call: every argument by its name, long values cut one by one, and nothing
//! left out that is not counted.

use crate::output::grouped;
use kennel_wire::{RawJson, ValueKind};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// How many arguments are named.
const MOST_ARGUMENTS: usize = 50;
/// How many values are shown of one argument that has others inside.
const MOST_INSIDE: usize = 12;
/// How deep is looked; what is deeper is shown as it is spelled.
const DEEPEST: usize = 6;
/// How many letters all values have together, unless each would have less than the least.
const LETTERS: usize = 4000;
const LEAST_LETTERS: usize = 60;
const MOST_LETTERS: usize = 400;
/// How many letters a name has.
const NAME_LETTERS: usize = 60;

/// Says with which arguments a tool is to be called; nothing where they cannot all be named, as one that is no text.
pub(super) fn question(alias: &str, tool: &str, arguments: &str) -> Option<String> {
    let mut text = format!("Code wants to call {}.{}", name(alias), name(tool));
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments).ok()?;
    let members = RawJson::parse(arguments.to_owned()).ok()?.members();
    if members.is_empty() {
        text.push_str(" without arguments");
        return Some(text);
    }
    let mut lines = Lines::default();
    for (argument, value) in members.iter().take(MOST_ARGUMENTS) {
        let from = lines.shown.len();
        lines.take(name(argument), value, 0, from);
    }
    let letters = (LETTERS / lines.shown.len().max(1)).clamp(LEAST_LETTERS, MOST_LETTERS);
    text.push_str(" with");
    let mut is_cut = false;
    for Line { name, value, more } in &lines.shown {
        let value = Cut::new(value, letters);
        is_cut |= value.left_out > 0 || *more > 0;
        let _ = write!(text, "\n{name}: {value}");
        if *more > 0 {
            let _ = write!(text, "\n{name} …: {} more values inside that are not shown", grouped(*more as u64));
        }
    }
    let unnamed = members.len().saturating_sub(MOST_ARGUMENTS);
    if unnamed > 0 {
        let _ = write!(
            text,
            "\nThere are {} more arguments that are not shown. Do not agree to what you cannot see.",
            grouped(unnamed as u64)
        );
    }
    if is_cut || unnamed > 0 {
        let digest = Sha256::digest(arguments.as_bytes());
        let digest = digest.iter().take(8).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let _ = write!(text, "\nAll arguments have {} bytes, SHA-256 {digest}…", grouped(arguments.len() as u64));
    }
    Some(text)
}

/// A value by its name, with all that it stands in.
struct Line {
    name: String,
    /// As it is spelled.
    value: String,
    /// How many values of the same argument follow that are not shown.
    more: usize,
}

#[derive(Default)]
struct Lines {
    shown: Vec<Line>,
}

impl Lines {
    /// Takes a value, or those inside of it; `from` is where the lines of its argument begin.
    fn take(&mut self, name_so_far: String, value: &RawJson, depth: usize, from: usize) {
        let inside: Vec<(String, RawJson)> = match value.kind() {
            ValueKind::Object => value
                .members()
                .into_iter()
                .map(|(member, value)| (format!("{name_so_far}.{}", name(&member)), value))
                .collect(),
            ValueKind::Array => {
                let items = serde_json::from_slice::<Vec<Box<RawValue>>>(value.as_bytes()).unwrap_or_default();
                let items = items.iter().map(|item| RawJson::parse(item.get().to_owned()).ok());
                let items = items.enumerate();
                items.filter_map(|(index, value)| Some((format!("{name_so_far}[{index}]"), value?))).collect()
            }
            ValueKind::Null | ValueKind::Bool | ValueKind::Number | ValueKind::String => Vec::new(),
        };
        if inside.is_empty() || depth >= DEEPEST {
            self.add(name_so_far, value, from);
            return;
        }
        for (name, value) in inside {
            self.take(name, &value, depth + 1, from);
        }
    }

    fn add(&mut self, name: String, value: &RawJson, from: usize) {
        if self.shown.len() - from >= MOST_INSIDE {
            if let Some(last) = self.shown.last_mut() {
                last.more += 1;
            }
            return;
        }
        let value = match serde_json::from_slice::<String>(value.as_bytes()) {
            Ok(text) => text,
            Err(_) => String::from_utf8_lossy(value.as_bytes()).into_owned(),
        };
        self.shown.push(Line { name, value, more: 0 });
    }
}

/// A name as it may be shown: letters that are not seen, or that change what others look like, are spelled out.
fn name(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-/$".contains(letter);
    if !text.is_empty() && text.len() <= NAME_LETTERS && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        Cut::new(text, NAME_LETTERS).to_string()
    }
}

/// A text in quotes, its middle cut where it is long: what comes last may be what counts.
struct Cut<'a> {
    head: &'a str,
    tail: &'a str,
    left_out: usize,
}

impl<'a> Cut<'a> {
    fn new(text: &'a str, letters: usize) -> Self {
        let count = text.chars().count();
        if count <= letters {
            return Self { head: text, tail: "", left_out: 0 };
        }
        let at = |letter: usize| text.char_indices().nth(letter).map_or(text.len(), |(at, _)| at);
        let last = letters / 3;
        let (head, tail) = (at(letters - last), at(count - last));
        Self {
            head: text.get(..head).unwrap_or_default(),
            tail: text.get(tail..).unwrap_or_default(),
            left_out: count - letters,
        }
    }
}

impl std::fmt::Display for Cut<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // This spelling shows what cannot be seen: controls, directions, letters without width.
        write!(formatter, "{:?}", self.head)?;
        if self.left_out > 0 {
            write!(formatter, " … {} letters left out … {:?}", grouped(self.left_out as u64), self.tail)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
