//! The schema says what the reader takes: the examples fit it, and a wrong file fits neither.

use crate::support::{as_json, code_block, repository_file};
use kennel_config::{Config, schema};
use serde_json::{Value, json};
use std::path::Path;

/// Why a value does not fit a schema; knows exactly the words that the schema uses.
fn misfit(schema: &Value, value: &Value, root: &Value) -> Option<String> {
    let fits = |schema: &Value| misfit(schema, value, root).is_none();
    for (word, wanted) in schema.as_object().expect("a schema is an object") {
        let fine = match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "examples" => true,
            // What a pattern means is for the program that uses the schema.
            "pattern" | "propertyNames" => wanted.is_string() || wanted["pattern"].is_string(),
            "$ref" => {
                let place = wanted.as_str().and_then(|place| place.strip_prefix('#')).expect("a place in this schema");
                fits(root.pointer(place).expect("the place is there"))
            }
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|name| is_a(name, value)),
                name => is_a(name, value),
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "anyOf" => wanted.as_array().unwrap().iter().any(fits),
            "oneOf" => wanted.as_array().unwrap().iter().filter(|schema| fits(schema)).count() == 1,
            "required" => wanted.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > wanted.as_f64().unwrap()),
            "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= wanted.as_u64().unwrap()),
            "maxLength" => value.as_str().is_none_or(|text| text.len() as u64 <= wanted.as_u64().unwrap()),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
            "items" => {
                value.as_array().is_none_or(|items| items.iter().all(|item| misfit(wanted, item, root).is_none()))
            }
            "properties" => {
                let mut known = wanted.as_object().unwrap().iter();
                let wrong = known.find_map(|(key, schema)| misfit(schema, value.get(key)?, root));
                if let Some(wrong) = wrong {
                    return Some(wrong);
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let mut others = value.as_object().into_iter().flatten();
                others.all(|(key, member)| {
                    let is_known = known.is_some_and(|known| known.contains_key(key));
                    is_known || (wanted != &json!(false) && misfit(wanted, member, root).is_none())
                })
            }
            other => panic!("the schema says `{other}`, which this test does not know"),
        };
        if !fine {
            return Some(format!("{value} does not fit `{word}`: {wanted}"));
        }
    }
    None
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().expect("a type is text") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("no type `{other}`"),
    }
}

fn fits(toml: &str) -> Result<(), String> {
    let schema = schema();
    misfit(&schema, &as_json(toml), &schema).map_or(Ok(()), Err)
}

fn reads(toml: &str) -> bool {
    Config::parse(toml.as_bytes(), Path::new("kennel.toml")).is_ok()
}

#[test]
fn the_example_of_the_reference_fits() {
    let example = code_block(&repository_file("docs/serve.md"), "toml");
    assert_eq!(fits(&example), Ok(()));
}

/// Every key with the path to it, from the schema.
fn keys_of(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (key, schema) in properties {
        let path = format!("{path}.{key}");
        found.push((path.clone(), schema.clone()));
        keys_of(schema, &path, found);
    }
}

#[test]
fn what_the_schema_gives_as_examples_is_read_and_fits() {
    let whole = schema();
    let mut keys = Vec::new();
    keys_of(&whole["properties"]["servers"]["additionalProperties"], "servers.a", &mut keys);
    keys_of(&whole["properties"]["defaults"], "defaults", &mut keys);
    keys_of(&whole["properties"]["gateway"], "gateway", &mut keys);
    keys_of(&whole["properties"]["views"]["additionalProperties"], "views.v", &mut keys);
    assert!(keys.len() > 80, "{}", keys.len());
    for (path, schema) in keys {
        let values = schema["examples"].as_array().expect("every key has an example").iter();
        for value in values.chain(schema.get("default")) {
            assert_eq!(misfit(&schema, value, &whole), None, "{path}");
            let launch = match path.as_str() {
                "servers.a.command" | "servers.a.url" => "",
                "servers.a.headers" | "servers.a.transport" => "servers.a.url = 'https://example.com'\n",
                _ => "servers.a.command = 'x'\n",
            };
            let file = format!("{launch}servers.github.command = 'x'\n{path} = {}\n", as_toml(value));
            assert!(reads(&file), "{file}");
            assert_eq!(fits(&file), Ok(()), "{file}");
        }
    }
}

fn as_toml(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| format!("{key:?} = {}", as_toml(member)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(as_toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[test]
fn what_the_reader_refuses_the_schema_refuses_too() {
    for wrong in [
        "servers.a.comand = 'x'",
        "servers.a = {}",
        "servers.a = { command = 'x', url = 'https://x' }",
        "servers.a.command = 1",
        "servers.a = { command = 'x', args = 'y' }",
        "servers.a = { command = 'x', model = 'sharde' }",
        "servers.a = { command = 'x', queue = -1 }",
        "servers.a = { command = 'x', env = { A = { from-envy = 'X' } } }",
        "servers.a = { command = 'x', env = { A = { from-env = 'X', from-file = 'y' } } }",
        "servers.a = { command = 'x', env = { A = ['y'] } }",
        "servers.a = { command = 'x', box = { memry = '1G' } }",
        "servers.a = { command = 'x', box = { accept-missing = ['walls'] } }",
        "servers.a = { command = 'x', timeouts = { call = 0 } }",
        "servers.a = { command = 'x', tools = { allow = [''] } }",
        "defaults.command = 'x'",
        "views.v.surface = 'none'",
        "views.v.tools.rename = { a = 'b' }",
        "gateway.port = 1",
        "mcpServers.a.command = 'x'",
    ] {
        assert!(!reads(wrong), "{wrong}");
        assert!(fits(wrong).is_err(), "{wrong}");
    }
}
