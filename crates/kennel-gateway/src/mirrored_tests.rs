use super::*;
use http::header::{HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::json;

fn call(name: &str) -> Message {
    let meta = json!({meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: {}});
    let params = json!({"name": name, "arguments": {"text": "hello"}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    Message::parse(call.to_string().into()).unwrap()
}

fn headers(name: &[u8]) -> HeaderMap {
    let all = [(VERSION, &b"2026-07-28"[..]), (METHOD, b"tools/call"), (NAME, name)];
    let header =
        |(name, value): (&str, &[u8])| Some((HeaderName::try_from(name).ok()?, HeaderValue::from_bytes(value).ok()?));
    all.into_iter().filter_map(header).collect()
}

#[test]
fn the_arguments_of_the_tool_that_is_meant_are_checked() {
    let text = HeaderParameter {
        header: "text".into(),
        path: vec!["text".into()],
        kind: kennel_hub::HeaderParameterKind::String,
    };
    let of_echo = |tool: &str| (tool == "echo").then(|| Arc::from([text.clone()]));
    let missing = check(&headers(b"echo"), &call("echo"), of_echo);
    assert!(matches!(missing, Err(Improper::Header(HeaderError::Missing { .. }))), "{missing:?}");
    let mut complete = headers(b"echo");
    complete.insert("mcp-param-text", HeaderValue::from_static("hello"));
    assert_eq!(check(&complete, &call("echo"), of_echo), Ok(()));
    assert_eq!(check(&headers(b"other"), &call("other"), of_echo), Ok(()));
}

#[test]
fn a_name_that_is_given_twice_in_the_body_is_no_message_at_all() {
    let call = String::from_utf8(call("echo").into_bytes().to_vec()).unwrap();
    let twice = call.replace(r#""name":"#, r#""name":"other","name":"#);
    assert!(Message::parse(twice.into()).is_err());
}

proptest! {
    #[test]
    fn a_plain_name_is_its_own_header(name in "[!-~]([ -~]{0,30}[!-~])?") {
        prop_assume!(!name.starts_with("=?base64?"));
        prop_assert_eq!(check(&headers(name.as_bytes()), &call(&name), |_| None), Ok(()));
    }

    #[test]
    fn two_names_are_never_taken_for_one(header in proptest::collection::vec(0x20_u8.., 0..30), name in any::<String>()) {
        let agreed = check(&headers(&header), &call(&name), |_| None).is_ok();
        let says = std::str::from_utf8(&header).ok().map(|text| text.trim_matches([' ', '\t'])).and_then(encoded::decode);
        prop_assert_eq!(agreed, header.is_ascii() && !header.contains(&0x7f) && says.as_deref() == Some(name.as_str()));
    }
}
