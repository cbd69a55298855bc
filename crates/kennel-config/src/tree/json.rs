//! Owns how JSON, with the comments and trailing commas that people write into it, becomes the one shape.

use crate::problem::{Report, join};
use crate::tree::{Content, Entry, Node, Number};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use std::collections::HashMap;

/// The whole file as one value, or `None` and a problem.
pub(crate) fn read_json(text: &str, report: &mut Report<'_>) -> Option<Node> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &collect, &options) {
        Ok(parsed) => match &parsed.value {
            Some(value) => Some(node(value, "", report)),
            None => Some(Node::new(0, Content::Other("nothing"))),
        },
        Err(error) => {
            let said = error.kind().to_string().to_lowercase();
            report.problem(error.range().start, "", format!("this is not JSON: {said}"), None);
            None
        }
    }
}

fn node(value: &Value<'_>, path: &str, report: &mut Report<'_>) -> Node {
    let content = match value {
        Value::StringLit(string) => Content::Text(string.value.clone().into_owned()),
        Value::NumberLit(number) => Content::Number(Number {
            value: number.value.parse().unwrap_or(f64::NAN),
            whole: number.value.parse().ok(),
            spelled: number.value.to_owned(),
        }),
        Value::BooleanLit(boolean) => Content::Boolean(boolean.value),
        Value::NullKeyword(_) => Content::Other("null"),
        Value::Array(array) => Content::List(array.elements.iter().map(|member| node(member, path, report)).collect()),
        Value::Object(object) => Content::Table(entries(object, path, report)),
    };
    Node::new(value.start(), content)
}

/// The members. What is null is as good as not there; of what is there twice the last one counts, as in other clients.
fn entries(object: &Object<'_>, path: &str, report: &mut Report<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for property in &object.properties {
        if matches!(property.value, Value::NullKeyword(_)) {
            continue;
        }
        let key = property.name.as_str();
        let below = join(path, key);
        let at = property.name.start();
        let value = node(&property.value, &below, report);
        if let Some(earlier) = known.get(key).and_then(|place| entries.get_mut(*place)) {
            report.warning(at, &below, "is there twice; this one counts, the earlier one does not", None);
            *earlier = Entry::new(key, at, value);
        } else {
            known.insert(key.to_owned(), entries.len());
            entries.push(Entry::new(key, at, value));
        }
    }
    entries
}
