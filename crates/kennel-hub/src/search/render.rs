//! Shows tools that were found: as text for models that read text, and as JSON for clients that take it.
//!
//! What servers say of their tools is foreign: it is shown on one line without control characters, and only so much of it.

use super::arguments::Detail;
use super::signature::signature;
use super::text::{one_line, summary, text_of};
use kennel_wire::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt::Write;

/// How many characters of a description a line has.
const LONGEST_SUMMARY: usize = 160;
/// How many characters of a description are shown in full.
const LONGEST_DESCRIPTION: usize = 4_000;
/// How many bytes all that is shown has, about; a tool whose schema would be too much is shown by its line.
const MOST_BYTES: usize = 64 * 1024;

/// A tool to be shown.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The name by which the client calls it.
    pub name: &'a str,
    /// The server that has it.
    pub server: &'a str,
    /// Its definition as the server lists it.
    pub tool: &'a RawJson,
}

/// Tools as they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// For models that read text.
    pub text: String,
    /// For clients that take JSON: `{"tools":[…]}`.
    pub structured: RawJson,
}

impl Rendered {
    /// The result of a call: both, as `content` and as `structuredContent`.
    #[must_use]
    pub fn result(&self) -> RawJson {
        let text = RawJson::string(&self.text);
        let block = RawJson::object([("type", &RawJson::string("text")), ("text", &text)]);
        RawJson::object([("content", &array(&[block])), ("structuredContent", &self.structured)])
    }
}

/// Shows tools in their order.
#[must_use]
pub fn render(found: &[Found<'_>], detail: Detail) -> Rendered {
    let mut text = String::new();
    let mut tools = Vec::new();
    let mut bytes = 0;
    for found in found {
        let shown = Shown::new(found);
        let (mut line, mut tool) = shown.render(detail);
        let is_too_large = bytes + line.len() + tool.as_bytes().len() > MOST_BYTES || shown.is_cut;
        if detail == Detail::Full && (is_too_large || !can_be_within(&tool)) {
            (line, tool) = shown.render(Detail::Summary);
            line.push_str("  (its schema is too large to be shown here)\n");
        }
        bytes += line.len() + tool.as_bytes().len();
        if bytes > 2 * MOST_BYTES {
            text.push_str("…\n");
            break;
        }
        text.push_str(&line);
        tools.push(tool);
    }
    if found.is_empty() {
        text.push_str("No tool matches. Say it in other or fewer words, or search all servers.\n");
    }
    let structured = RawJson::object([("tools", &array(&tools))]);
    Rendered { text: text.trim_end().to_owned(), structured }
}

/// What is shown of a tool.
struct Shown<'a> {
    found: Found<'a>,
    description: String,
    signature: String,
    input_schema: Option<RawJson>,
    output_schema: Option<RawJson>,
    /// Whether a schema is too large to be shown.
    is_cut: bool,
}

impl<'a> Shown<'a> {
    fn new(found: &Found<'a>) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase")]
        struct Tool<'t> {
            #[serde(borrow)]
            description: Option<&'t RawValue>,
            #[serde(borrow)]
            input_schema: Option<&'t RawValue>,
            #[serde(borrow)]
            output_schema: Option<&'t RawValue>,
        }
        let tool: Tool<'_> = serde_json::from_slice(found.tool.as_bytes()).unwrap_or_default();
        let is_large = |schema: &&RawValue| schema.get().len() > MOST_BYTES;
        let is_cut = [tool.input_schema, tool.output_schema].iter().flatten().any(is_large);
        let schema = |schema: Option<&RawValue>| {
            // What could not be shown anyway is not copied.
            let schema = schema.filter(|schema| !is_large(schema))?;
            RawJson::parse(one_spaced(schema)).ok()
        };
        let input_schema = schema(tool.input_schema);
        let signature = match (&input_schema, tool.input_schema) {
            (Some(schema), _) => signature(schema),
            (None, Some(_)) => "…".to_owned(),
            (None, None) => String::new(),
        };
        Self {
            found: *found,
            description: tool.description.and_then(text_of).unwrap_or_default(),
            signature,
            input_schema,
            output_schema: schema(tool.output_schema),
            is_cut,
        }
    }

    /// One tool as text, which ends its line, and as JSON.
    fn render(&self, detail: Detail) -> (String, RawJson) {
        let Found { name, server, .. } = self.found;
        let (name_json, server_json) = (RawJson::string(name), RawJson::string(server));
        let mut members = vec![("name", &name_json), ("server", &server_json)];
        let mut text = one_line(name, 256);
        let (description, arguments);
        match detail {
            Detail::Names => {}
            Detail::Summary => {
                let line = summary(&self.description, LONGEST_SUMMARY);
                let separator = if line.is_empty() { "" } else { " - " };
                // Writing into a String does not fail.
                let _ = write!(text, "({}){separator}{line}", self.signature);
                description = RawJson::string(&line);
                arguments = RawJson::string(&self.signature);
                members.extend([("description", &description), ("arguments", &arguments)]);
            }
            Detail::Full => {
                let whole = one_line(&self.description, LONGEST_DESCRIPTION);
                let _ = write!(text, " - {whole}");
                description = RawJson::string(&whole);
                members.push(("description", &description));
                for (key, schema) in [("inputSchema", &self.input_schema), ("outputSchema", &self.output_schema)] {
                    if let Some(schema) = schema {
                        let _ = write!(text, "\n  {key}: {}", String::from_utf8_lossy(schema.as_bytes()));
                        members.push((key, schema));
                    }
                }
            }
        }
        text.push('\n');
        (text, RawJson::object(members))
    }
}

/// A value as spelled, on one line: outside of strings, which have none, line ends mean nothing.
fn one_spaced(value: &RawValue) -> String {
    value.get().replace(['\n', '\r'], " ")
}

/// Whether a value is not nested so deeply that it could not be within a result.
fn can_be_within(value: &RawJson) -> bool {
    const LEVELS: usize = 8;
    let within = [&b"[".repeat(LEVELS), value.as_bytes(), &b"]".repeat(LEVELS)].concat();
    RawJson::parse(within).is_ok()
}

/// These values as a JSON array.
fn array(values: &[RawJson]) -> RawJson {
    let mut written = vec![b'['];
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            written.push(b',');
        }
        written.extend_from_slice(value.as_bytes());
    }
    written.push(b']');
    RawJson::parse(written).unwrap_or_else(|_| RawJson::empty_object())
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
