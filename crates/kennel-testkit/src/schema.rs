//! Owns the check of messages against the protocol's JSON schemas: where these are, and a validator for the keywords
//! that they have. A keyword that it does not know is a problem, so that nothing passes unseen.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// Where the schema and the examples of a revision of the protocol are; None, loudly, if they are not there.
///
/// They are no part of this repository: they are looked for in `$KENNEL_SPEC`, or in `shared/spec` beside the clone, as
/// `REVISION/schema.json`.
#[must_use]
pub fn specification(revision: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec");
    let directory = std::env::var_os("KENNEL_SPEC").map_or_else(beside, PathBuf::from).join(revision);
    let there = directory.join("schema.json").is_file();
    if !there {
        // Not by a macro, whose words the harness would keep to itself. Nobody may be listening.
        let _ = writeln!(io::stderr(), "SKIPPED: there is no {}/schema.json; set KENNEL_SPEC", directory.display());
    }
    there.then_some(directory)
}

/// The definitions of one revision of the protocol.
#[derive(Debug)]
pub struct Schema(Map<String, Value>);

impl Schema {
    /// Reads the schema in the directory of a revision.
    ///
    /// # Errors
    /// The file cannot be read, or has no definitions.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let mut schema: Value = serde_json::from_str(&fs::read_to_string(directory.join("schema.json"))?)?;
        let definitions = ["$defs", "definitions"].into_iter().find_map(|name| match schema[name].take() {
            Value::Object(definitions) => Some(definitions),
            _ => None,
        });
        definitions.map(Self).ok_or_else(|| io::Error::other("the schema has no definitions"))
    }

    /// Whether there is a definition of this name.
    #[must_use]
    pub fn has(&self, definition: &str) -> bool {
        self.0.contains_key(definition)
    }

    /// What is wrong with a value as one of the definitions; None if nothing is.
    #[must_use]
    pub fn problem(&self, definition: &str, value: &Value) -> Option<String> {
        self.check(&json!({"$ref": format!("#/$defs/{definition}")}), value).err()
    }

    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        if *schema == Value::Bool(false) {
            return Err(format!("{value} must not be there"));
        }
        for (keyword, rule) in schema.as_object().into_iter().flatten() {
            let wrong = || Err(format!("{value} breaks {keyword}: {rule}"));
            let number_is = |breaks: fn(&f64, &f64) -> bool| {
                value.as_f64().zip(rule.as_f64()).is_some_and(|(number, bound)| breaks(&number, &bound))
            };
            match keyword.as_str() {
                "$ref" => self.check(self.definition(rule)?, value)?,
                "type" if !is_of_any(rule, value)? => return wrong(),
                "const" if value != rule => return wrong(),
                "enum" if !members(rule).any(|one| one == value) => return wrong(),
                "minimum" if number_is(f64::lt) => return wrong(),
                "maximum" if number_is(f64::gt) => return wrong(),
                "maxItems"
                    if value.as_array().zip(rule.as_u64()).is_some_and(|(all, most)| all.len() as u64 > most) =>
                {
                    return wrong();
                }
                "description" | "format" | "type" | "const" | "enum" | "minimum" | "maximum" | "maxItems" => {}
                "required" => {
                    let missing = |name: &Value| name.as_str().is_none_or(|name| value.get(name).is_none());
                    if value.is_object() && members(rule).any(missing) {
                        return wrong();
                    }
                }
                "properties" => {
                    for (name, schema) in rule.as_object().into_iter().flatten() {
                        value.get(name).map_or(Ok(()), |member| self.check(schema, member))?;
                    }
                }
                "additionalProperties" => {
                    let known = |name: &String| schema["properties"].get(name).is_some();
                    for (_, member) in value.as_object().into_iter().flatten().filter(|(name, _)| !known(name)) {
                        self.check(rule, member)?;
                    }
                }
                "items" => members(value).try_for_each(|item| self.check(rule, item))?,
                "allOf" => members(rule).try_for_each(|schema| self.check(schema, value))?,
                "anyOf" => {
                    let problems: Result<Vec<String>, ()> =
                        members(rule).map(|one| self.check(one, value).err().ok_or(())).collect();
                    if let Ok(problems) = problems {
                        return Err(problems.join("; "));
                    }
                }
                other => return Err(format!("the validator does not know {other}")),
            }
        }
        Ok(())
    }

    fn definition(&self, reference: &Value) -> Result<&Value, String> {
        let name = reference.as_str().and_then(|reference| reference.rsplit('/').next());
        name.and_then(|name| self.0.get(name)).ok_or_else(|| format!("there is no definition {reference}"))
    }
}

fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Whether a value is of one of the types that a schema names.
fn is_of_any(rule: &Value, value: &Value) -> Result<bool, String> {
    let mut kinds = rule.as_str().into_iter().chain(members(rule).filter_map(Value::as_str));
    kinds.try_fold(false, |found, kind| Ok(found || is_of(kind, value)?))
}

fn is_of(kind: &str, value: &Value) -> Result<bool, String> {
    Ok(match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => return Err(format!("the validator does not know the type {other}")),
    })
}
