use super::*;
use crate::Config;
use serde_json::{Value, json};
use std::path::Path;

/// A file with one key of one table set, as Kennel's own part of a JSON file would have it.
fn with_key(section: &Section, below: Option<&str>, key: &str, value: &Value) -> Value {
    let table = match below {
        Some(table) => json!({ table: { key: value } }),
        None => json!({ key: value }),
    };
    let servers = json!({ "github": { "command": "x", "kennel": { "tags": ["work"] } }, "silent": { "command": "x" } });
    let mut file = json!({ "mcpServers": servers, "kennel": {} });
    match (section.name, key) {
        ("servers", "url" | "headers" | "transport") => {
            let mut server = json!({ "url": "https://example.com" });
            server["kennel"] = table;
            file["mcpServers"]["other"] = server;
        }
        ("servers", _) => file["mcpServers"]["other"] = json!({ "command": "y", "kennel": table }),
        ("views", _) => file["kennel"]["views"] = json!({ "v": table }),
        (name, _) => file["kennel"][name] = table,
    }
    file
}

fn read(file: &Value) -> Config {
    Config::parse(file.to_string().as_bytes(), Path::new("f")).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Every key with the table it is in.
fn all_keys() -> Vec<(&'static Section, Option<&'static str>, &'static Key)> {
    let mut all = Vec::new();
    for section in &SECTIONS {
        for key in section.keys.iter().filter(|key| section.form != Form::Defaults || key.place == Place::Everywhere) {
            match key.kind {
                Kind::Table(keys) => all.extend(keys.iter().map(|below| (section, Some(key.name), below))),
                _ => all.push((section, None, key)),
            }
        }
    }
    all
}

#[test]
fn every_key_does_something() {
    for (section, below, key) in all_keys() {
        let example: Value = serde_json::from_str(key.example).unwrap_or_else(|error| panic!("{}: {error}", key.name));
        let with = read(&with_key(section, below, key.name, &example));
        assert_eq!(with.warnings, [], "{} {}", section.name, key.name);
        // The same file with the key taken out, or for the one key that a server needs, with another value.
        let without = match key.name {
            "url" => json!("https://other.example.com"),
            "command" => json!("another"),
            _ => Value::Null,
        };
        let without = read(&with_key(section, below, key.name, &without));
        assert_ne!(with, without, "{} {below:?} {}", section.name, key.name);
    }
}

#[test]
fn what_is_said_to_be_the_default_is() {
    for (section, below, key) in all_keys() {
        // How long things may take by default is not decided here.
        let decided_elsewhere = below == Some("timeouts") || key.name == "tmp-size";
        let Some(default) = key.default.filter(|_| !decided_elsewhere) else { continue };
        let default: Value = serde_json::from_str(default).unwrap_or_else(|error| panic!("{}: {error}", key.name));
        let with = read(&with_key(section, below, key.name, &default));
        let without = read(&with_key(section, below, key.name, &Value::Null));
        assert_eq!(with, without, "{} {below:?} {}", section.name, key.name);
    }
}

#[test]
fn every_choice_is_told_from_the_others() {
    for (section, below, key) in all_keys() {
        let Kind::Choice(choices) = key.kind else { continue };
        let read = |choice: &Choice| read(&with_key(section, below, key.name, &json!(choice.name)));
        for (number, choice) in choices.iter().enumerate() {
            for other in &choices[number + 1..] {
                assert_ne!(read(choice), read(other), "{}: {} {}", key.name, choice.name, other.name);
            }
        }
    }
}

#[test]
fn every_key_is_explained() {
    for (_, _, key) in all_keys() {
        assert!(key.about.ends_with('.'), "{}", key.name);
    }
}
