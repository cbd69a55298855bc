//! The arguments of tools that HTTP clients repeat in headers (2026-07-28), as the tools' schemas say.

use kennel_wire::RawJson;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// How many tools with such arguments are remembered; those of a server that offers more go without.
const MOST_TOOLS: usize = 4096;
/// How many bytes the names of such a tool, of its arguments and of their headers may have; with more it goes without.
const MOST_BYTES: usize = 4096;
/// What marks an argument in a schema.
const MARK: &str = "x-mcp-header";
/// How deep arguments are looked for.
const DEEPEST: usize = 16;

/// An argument of a tool that has a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParameter {
    /// The header's name after `mcp-param-`, in lower case.
    pub header: String,
    /// The names of the members that lead from `arguments` to it.
    pub path: Vec<String>,
    /// What it is.
    pub kind: HeaderParameterKind,
}

/// What an argument is that has a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderParameterKind {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// Which arguments of which tools have headers; only tools with such are here.
pub(crate) type Mirrored = HashMap<String, Arc<[HeaderParameter]>>;

/// Takes down what these pages of tools say. What they say nothing of stays as it was, unless there is too much of it.
pub(crate) fn note(known: &mut Mirrored, pages: &[RawJson]) {
    #[derive(Deserialize)]
    struct Page {
        #[serde(default)]
        tools: Vec<Tool>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tool {
        name: String,
        #[serde(default)]
        input_schema: Value,
    }
    for page in pages {
        let is_marked = memchr::memmem::find(page.as_bytes(), MARK.as_bytes()).is_some();
        if !is_marked && known.is_empty() {
            continue;
        }
        let Ok(Page { tools }) = serde_json::from_slice(page.as_bytes()) else { continue };
        for Tool { name, input_schema } in tools {
            let mut found = Vec::new();
            collect(&input_schema, &mut Vec::new(), &mut found);
            let path_bytes = |found: &HeaderParameter| found.path.iter().map(String::len).sum::<usize>();
            let bytes = |found: &HeaderParameter| found.header.len() + path_bytes(found);
            if found.is_empty() || name.len() + found.iter().map(bytes).sum::<usize>() > MOST_BYTES {
                known.remove(&name);
            } else if known.len() >= MOST_TOOLS && !known.contains_key(&name) {
                // What is said now counts more than what was said before.
                known.clear();
                known.insert(name, found.into());
            } else {
                known.insert(name, found.into());
            }
        }
    }
}

/// The arguments that a schema marks, reached by the names of properties alone.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<HeaderParameter>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if path.len() >= DEEPEST {
        return;
    }
    for (name, property) in properties {
        path.push(name.clone());
        let kind = match property.get("type").and_then(Value::as_str) {
            Some("string") => Some(HeaderParameterKind::String),
            Some("integer") => Some(HeaderParameterKind::Integer),
            Some("boolean") => Some(HeaderParameterKind::Boolean),
            Some(_) | None => None,
        };
        let header = property.get(MARK).and_then(Value::as_str).filter(|header| is_token(header));
        if let (Some(kind), Some(header)) = (kind, header) {
            let header = header.to_ascii_lowercase();
            if found.iter().all(|known| known.header != header) {
                found.push(HeaderParameter { header, path: path.clone(), kind });
            }
        }
        collect(property, path, found);
        path.pop();
    }
}

/// Whether a text can be part of a header's name.
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn noted(pages: &[Value]) -> Mirrored {
        let mut known = Mirrored::default();
        add(&mut known, pages);
        known
    }

    fn add(known: &mut Mirrored, pages: &[Value]) {
        let pages: Vec<_> = pages.iter().map(|page| RawJson::parse(page.to_string()).unwrap()).collect();
        note(known, &pages);
    }

    fn page(name: &str, properties: &Value) -> Value {
        json!({ "tools": [{ "name": name, "inputSchema": { "type": "object", "properties": properties } }] })
    }

    #[test]
    fn marked_arguments_are_found_wherever_properties_lead() {
        let job = json!({ "type": "object", "properties": { "priority": { "type": "integer", "x-mcp-header": "Priority" } } });
        let known = noted(&[page(
            "run",
            &json!({ "region": { "type": "string", "x-mcp-header": "Region" }, "job": job, "x": {} }),
        )]);
        let mut found = known["run"].to_vec();
        found.sort_by(|one, other| one.header.cmp(&other.header));
        let region =
            HeaderParameter { header: "region".into(), path: vec!["region".into()], kind: HeaderParameterKind::String };
        let path = vec!["job".into(), "priority".into()];
        assert_eq!(
            found,
            [HeaderParameter { header: "priority".into(), path, kind: HeaderParameterKind::Integer }, region]
        );
    }

    #[test]
    fn a_header_is_for_one_argument() {
        let twice =
            json!({ "a": { "type": "string", "x-mcp-header": "X" }, "b": { "type": "string", "x-mcp-header": "x" } });
        assert_eq!(noted(&[page("t", &twice)])["t"].len(), 1);
    }

    #[test]
    fn what_cannot_be_a_header_is_none() {
        for (kind, header) in [("object", "A"), ("number", "A"), ("string", ""), ("string", "a b"), ("string", "a:b")] {
            assert!(
                noted(&[page("t", &json!({ "a": { "type": kind, "x-mcp-header": header } }))]).is_empty(),
                "{kind} {header}"
            );
        }
        assert!(noted(&[json!([1]), json!({ "tools": 3, "x-mcp-header": 1 })]).is_empty());
    }

    #[test]
    fn a_later_list_counts_for_the_tools_it_names() {
        let marked = json!({ "a": { "type": "boolean", "x-mcp-header": "A" } });
        let mut known = noted(&[page("one", &marked), page("two", &marked)]);
        add(&mut known, &[page("one", &json!({ "a": { "type": "boolean" } }))]);
        assert_eq!(known.keys().collect::<Vec<_>>(), ["two"]);
    }

    #[test]
    fn what_is_remembered_of_tools_that_come_and_go_is_bounded() {
        let marked = json!({ "a": { "type": "boolean", "x-mcp-header": "A" } });
        let mut known = Mirrored::default();
        for number in 0..MOST_TOOLS + 10 {
            add(&mut known, &[page(&number.to_string(), &marked)]);
            assert!(known.len() <= MOST_TOOLS);
        }
        assert!(known.contains_key(&(MOST_TOOLS + 9).to_string()), "what is said now counts");
        add(&mut known, &[page(&"n".repeat(MOST_BYTES), &marked)]);
        assert!(known.keys().all(|name| name.len() < MOST_BYTES));
    }
}
