//! Owns how the result of a tool is shown to people: its texts, and a line for each thing that is none.

use crate::commands::call::pretty::pretty;
use crate::commands::call::saving::{Folder, extension};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Takes data with and without padding: servers send both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A result as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What to print, with a line end unless there is nothing.
    pub(crate) text: String,
    /// Whether the tool says that it failed.
    pub(crate) outcome: Outcome,
}

/// What a tool says of its own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Failed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// Lays a result out, and writes what is no text to the folder if there is one.
pub(crate) fn show(result: &[u8], mut folder: Option<&mut Folder>) -> Shown {
    let Ok(CallResult { content, structured_content, is_error }) = serde_json::from_slice(result) else {
        // Not what a tool returns, but what the server said.
        return Shown { text: format!("{}\n", pretty(result)), outcome: Outcome::Done };
    };
    let structured = structured_content.filter(|structured| structured.get() != "null");
    let items: Vec<(Option<Value>, &str)> =
        (content.iter().flatten()).map(|raw| (serde_json::from_str(raw.get()).ok(), raw.get())).collect();
    let has_text = items.iter().any(|(item, _)| item.as_ref().is_some_and(|item| item["type"] == "text"));
    let mut text = String::new();
    let mut add = |part: &str| {
        text.push_str(part);
        if !part.is_empty() && !part.ends_with('\n') {
            text.push('\n');
        }
    };
    for (item, raw) in &items {
        match item {
            Some(item) => add(&described(item, raw, folder.as_deref_mut())),
            None => add(&pretty(raw.as_bytes())),
        }
    }
    match structured {
        Some(structured) if !has_text => add(&pretty(structured.get().as_bytes())),
        // A result that says nothing in the usual way may say it in an unusual one.
        None if content.is_none() => add(&pretty(result)),
        Some(_) | None => {}
    }
    Shown { text, outcome: if is_error == Some(true) { Outcome::Failed } else { Outcome::Done } }
}

fn described(item: &Value, raw: &str, folder: Option<&mut Folder>) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match item["type"].as_str() {
        Some("text") => match item["text"].as_str() {
            Some(text) => text.to_owned(),
            None => pretty(raw.as_bytes()),
        },
        Some(kind @ ("image" | "audio")) => {
            let data = decoded(&item["data"]);
            line(kind, &word(&item["mimeType"]), data, folder)
        }
        Some("resource") => {
            let resource = &item["resource"];
            let data = match resource["text"].as_str() {
                Some(text) => Ok(text.as_bytes().to_vec()),
                None => decoded(&resource["blob"]),
            };
            line(&format!("resource {}", word(&resource["uri"])), &word(&resource["mimeType"]), data, folder)
        }
        Some("resource_link") => {
            let size = item["size"].as_u64().map(bytes);
            let parts = [format!("link to resource {}", word(&item["uri"])), word(&item["mimeType"])];
            bracketed(parts.into_iter().chain(size))
        }
        Some(_) | None => pretty(raw.as_bytes()),
    }
}

fn line(what: &str, mime: &str, data: Result<Vec<u8>, &'static str>, folder: Option<&mut Folder>) -> String {
    let (size, saved) = match data {
        Err(problem) => (problem.to_owned(), None),
        Ok(data) => {
            let saved = folder.map(|folder| match folder.save(&data, extension(mime)) {
                Ok(path) => format!("saved as {}", path.display()),
                Err(error) => format!("not saved: {error}"),
            });
            (bytes(data.len() as u64), saved)
        }
    };
    bracketed([what.to_owned(), mime.to_owned(), size].into_iter().chain(saved))
}

fn decoded(data: &Value) -> Result<Vec<u8>, &'static str> {
    let text = data.as_str().ok_or("without data")?;
    let text: String = text.split_ascii_whitespace().collect();
    BASE64.decode(text).map_err(|_| "its data is not base64")
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

fn bracketed(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
