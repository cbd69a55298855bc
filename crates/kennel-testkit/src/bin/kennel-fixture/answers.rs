//! Owns what tools of a file answer: what another file says, or else what they were called with.
//!
//! A line is an object with `tool`, `result` (the whole result of the call) and, where only some calls are meant, `when`:
//! the arguments that these have, among others. The first line that fits is the answer.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::content;

/// The answers of a file.
#[derive(Default)]
pub(crate) struct Answers(Vec<Line>);

#[derive(Deserialize)]
struct Line {
    tool: String,
    #[serde(default)]
    when: Map<String, Value>,
    result: Box<RawValue>,
}

impl Answers {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{} cannot be read: {error}", path.display())))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = lines.map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                io::Error::other(format!("{}, line {}, is not an answer: {error}", path.display(), number + 1))
            })
        });
        read.collect::<io::Result<_>>().map(Self)
    }

    /// The result of a call.
    pub(crate) fn result(&self, tool: &str, arguments: &str) -> String {
        let given: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
        let fits =
            |line: &&Line| line.tool == tool && line.when.iter().all(|(name, value)| given.get(name) == Some(value));
        match self.0.iter().find(fits) {
            Some(line) => line.result.get().to_owned(),
            None => content::text(format!("{tool} {arguments}")),
        }
    }
}
