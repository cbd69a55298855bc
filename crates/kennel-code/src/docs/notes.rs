//! What a schema says beyond types, on one line: what something is for, formats and bounds.

use super::json::Json;
use super::text::one_line;
use super::types::one_of;

/// How many characters of a pattern, number or format are written.
const LONGEST_VALUE: usize = 60;

/// The note on what is described by all of these schemas, the description of at most so many characters.
pub(crate) fn note(parts: &[&Json], longest: usize) -> String {
    if longest == 0 {
        return String::new();
    }
    let get = |keyword: &str| parts.iter().find_map(|part| part.get(keyword));
    let mut note = get("description").and_then(Json::text).map(|text| one_line(text, longest)).unwrap_or_default();
    let mut bounds = bounds(&get);
    if let Some(values) = get("enum").map(Json::elements) {
        bounds.extend(one_of(values).1);
    }
    if !bounds.is_empty() {
        let separator = if note.is_empty() { "" } else { " " };
        note = format!("{note}{separator}({})", bounds.join("; "));
    }
    note
}

fn bounds<'a>(get: &impl Fn(&str) -> Option<&'a Json>) -> Vec<String> {
    let number = |keyword: &str| get(keyword).and_then(Json::number).map(|number| one_line(number, LONGEST_VALUE));
    let range = |least: &str, most: &str, of: &str| {
        let of = |count: &str| if count == "1" { of.trim_end_matches('s').to_owned() } else { of.to_owned() };
        match (number(least), number(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("{most}{}", of(&most))),
            (Some(least), Some(most)) => Some(format!("{least} to {most}{}", of("2"))),
            // That there may be nothing need not be said.
            (Some(least), None) if least != "0" || of("2").is_empty() => Some(format!(">= {least}{}", of(&least))),
            (None, Some(most)) => Some(format!("<= {most}{}", of(&most))),
            _ => None,
        }
    };
    let mut bounds = Vec::new();
    if let Some(format) = get("format").and_then(Json::text) {
        bounds.push(one_line(format, LONGEST_VALUE));
    }
    if let Some(pattern) = get("pattern").and_then(Json::text) {
        bounds.push(format!("matches {}", one_line(pattern, LONGEST_VALUE)));
    }
    bounds.extend(range("minimum", "maximum", ""));
    bounds.extend(number("exclusiveMinimum").map(|least| format!("> {least}")));
    bounds.extend(number("exclusiveMaximum").map(|most| format!("< {most}")));
    bounds.extend(number("multipleOf").map(|step| format!("multiple of {step}")));
    bounds.extend(range("minLength", "maxLength", " characters"));
    bounds.extend(range("minItems", "maxItems", " items"));
    if get("uniqueItems") == Some(&Json::Bool(true)) {
        bounds.push("no item twice".to_owned());
    }
    bounds
}
