//! Owns what Codex says in keys of its own: it fills in no placeholders, but takes variables by their names.

use super::document::{Node, Value};
use super::error::ReadError;
use super::fields::Fields;
use super::text::{Part, Text};

type Texts = Vec<(String, Text)>;

/// `env_vars` passes variables on by their names.
pub(crate) fn read_variables(fields: &mut Fields<'_>, env: &mut Vec<(String, Text)>) -> Result<(), ReadError> {
    let Some(node) = fields.take("env_vars") else { return Ok(()) };
    let Some(items) = node.items() else { return Err(fields.kind_error("env_vars", node, "a list of names")) };
    for item in items {
        let name = item.as_text().or_else(|| item.get("name").and_then(Node::as_text));
        let name = name.ok_or_else(|| fields.kind_error("env_vars", item, "a list of names"))?;
        if env.iter().all(|(known, _)| known != name) {
            env.push((name.to_owned(), Text::variable(name)));
        }
    }
    Ok(())
}

/// `bearer_token_env_var` and `env_http_headers` name variables whose values are sent.
pub(crate) fn read_headers(fields: &mut Fields<'_>, headers: &mut Vec<(String, Text)>) -> Result<(), ReadError> {
    for (header, variable) in fields.table("env_http_headers")? {
        headers.push((header, Text::variable(variable.literal().unwrap_or_default())));
    }
    if let Some(name) = fields.plain("bearer_token_env_var")? {
        let variable = Part::Variable { name: name.to_owned(), default: None };
        headers.push(("Authorization".to_owned(), Text(vec![Part::Literal("Bearer ".to_owned()), variable])));
    }
    Ok(())
}

/// What is set, and the members that pass on variables by their names.
pub(crate) fn split_env(env: &[(String, Text)]) -> (Texts, Vec<(String, Node)>) {
    let is_passed = |(name, text): &&(String, Text)| text.as_variable() == Some(name);
    let passed = env.iter().filter(is_passed).map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let set = env.iter().filter(|member| !is_passed(member)).cloned().collect();
    let member = ("env_vars".to_owned(), Node::texts(passed.clone()));
    (set, if passed.is_empty() { Vec::new() } else { vec![member] })
}

/// What is set, and the members that name variables.
pub(crate) fn split_headers(headers: &[(String, Text)]) -> (Texts, Vec<(String, Node)>) {
    let (mut set, mut named, mut bearer) = (Vec::new(), Vec::new(), None);
    for (name, text) in headers {
        match (text.as_variable(), text.0.as_slice()) {
            (Some(variable), _) => named.push((name.clone(), Node::text(variable))),
            (None, [Part::Literal(word), Part::Variable { name: variable, default: None }])
                if word == "Bearer " && name.eq_ignore_ascii_case("authorization") =>
            {
                bearer = Some(("bearer_token_env_var".to_owned(), Node::text(variable.clone())));
            }
            _ => set.push((name.clone(), text.clone())),
        }
    }
    let named = (!named.is_empty()).then(|| ("env_http_headers".to_owned(), Value::Table(named).into()));
    (set, named.into_iter().chain(bearer).collect())
}
