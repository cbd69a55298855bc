//! Owns how a tool or prompt reads its arguments.

use serde_json::{Map, Value};

use crate::incoming::Failure;

/// The arguments of one call.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads them from JSON.
    pub(crate) fn parse(json: &str) -> Result<Self, Failure> {
        serde_json::from_str(json).map(Self).map_err(Failure::invalid_params)
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Failure> {
        self.0.get(name).and_then(Value::as_str).ok_or_else(|| missing(name, "a string"))
    }

    /// A text, or what stands for it.
    pub(crate) fn text_or<'a>(&'a self, name: &str, default: &'a str) -> Result<&'a str, Failure> {
        if self.0.contains_key(name) { self.text(name) } else { Ok(default) }
    }

    /// A whole number that must be there.
    pub(crate) fn number(&self, name: &str) -> Result<u64, Failure> {
        self.0.get(name).and_then(Value::as_u64).ok_or_else(|| missing(name, "a whole number"))
    }

    /// A whole number, or what stands for it.
    pub(crate) fn number_or(&self, name: &str, default: u64) -> Result<u64, Failure> {
        if self.0.contains_key(name) { self.number(name) } else { Ok(default) }
    }

    /// Whether something is asked for; absent means not.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value == &Value::Bool(true))
    }

    /// Whether there is such an argument.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

fn missing(name: &str, what: &str) -> Failure {
    Failure::invalid_params(format_args!("the argument `{name}` must be {what}"))
}
