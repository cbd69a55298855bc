//! What a task is: a question, the tools that it needs, what they answer, and how it is done.

use crate::agent::Agent;
use serde_json::{Value, json};
use std::io;

/// A task.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    /// What the user asks.
    pub(crate) question: &'static str,
    /// The three tools that are always there, as server and name; those that the task needs are among them.
    pub(crate) tools: [(&'static str, &'static str); 3],
    /// Arguments of these tools of which the data does not know: the tool, the argument, its type and what it is for.
    pub(crate) arguments: &'static [[&'static str; 4]],
    /// What an agent that does not know the tools searches for, and the tools that it must find thereby.
    pub(crate) searches: &'static [(&'static str, &'static [&'static str])],
    /// What the tools answer.
    pub(crate) answers: fn() -> Vec<Answer>,
    /// Does it by calls: what a model would decide.
    pub(crate) solve: fn(&mut Agent) -> io::Result<String>,
    /// Does it in Python. A model does not know what results look like, so it looks first.
    pub(crate) cells: &'static [&'static str],
    /// Reads the answer out of what the last cell returned.
    pub(crate) read: fn(&str) -> io::Result<String>,
    /// The answer that is right.
    pub(crate) answer: fn() -> String,
}

/// What a tool answers to a call with these arguments, among others.
pub(crate) struct Answer {
    pub(crate) server: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) when: Value,
    pub(crate) result: Value,
}

/// JSON as text, as most servers answer.
pub(crate) fn answers(server: &'static str, tool: &'static str, when: Value, value: &Value) -> Answer {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Answer { server, tool, when, result: json!({"content": [{"type": "text", "text": text}]}) }
}

/// What comes after a mark in a text, up to the end of its line.
pub(crate) fn after<'t>(text: &'t str, mark: &str) -> io::Result<&'t str> {
    let (_, rest) = text.split_once(mark).ok_or_else(|| io::Error::other(format!("no `{mark}` in: {text}")))?;
    Ok(rest.lines().next().unwrap_or_default().trim())
}
