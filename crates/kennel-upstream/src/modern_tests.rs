use super::*;
use bytes::Bytes;

fn of(message: &str) -> Vec<(String, String)> {
    let message = Message::parse(Bytes::copy_from_slice(message.as_bytes())).expect("a message");
    let headers = headers(&message);
    headers.iter().map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned())).collect()
}

fn named(name: &str) -> String {
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name}}}}}"#);
    of(&message).into_iter().find(|(header, _)| header == "mcp-name").map(|(_, value)| value).unwrap_or_default()
}

#[test]
fn headers_repeat_version_method_and_name() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}"#;
    let read = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"a://b",{meta}}}}}"#);
    let pairs = [("mcp-protocol-version", "2027-01-01"), ("mcp-method", "resources/read"), ("mcp-name", "a://b")];
    assert_eq!(of(&read), pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let told = of(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"name":"x"}}"#);
    let pairs = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "notifications/progress")];
    assert_eq!(told, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn names_that_a_header_cannot_carry_are_encoded() {
    assert_eq!(named(r#""plain name""#), "plain name");
    assert_eq!(named(r#""ü""#), "=?base64?w7w=?=");
    assert_eq!(named(r#"" led""#), "=?base64?IGxlZA==?=");
    assert_eq!(named(r#""a\nb""#), "=?base64?YQpi?=");
    assert_eq!(named(r#""=?base64?eA==?=""#), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
    assert_eq!(named("7"), "", "what is no text has no header");
}
