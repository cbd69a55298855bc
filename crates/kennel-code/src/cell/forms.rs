//! The forms in which a result is told to a client.

use super::{CellError, CellResult, Status, toon};
use serde::Deserialize;
use serde_json::{Value, json};

/// The form of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Text as a terminal would show it, and the same as structured content.
    #[default]
    Compact,
    /// JSON text.
    Json,
    /// TOON text.
    Toon,
}

impl CellResult {
    /// What a model reads: output, value, error and notes, without what is empty.
    #[must_use]
    pub fn compact(&self) -> String {
        let mut parts = Vec::new();
        match self.status {
            Status::Success => {}
            Status::Running => parts.push(format!("running: cell {}", self.cell)),
            status => parts.push(format!("status: {}", status.name())),
        }
        parts.extend(line(&self.stdout));
        parts.extend(line(&self.stderr).map(|stderr| format!("stderr:\n{stderr}")));
        parts.extend(line(&self.value));
        parts.extend(self.error.as_ref().map(CellError::text));
        parts.extend(self.notes.iter().map(|note| format!("note: {note}")));
        parts.join("\n")
    }

    /// The result as JSON, without what is empty.
    #[must_use]
    pub fn structured(&self) -> Value {
        // Strings, numbers and lists of them always have a JSON form.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The result of the tool that ran the cell.
    #[must_use]
    pub fn tool_result(&self, format: Format) -> Value {
        let (text, structured) = match format {
            Format::Compact => (self.compact(), Some(self.structured())),
            // The members in their order, which a value does not keep.
            Format::Json => (serde_json::to_string(self).unwrap_or_default(), None),
            Format::Toon => (toon::encode(self), None),
        };
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if let Some(members) = result.as_object_mut() {
            members.extend(structured.map(|structured| ("structuredContent".to_owned(), structured)));
            members.extend(self.status.is_error().then(|| ("isError".to_owned(), true.into())));
        }
        result
    }
}

impl CellError {
    /// The traceback, which ends with type and message, or these alone.
    fn text(&self) -> String {
        if !self.traceback.is_empty() {
            return self.traceback.trim_end().to_owned();
        }
        match (self.kind.as_str(), self.message.as_str()) {
            (kind, "") => kind.to_owned(),
            ("", message) => message.to_owned(),
            (kind, message) => format!("{kind}: {message}"),
        }
    }
}

/// Text without the line end at its end; nothing where there is none.
fn line(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.strip_suffix('\n').unwrap_or(text).to_owned())
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;
