//! The official client at a place, with what it is to do.

use crate::support::programs::material;
use crate::support::running::run_with_input;
use serde::Deserialize;
use serde_json::{Value, json};
use std::process::Command;

const SCRIPT: &str = include_str!("client.py");

/// What a client has seen.
#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    pub(crate) version: String,
    pub(crate) tools: Vec<String>,
    pub(crate) results: Vec<Value>,
    pub(crate) manual: String,
    pub(crate) asked: Vec<String>,
}

/// One step: a tool and its arguments.
pub(crate) fn cell(code: &str) -> (&'static str, Value) {
    ("run_python", json!({ "code": code }))
}

/// A cell in a notebook that has a name.
pub(crate) fn cell_in(session: &str, code: &str) -> (&'static str, Value) {
    ("run_python", json!({ "code": code, "session": session }))
}

/// Has the client do these steps at a place: `url`, or `command`, and how it talks.
#[track_caller]
pub(crate) fn does(place: &Value, steps: &[(&str, Value)]) -> Seen {
    let mut wish = place.clone();
    wish["steps"] = json!(steps);
    let mut command = Command::new(material("KENNEL_TEST_PYTHON_CLIENT_MODERN"));
    command.args(["-c", SCRIPT]).env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    let printed = run_with_input(command, wish.to_string().as_bytes()).fine();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

impl Seen {
    /// The text of a result, which must be no error.
    #[track_caller]
    pub(crate) fn text(&self, step: usize) -> &str {
        let result = &self.results[step];
        assert_ne!(result["isError"], true, "{result:#}");
        result["content"][0]["text"].as_str().unwrap_or_default()
    }
}
