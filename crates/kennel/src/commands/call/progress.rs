//! Owns how the progress of a call is shown: on one line of a terminal, which goes away with the call.

use crate::screen::{is_watched, show_progress};
use kennel_redact::one_line;
use kennel_wire::Message;
use serde_json::Value;

/// How much of a message is shown.
const LONGEST: usize = 60;

/// The line for progress, if somebody watches.
pub(crate) struct Progress {
    watched: bool,
    shown: bool,
}

impl Progress {
    /// Shows nothing yet; never anything if standard error is no terminal.
    pub(crate) fn new() -> Self {
        Self { watched: is_watched(), shown: false }
    }

    /// Whether to ask the server for progress.
    pub(crate) fn is_wanted(&self) -> bool {
        self.watched
    }

    /// Shows what a notification says, if it is about progress.
    pub(crate) fn hear(&mut self, message: &Message) {
        if !self.watched || message.method().as_deref() != Some("notifications/progress") {
            return;
        }
        let params = message.params();
        let params = params.and_then(|params| serde_json::from_slice::<Value>(params.as_bytes()).ok());
        if let Some(text) = params.as_ref().and_then(in_words) {
            self.shown = true;
            show_progress(&text);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            show_progress("");
        }
    }
}

/// The parameters of a notification of progress for people.
fn in_words(params: &Value) -> Option<String> {
    let done = params["progress"].as_f64()?;
    let how_far = match params["total"].as_f64().filter(|total| *total > 0.0) {
        Some(total) => format!("{:.0} %", (100.0 * done / total).clamp(0.0, 100.0)),
        None => done.to_string(),
    };
    let message = params["message"].as_str().map(one_line).unwrap_or_default();
    let message: String = message.chars().take(LONGEST).collect();
    Some(format!("{how_far} {message}").trim_end().to_owned())
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
