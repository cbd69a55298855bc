//! Owns the JSON schema of `kennel.toml`, made from the table of keys, for editors to complete and check by.

use crate::keys::{Choice, Form, Key, Kind, Place, SECTIONS, Section, Zero};
use serde_json::{Map, Value, json};

const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
const HEADER: &str = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
const SIZE: &str = "^[0-9]+([.][0-9]{1,3})?[KkMmGgTt]?[Ii]?[Bb]?$";

/// The schema, as a JSON Schema 2020-12 document.
#[must_use]
pub fn schema() -> Value {
    let sections = SECTIONS.iter().map(|section| (section.name.to_owned(), of_section(section)));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kennel.toml",
        "description": "MCP servers for Kennel to serve behind one endpoint.",
        "type": "object",
        "properties": sections.collect::<Map<_, _>>(),
        "additionalProperties": false,
        "$defs": { "value": value() },
    })
}

fn of_section(section: &Section) -> Value {
    let table = match section.form {
        Form::Plain => of_table(section.keys, Place::ServerOnly),
        Form::Defaults => of_table(section.keys, Place::Everywhere),
        Form::Named => {
            let mut each = of_table(section.keys, Place::ServerOnly);
            if section.name == "servers" {
                each["oneOf"] = json!([{ "required": ["command"] }, { "required": ["url"] }]);
            }
            json!({
                "type": "object",
                "propertyNames": { "pattern": NAME },
                "additionalProperties": each,
            })
        }
    };
    described(table, section.about)
}

fn of_table(keys: &[Key], place: Place) -> Value {
    let keys = keys.iter().filter(|key| place == Place::ServerOnly || key.place == Place::Everywhere);
    let properties = keys.map(|key| (key.name.to_owned(), of_key(key)));
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = described(of_kind(&key.kind), key.about);
    if let Some(default) = key.default.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        schema["default"] = default;
    }
    if let Ok(example) = serde_json::from_str::<Value>(key.example) {
        schema["examples"] = json!([example]);
    }
    schema
}

fn of_kind(kind: &Kind) -> Value {
    match kind {
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Template => json!({ "type": "string" }),
        Kind::Templates => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string", "minLength": 1 } }),
        Kind::Patterns => json!({ "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 256 } }),
        Kind::Count { least } => json!({ "type": "integer", "minimum": least, "maximum": u32::MAX }),
        Kind::Number { zero: Zero::Refused } => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Number { zero: Zero::Allowed } => json!({ "type": "number", "minimum": 0 }),
        Kind::Size => json!({ "anyOf": [
            { "type": "string", "pattern": SIZE },
            { "type": "integer", "minimum": 1 },
        ] }),
        Kind::Address => json!({ "type": "string", "pattern": "^.+:[0-9]{1,5}$" }),
        Kind::Choice(choices) => of_choices(choices),
        Kind::Choices(choices) => json!({ "type": "array", "items": of_choices(choices) }),
        Kind::Value => json!({ "$ref": "#/$defs/value" }),
        Kind::Variables => by_name(VARIABLE, &json!({ "$ref": "#/$defs/value" })),
        Kind::Headers => by_name(HEADER, &json!({ "$ref": "#/$defs/value" })),
        Kind::ByTool(_) => json!({ "type": "object", "additionalProperties": { "type": "string", "minLength": 1 } }),
        Kind::Table(keys) => of_table(keys, Place::ServerOnly),
    }
}

fn by_name(pattern: &str, each: &Value) -> Value {
    json!({ "type": "object", "propertyNames": { "pattern": pattern }, "additionalProperties": each })
}

/// Each word with what it means, as editors show it.
fn of_choices(choices: &[Choice]) -> Value {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    let each = choices.iter().map(|choice| json!({ "const": choice.name, "description": choice.about }));
    json!({ "type": "string", "enum": names, "oneOf": each.collect::<Vec<_>>() })
}

/// What a variable or a header is set to.
fn value() -> Value {
    let reference = |key: &str, schema: Value, about: &str| {
        json!({
            "type": "object",
            "properties": {
                key: described(schema, about),
                "prefix": { "type": "string", "minLength": 1, "description": "Text before the value." },
            },
            "required": [key],
            "additionalProperties": false,
        })
    };
    let text = json!({ "type": "string", "minLength": 1 });
    json!({ "anyOf": [
        { "type": "string", "description": "Text; `${NAME}` and `${NAME:-default}` are replaced." },
        { "type": ["number", "boolean"], "description": "The same as text." },
        reference("from-env", json!({ "type": "string", "pattern": VARIABLE }), "The name of one of Kennel's own variables."),
        reference("from-file", text, "A file that holds the value; relative to this file."),
        reference(
            "from-command",
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 }),
            "A program, with its arguments, that prints the value.",
        ),
        reference(
            "from-keyring",
            json!({ "type": "string", "pattern": "^.+/[^/]+$" }),
            "`service/account` in the keyring of the desktop.",
        ),
    ] })
}

fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = Value::from(about);
    schema
}
