//! Owns what a JSON schema says of one argument, as far as a command line can make use of it: its types and its choices.
//!
//! Everything else in a schema is the server's to check.

use crate::commands::asking::did_you_mean;
use kennel_redact::one_line;
use kennel_wire::RawJson;
use serde_json::Value;

/// How many references and alternatives are followed, one within the other.
const MOST_NESTED: usize = 16;
/// How many choices are named in a message.
const MOST_NAMED: usize = 20;

/// A type of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    String,
    Number,
    Integer,
    Boolean,
    Null,
    Object,
    Array,
}

/// What an argument may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Expected {
    /// Its types; none if anything goes.
    pub(crate) types: Vec<Type>,
    /// The only values that it may have.
    pub(crate) choices: Option<Vec<Value>>,
}

impl Type {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            "object" => Self::Object,
            "array" => Self::Array,
            _ => return None,
        })
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::String,
            Value::Number(_) => Self::Number,
            Value::Bool(_) => Self::Boolean,
            Value::Null => Self::Null,
            Value::Object(_) => Self::Object,
            Value::Array(_) => Self::Array,
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            _ => self == Self::of(value),
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Integer => "an integer",
            Self::Boolean => "true or false",
            Self::Null => "null",
            Self::Object => "an object in JSON, such as {\"name\":\"value\"}",
            Self::Array => "an array in JSON, such as [\"one\",\"two\"]",
        }
    }
}

impl Expected {
    /// Reads the schema of an argument; references lead into the schema of all arguments.
    pub(crate) fn read(schema: &Value, whole: &Value) -> Self {
        Self::read_nested(schema, whole, 0)
    }

    fn read_nested(schema: &Value, whole: &Value, depth: usize) -> Self {
        if depth >= MOST_NESTED {
            return Self::default();
        }
        let nested = |schema: &Value| Self::read_nested(schema, whole, depth + 1);
        if let Some(target) = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#')) {
            return whole.pointer(target).map(nested).unwrap_or_default();
        }
        let choices = match (&schema["enum"], schema.get("const")) {
            (_, Some(only)) => Some(vec![only.clone()]),
            (Value::Array(choices), None) => Some(choices.clone()),
            _ => None,
        };
        let types = match &schema["type"] {
            Value::String(name) => Type::named(name).into_iter().collect(),
            Value::Array(names) => names.iter().filter_map(|name| Type::named(name.as_str()?)).collect(),
            _ => Vec::new(),
        };
        match (types, choices) {
            (types, None) if types.is_empty() => {
                let alternatives = ["anyOf", "oneOf"].into_iter().find_map(|name| schema[name].as_array());
                if let Some(alternatives) = alternatives {
                    return Self::either(alternatives.iter().map(nested));
                }
                let parts = schema["allOf"].as_array().map(Vec::as_slice).unwrap_or_default();
                parts.iter().map(nested).find(|part| *part != Self::default()).unwrap_or_default()
            }
            (types, Some(choices)) if types.is_empty() => Self::of_choices(choices),
            // A type beside alternatives that name the choices, as titled ones do.
            (types, None) => {
                let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
                let choices = titled.and_then(|titled| Self::either(titled.iter().map(nested)).choices);
                Self { types, choices }
            }
            (types, choices) => Self { types, choices },
        }
    }

    fn of_choices(choices: Vec<Value>) -> Self {
        let mut types: Vec<Type> = choices.iter().map(Type::of).collect();
        types.dedup();
        Self { types, choices: Some(choices) }
    }

    fn either(alternatives: impl Iterator<Item = Self>) -> Self {
        let (mut types, mut choices, mut any) = (Vec::new(), Some(Vec::new()), false);
        for alternative in alternatives {
            any |= alternative.types.is_empty();
            // To be null is a choice too, and how an optional choice is written.
            let only_null = (alternative.types == [Type::Null]).then(|| vec![Value::Null]);
            choices = match (choices, alternative.choices.or(only_null)) {
                (Some(choices), Some(more)) => Some([choices, more].concat()),
                _ => None,
            };
            types.extend(alternative.types);
        }
        if any { Self::default() } else { Self { types, choices } }
    }

    /// The value that a text on the command line means, or what is wrong with it.
    pub(crate) fn value(&self, text: &str) -> Result<RawJson, String> {
        let spelled = RawJson::parse(text.to_owned()).ok();
        let spelled = spelled.and_then(|raw| Some((serde_json::from_slice::<Value>(raw.as_bytes()).ok()?, raw)));
        // Quotation marks belong to a text, unless it can be anything.
        let spelled = spelled.filter(|(value, _)| self.types.is_empty() || !value.is_string());
        let literal = Some((Value::from(text), RawJson::string(text)));
        let candidates = [spelled, literal].into_iter().flatten();
        let mut candidates = candidates.filter(|(value, _)| self.takes(value));
        let Some(choices) = &self.choices else {
            let first = candidates.next().map(|(_, raw)| raw);
            return first.ok_or_else(|| format!("must be {}, not `{}`", self.in_words(), one_line(text)));
        };
        let chosen = candidates.find(|(value, _)| choices.iter().any(|choice| same(choice, value)));
        chosen.map(|(_, raw)| raw).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(shown).collect();
            let offered = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if names.len() > MOST_NAMED { ", …" } else { "" };
            let question = did_you_mean(text, names.iter().map(String::as_str));
            format!("must be one of {offered}{more}, not `{}`{question}", one_line(text))
        })
    }

    fn takes(&self, value: &Value) -> bool {
        self.types.is_empty() || self.types.iter().any(|kind| kind.fits(value))
    }

    fn in_words(&self) -> String {
        self.types.iter().map(|kind| kind.in_words()).collect::<Vec<_>>().join(" or ")
    }
}

/// Whether two values are equal; numbers are by what they are worth.
fn same(left: &Value, right: &Value) -> bool {
    left == right || (left.is_number() && left.as_f64() == right.as_f64())
}

fn shown(choice: &Value) -> String {
    one_line(&choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
