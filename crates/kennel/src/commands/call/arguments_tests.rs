use super::{ArgumentError, Given};
use crate::commands::asking::Tool;
use serde_json::json;
use std::io::Write;

fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "count": {"type": "integer"}, "deep": {"type": "boolean"}},
        "required": ["path", "count"],
    });
    Tool::read(&json!({"name": "look", "inputSchema": schema}).to_string()).unwrap()
}

fn given(words: &[&str]) -> Result<Given, ArgumentError> {
    Given::each(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn fit(words: &[&str], tool: &Tool) -> Result<String, String> {
    let raw = given(words).and_then(|given| given.fit(tool)).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(raw.as_bytes()).into_owned())
}

#[test]
fn arguments_become_an_object_in_their_order() {
    assert_eq!(fit(&["count=3", "path=a=b"], &tool()).as_deref(), Ok(r#"{"count":3,"path":"a=b"}"#));
    assert_eq!(
        fit(&["path=", "count:=1.50", "deep=true"], &tool()).as_deref(),
        Ok(r#"{"path":"","count":1.50,"deep":true}"#)
    );
    // What is written as JSON is sent as it is, whatever the schema says.
    assert_eq!(fit(&["path:= [1, 2] ", "count=1"], &tool()).as_deref(), Ok(r#"{"path":[1, 2],"count":1}"#));
    let none = Tool::read(r#"{"name":"none"}"#).unwrap();
    assert_eq!(fit(&[], &none).as_deref(), Ok("{}"));
}

#[test]
fn words_that_are_no_arguments_are_refused() {
    assert_eq!(given(&["path"]), Err(ArgumentError::NoName("path".into())));
    assert_eq!(given(&["=x"]), Err(ArgumentError::NoName("=x".into())));
    assert_eq!(given(&[":=1"]), Err(ArgumentError::NoName(":=1".into())));
    assert_eq!(given(&["a=1", "a:=2"]), Err(ArgumentError::Twice("a".into())));
    let error = given(&["a:=[1"]).unwrap_err().to_string();
    assert!(
        error.starts_with("the argument `a` is not JSON (") && error.ends_with("write a=VALUE for a plain value"),
        "{error}"
    );
}

#[test]
fn arguments_that_do_not_fit_the_tool_are_refused_by_name() {
    for (words, error) in [
        (&["path=x", "count=many"][..], "the argument `count` of `look` must be an integer, not `many`"),
        (&["paht=x", "count=1"], "the tool `look` has no argument `paht`; did you mean `path`?"),
        (&["zzzzzz:=1"], "the tool `look` has no argument `zzzzzz`; it takes path, count, deep"),
        (&[], "the tool `look` needs `path`, `count`; write path=VALUE count=VALUE"),
        (&["path=x"], "the tool `look` needs `count`; write count=VALUE"),
    ] {
        assert_eq!(fit(words, &tool()), Err(error.to_owned()));
    }
    let none = Tool::read(r#"{"name":"none","inputSchema":{"type":"object","properties":{}}}"#).unwrap();
    assert_eq!(fit(&["a=1"], &none), Err("the tool `none` has no argument `a`; it takes none".to_owned()));
}

#[test]
fn a_tool_that_wants_other_arguments_gets_them() {
    for schema in [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": true}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {"a": {}}, "patternProperties": {"^x": {}}}),
    ] {
        let open = Tool::read(&json!({"name": "open", "inputSchema": schema}).to_string()).unwrap();
        assert_eq!(fit(&["other=1"], &open).as_deref(), Ok(r#"{"other":1}"#), "{schema}");
    }
    let closed = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let closed = Tool::read(&json!({"name": "closed", "inputSchema": closed}).to_string()).unwrap();
    assert!(fit(&["other=1"], &closed).is_err());
}

#[test]
fn all_arguments_at_once_are_sent_as_they_are() {
    let whole = |text: &str, limit| Given::whole(text, limit).map_err(|error| error.to_string());
    let fitted = whole(r#" {"b": 1.0, "a":"x"} "#, 100).unwrap().fit(&tool()).unwrap();
    assert_eq!(fitted.as_bytes(), br#"{"b": 1.0, "a":"x"}"#);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"{\"a\":1}\n").unwrap();
    let place = format!("@{}", file.path().display());
    assert_eq!(whole(&place, 8).unwrap().fit(&tool()).unwrap().as_bytes(), b"{\"a\":1}");
    let error = whole(&place, 7).unwrap_err();
    assert!(error.ends_with("longer than 7 bytes; raise --max-message"), "{error}");
    let error = whole("@/no/such/file", 100).unwrap_err();
    assert!(error.starts_with("--args @/no/such/file: No such file"), "{error}");
    let error = whole("[1]", 100).unwrap_err();
    assert_eq!(error, "--args must be a JSON object such as {\"name\":\"value\"}: this is an array");
    assert!(whole("{", 100).is_err());
}
