use super::*;
use serde_json::{Value, json};

fn message(meta: &Value) -> Message {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    Message::parse(message.to_string().into()).unwrap()
}

#[test]
fn the_era_is_told_by_the_version() {
    for (version, is_later) in [
        (json!("2026-07-28"), true),
        (json!("2030-01-01"), true),
        (json!(""), true),
        (json!(7), true),
        (json!("2025-11-25"), false),
        (json!("2024-11-05"), false),
    ] {
        assert_eq!(is_modern(&message(&json!({meta::PROTOCOL_VERSION: version}))), is_later, "{version}");
    }
    assert!(!is_modern(&message(&json!({"progressToken": 1}))));
    let bare = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert!(!is_modern(&Message::parse(bare.to_vec().into()).unwrap()));
}

#[test]
fn each_error_has_its_code_and_keeps_the_id() {
    let capabilities = json!({});
    for (meta, code) in [
        (json!({meta::PROTOCOL_VERSION: "2030-01-01", meta::CLIENT_CAPABILITIES: capabilities}), -32022),
        (json!({meta::PROTOCOL_VERSION: "2025-11-25", meta::CLIENT_CAPABILITIES: capabilities}), -32022),
        (json!({meta::PROTOCOL_VERSION: null, meta::CLIENT_CAPABILITIES: capabilities}), -32602),
        (json!({meta::CLIENT_CAPABILITIES: capabilities}), -32602),
        (json!({meta::PROTOCOL_VERSION: "2026-07-28"}), -32602),
        (json!({meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: null}), -32602),
    ] {
        let error = check(&message(&meta)).expect_err("something is missing");
        let response = serde_json::from_slice::<Value>(&error.response(&kennel_wire::Id::string("a").into())).unwrap();
        assert_eq!((&response["id"], &response["error"]["code"]), (&json!("a"), &json!(code)), "{meta}");
    }
    let fine = json!({meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: capabilities});
    assert_eq!(check(&message(&fine)), Ok(()));
}

#[test]
fn any_version_that_was_asked_for_can_be_told() {
    let error = Improper::Version { requested: "\"\u{0}\u{1f600}\\".into() };
    let response = serde_json::from_slice::<Value>(&error.response(&ErrorId::Absent)).unwrap();
    assert_eq!(response["error"]["data"]["requested"], "\"\u{0}\u{1f600}\\");
    assert_eq!(response["error"]["data"]["supported"].as_array().map(Vec::len), Some(ProtocolVersion::ALL.len()));
}
