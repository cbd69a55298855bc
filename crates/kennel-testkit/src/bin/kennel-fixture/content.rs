//! Owns the results of tools as JSON, and the small picture and sound that the conformance suites ask for.

use serde_json::{Value, json};

/// A PNG of one red pixel, in base64.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A WAV with a header and no samples, in base64.
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA=";

/// The result of a tool: one text.
pub(crate) fn text(text: impl AsRef<str>) -> String {
    contents(&[text_item(text.as_ref())])
}

/// The result of a tool that could not do its work.
pub(crate) fn tool_error(text: impl AsRef<str>) -> String {
    json!({"content": [text_item(text.as_ref())], "isError": true}).to_string()
}

/// The result of a tool: several things.
pub(crate) fn contents(items: &[Value]) -> String {
    json!({ "content": items }).to_string()
}

pub(crate) fn text_item(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn image_item() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

pub(crate) fn resource_item(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
}
