//! Collects the words of a tool's arguments from its input schema: names, descriptions, values to choose from.

use super::text::text_of;
use kennel_wire::{RawJson, ValueKind};
use serde_json::value::RawValue;

/// A schema with more bytes is not looked into.
const LARGEST_SCHEMA: usize = 256 * 1024;
/// How deep arguments within arguments are looked for.
const DEEPEST: usize = 5;
/// How many members of schemas are looked at.
const MOST_MEMBERS: usize = 600;
/// How many bytes of words are collected.
const MOST_BYTES: usize = 3 * 1024;
/// How many values of an enumeration count.
const MOST_VALUES: usize = 24;

/// The words of a schema, separated by spaces.
pub(crate) fn words_of(schema: &RawValue) -> String {
    let mut collector = Collector { words: String::new(), members: MOST_MEMBERS };
    if schema.get().len() <= LARGEST_SCHEMA
        && let Ok(schema) = RawJson::parse(schema.get().to_owned())
    {
        collector.schema(&schema, DEEPEST);
    }
    collector.words
}

/// The elements of an array, at most so many; none of anything else.
pub(crate) fn elements(array: &RawJson, most: usize) -> Vec<RawJson> {
    if array.kind() != ValueKind::Array || array.as_bytes().len() > LARGEST_SCHEMA {
        return Vec::new();
    }
    let elements: Vec<&RawValue> = serde_json::from_slice(array.as_bytes()).unwrap_or_default();
    elements.into_iter().take(most).filter_map(|element| RawJson::parse(element.get().to_owned()).ok()).collect()
}

/// The text of a JSON string; none of anything else.
pub(crate) fn string(value: &RawJson) -> Option<String> {
    if value.kind() != ValueKind::String {
        return None;
    }
    serde_json::from_slice::<&RawValue>(value.as_bytes()).ok().and_then(text_of)
}

struct Collector {
    words: String,
    members: usize,
}

impl Collector {
    fn schema(&mut self, schema: &RawJson, depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        for (name, value) in schema.members() {
            if !self.goes_on() {
                return;
            }
            match name.as_str() {
                "description" | "title" | "const" => self.text(&value),
                "enum" => {
                    for value in elements(&value, MOST_VALUES) {
                        self.text(&value);
                    }
                }
                "properties" | "$defs" | "definitions" => {
                    for (name, property) in value.members() {
                        if !self.goes_on() {
                            return;
                        }
                        self.word(&name);
                        self.schema(&property, deeper);
                    }
                }
                "items" | "additionalProperties" => self.schema(&value, deeper),
                "anyOf" | "oneOf" | "allOf" => {
                    for schema in elements(&value, MOST_VALUES) {
                        self.schema(&schema, deeper);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether there is room for more; counts one member.
    fn goes_on(&mut self) -> bool {
        self.members = self.members.saturating_sub(1);
        self.members > 0 && self.words.len() < MOST_BYTES
    }

    fn text(&mut self, value: &RawJson) {
        if let Some(text) = string(value) {
            self.word(&text);
        }
    }

    fn word(&mut self, word: &str) {
        let room = MOST_BYTES.saturating_sub(self.words.len());
        self.words.push_str(super::text::start(word, room));
        self.words.push(' ');
    }
}
