//! Owns how the arguments of a tool are said on the command line: `NAME=VALUE` by the tool's schema, `NAME:=JSON`, or
//! all at once.

use crate::commands::asking::{Others, Tool, did_you_mean};
use crate::commands::call::schema::Expected;
use kennel_redact::one_line;
use kennel_wire::{RawJson, ValueKind};
use serde_json::Value;
use std::io::Read;

/// What was said, before the tool is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// One by one.
    Each(Vec<(String, Spelled)>),
    /// All at once.
    Whole(RawJson),
}

/// A value as it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spelled {
    /// To be understood by the schema.
    Text(String),
    /// As it is.
    Json(RawJson),
}

/// What is wrong with the arguments.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// Neither of the forms.
    #[error("`{0}` is not an argument: write NAME=VALUE, or NAME:=JSON")]
    NoName(String),
    /// The same one again.
    #[error("the argument `{0}` is given twice; give it once, a list as {0}:='[\"one\",\"two\"]'")]
    Twice(String),
    /// No JSON after `:=`.
    #[error("the argument `{name}` is not JSON ({problem}); write {name}=VALUE for a plain value")]
    NotJson {
        /// Its name.
        name: String,
        /// What the reader says.
        problem: String,
    },
    /// A value that the schema does not allow.
    #[error("the argument `{name}` of `{tool}` {problem}")]
    Value {
        /// Its name.
        name: String,
        /// The tool's name.
        tool: String,
        /// What it must be.
        problem: String,
    },
    /// An argument that the tool does not have.
    #[error("the tool `{tool}` has no argument `{name}`{hint}")]
    Unknown {
        /// Its name.
        name: String,
        /// The tool's name.
        tool: String,
        /// What may have been meant.
        hint: String,
    },
    /// Arguments that are needed.
    #[error("the tool `{tool}` needs {missing}; write {example}")]
    Missing {
        /// The tool's name.
        tool: String,
        /// The arguments' names.
        missing: String,
        /// How they are given.
        example: String,
    },
    /// `--args` without an object.
    #[error("--args must be a JSON object such as {{\"name\":\"value\"}}: {0}")]
    NotAnObject(String),
    /// `--args` from a place that cannot be read.
    #[error("--args {place}: {problem}")]
    Unreadable {
        /// What was written.
        place: String,
        /// What the system says.
        problem: String,
    },
}

impl Given {
    /// Reads `NAME=VALUE` and `NAME:=JSON`.
    pub(crate) fn each(words: &[String]) -> Result<Self, ArgumentError> {
        let mut given: Vec<(String, Spelled)> = Vec::new();
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| ArgumentError::NoName(word.clone()))?;
            let (name, spelled) = match name.strip_suffix(':') {
                Some(name) => (name, Spelled::Json(json(name, value)?)),
                None => (name, Spelled::Text(value.to_owned())),
            };
            if name.is_empty() {
                return Err(ArgumentError::NoName(word.clone()));
            }
            if given.iter().any(|(other, _)| other == name) {
                return Err(ArgumentError::Twice(name.to_owned()));
            }
            given.push((name.to_owned(), spelled));
        }
        Ok(Self::Each(given))
    }

    /// Reads `--args`: JSON, `@FILE` or `-` for standard input, of at most so many bytes.
    pub(crate) fn whole(text: &str, limit: u64) -> Result<Self, ArgumentError> {
        let unreadable = |problem: std::io::Error| ArgumentError::Unreadable {
            place: text.to_owned(),
            problem: problem.to_string(),
        };
        let bytes = match text.strip_prefix('@') {
            Some(file) => std::fs::File::open(file).and_then(|file| bounded(file, limit)).map_err(unreadable)?,
            None if text == "-" => bounded(std::io::stdin().lock(), limit).map_err(unreadable)?,
            None => text.as_bytes().to_vec(),
        };
        let raw = RawJson::parse(bytes).map_err(|error| ArgumentError::NotAnObject(error.to_string()))?;
        match raw.kind() {
            ValueKind::Object => Ok(Self::Whole(raw)),
            other => Err(ArgumentError::NotAnObject(format!("this is {other}"))),
        }
    }

    /// The arguments as the tool gets them.
    pub(crate) fn fit(&self, tool: &Tool) -> Result<RawJson, ArgumentError> {
        let given = match self {
            Self::Whole(raw) => return Ok(raw.clone()),
            Self::Each(given) => given,
        };
        let mut members = Vec::new();
        for (name, spelled) in given {
            members.push((RawJson::string(name), value(tool, name, spelled)?));
        }
        let missing = tool.required.iter().filter(|name| !given.iter().any(|(other, _)| other == *name));
        let missing: Vec<String> = missing.map(|name| one_line(name)).collect();
        if !missing.is_empty() {
            let quoted: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            let example: Vec<String> = missing.iter().map(|name| format!("{name}=VALUE")).collect();
            return Err(ArgumentError::Missing {
                tool: one_line(&tool.name),
                missing: quoted.join(", "),
                example: example.join(" "),
            });
        }
        let mut object = b"{".to_vec();
        for (index, (name, value)) in members.iter().enumerate() {
            if index > 0 {
                object.push(b',');
            }
            object.extend_from_slice(name.as_bytes());
            object.push(b':');
            object.extend_from_slice(value.as_bytes());
        }
        object.push(b'}');
        RawJson::parse(object).map_err(|error| ArgumentError::NotAnObject(error.to_string()))
    }
}

fn value(tool: &Tool, name: &str, spelled: &Spelled) -> Result<RawJson, ArgumentError> {
    let property = tool.properties.iter().find(|(other, _)| other == name).map(|(_, schema)| schema);
    if property.is_none() && tool.others == Others::Unknown {
        return Err(unknown(tool, name));
    }
    match spelled {
        Spelled::Json(raw) => Ok(raw.clone()),
        Spelled::Text(text) => {
            let expected = Expected::read(property.unwrap_or(&Value::Null), &tool.schema);
            expected.value(text).map_err(|problem| ArgumentError::Value {
                name: name.to_owned(),
                tool: one_line(&tool.name),
                problem,
            })
        }
    }
}

fn unknown(tool: &Tool, name: &str) -> ArgumentError {
    let names: Vec<&str> = tool.arguments().into_iter().map(|(name, _)| name).collect();
    let guess = did_you_mean(name, names.iter().copied());
    let hint = match (names.is_empty(), guess.is_empty()) {
        (true, _) => "; it takes none".to_owned(),
        (false, true) => format!("; it takes {}", one_line(&names.join(", "))),
        (false, false) => one_line(&guess),
    };
    ArgumentError::Unknown { name: name.to_owned(), tool: one_line(&tool.name), hint }
}

fn json(name: &str, value: &str) -> Result<RawJson, ArgumentError> {
    RawJson::parse(value.to_owned())
        .map_err(|error| ArgumentError::NotJson { name: name.to_owned(), problem: error.to_string() })
}

fn bounded(source: impl Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(std::io::Error::other(format!("longer than {limit} bytes; raise --max-message")));
    }
    Ok(bytes)
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
