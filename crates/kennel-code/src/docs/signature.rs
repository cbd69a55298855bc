//! Writes what a tool takes and returns as the signature of a Python function.

use super::json::Json;
use super::keywords::{members, others};
use super::names;
use super::schema::{Limits, Reader};
use super::types::{Field, Presence, Record, Type};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A function as it is called.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Signature {
    /// `(path: str, *, head: int | None = None) -> str`
    pub(crate) text: String,
    /// The names of arguments in JSON, by those in Python, where they differ.
    pub(crate) names: BTreeMap<String, String>,
    /// Python names of arguments, each with what is to be said of it.
    pub(crate) notes: Vec<(String, String)>,
    /// The types that the signature needs.
    pub(crate) records: Vec<Record>,
    /// Whether something was left out because there was too much.
    pub(crate) is_cut: bool,
}

/// What a tool takes.
enum Takes<'a> {
    /// Nobody knows.
    Anything,
    /// These arguments, and what else is of that type.
    Fields(Vec<Field>, Others<'a>),
}

/// Arguments without a name of their own.
enum Others<'a> {
    None,
    Any,
    Like(&'a Json),
}

/// The signature of a tool with these schemas.
pub(crate) fn signature(input: Option<&Json>, output: Option<&Json>, limits: Limits) -> Signature {
    const NOTHING: &Json = &Json::Null;
    let input = input.unwrap_or(NOTHING);
    let mut reader = Reader::new(input, limits);
    let takes = takes(&mut reader, input, limits);
    let (fields, others) = match takes {
        Takes::Anything => (Vec::new(), Some(Type::Any)),
        Takes::Fields(fields, Others::None) => (fields, None),
        Takes::Fields(fields, Others::Any) => (fields, Some(Type::Any)),
        Takes::Fields(fields, Others::Like(schema)) => (fields, Some(reader.kind(schema, "argument"))),
    };
    let output = output.filter(|output| output.is_object()).map(|output| {
        reader.turn_to(output);
        reader.kind(output, "result")
    });
    let read = reader.finish();
    let records = read.records;

    let python = names::arguments(fields.iter().map(|field| field.name.as_str()));
    let mut written: Vec<String> = Vec::new();
    let mut is_keyword_only = false;
    let mut signature = Signature { is_cut: read.is_cut, ..Signature::default() };
    for (field, python) in fields.iter().zip(&python) {
        if field.presence != Presence::Required && !is_keyword_only {
            is_keyword_only = true;
            written.push("*".to_owned());
        }
        written.push(argument(field, python, &records));
        if field.name != *python {
            signature.names.insert(python.clone(), field.name.clone());
        }
        if !field.note.is_empty() {
            signature.notes.push((python.clone(), field.note.clone()));
        }
    }
    if let Some(kind) = others {
        let mut name = if fields.is_empty() { "arguments".to_owned() } else { "others".to_owned() };
        while python.contains(&name) {
            name.push('_');
        }
        written.push(format!("**{name}: {}", kind.write(&records)));
    }
    signature.text = format!("({})", written.join(", "));
    if let Some(output) = output.filter(|output| *output != Type::Any) {
        let _ = write!(signature.text, " -> {}", output.write(&records));
    }
    signature.records = records;
    signature
}

fn takes<'a>(reader: &mut Reader<'a>, schema: &'a Json, limits: Limits) -> Takes<'a> {
    let parts = reader.parts(schema);
    let get = |keyword: &str| parts.iter().find_map(|part| part.get(keyword));
    let is_of_objects = match get("type") {
        Some(Json::Text(kind)) => kind == "object",
        Some(several) => several.elements().iter().any(|kind| kind.text() == Some("object")),
        None => true,
    };
    if !schema.is_object() || !is_of_objects {
        return Takes::Anything;
    }
    let additional = get("additionalProperties");
    let fields = reader.fields(schema, limits.arguments);
    let has_members = get("properties").is_some_and(Json::is_object);
    let others = match (others(&parts), additional) {
        // What was left out can be given all the same.
        _ if fields.len() < members(schema, &parts).len() => Others::Any,
        (Some(schema), _) => Others::Like(schema),
        (None, Some(Json::Bool(false))) => Others::None,
        (None, Some(Json::Bool(true))) => Others::Any,
        (None, _) if has_members || !fields.is_empty() => Others::None,
        (None, _) => return Takes::Anything,
    };
    Takes::Fields(fields, others)
}

/// One argument with its type, and its value where it is left out.
fn argument(field: &Field, python: &str, records: &[Record]) -> String {
    match &field.presence {
        Presence::Required => format!("{python}: {}", field.kind.write(records)),
        Presence::Optional if field.kind == Type::Any => format!("{python}: Any = None"),
        Presence::Optional => format!("{python}: {} = None", field.kind.clone().or_null().write(records)),
        Presence::Default(value) => format!("{python}: {} = {value}", field.kind.write(records)),
    }
}
