use super::*;
use serde_json::{Value, json};

fn message(value: &Value) -> Message {
    Message::parse(Bytes::from(value.to_string())).expect("a message")
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn raw_of(value: &Value) -> RawJson {
    RawJson::parse(value.to_string()).expect("JSON")
}

fn declared() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "info",
        "traceparent": "00-x",
        "progressToken": "mine",
    })
}

#[test]
fn a_process_of_the_old_era_hears_nothing_of_the_new_one() {
    let params = json!({ "name": "echo", "arguments": { "n": 1.0 }, "_meta": declared() });
    let request = message(&json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params }));
    let line = old_request(&request, &Id::number(7)).unwrap();
    assert!(line.ends_with(b"}\n"));
    let params =
        json!({ "name": "echo", "arguments": { "n": 1.0 }, "_meta": { "traceparent": "00-x", "progressToken": 7 } });
    assert_eq!(value(&line), json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }));
}

#[test]
fn a_request_made_again_loses_what_it_was_asked_for() {
    let params = json!({ "name": "echo", "inputResponses": { "a": {} }, "requestState": "s", "_meta": declared() });
    let request = message(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    let said = value(&old_request(&request, &Id::number(7)).unwrap());
    assert_eq!(said["params"], json!({ "name": "echo", "_meta": { "traceparent": "00-x", "progressToken": 7 } }));
}

#[test]
fn a_modern_process_hears_who_asks() {
    let version = (meta::PROTOCOL_VERSION, RawJson::string("2026-07-28"));
    for (params, expected) in [
        (None, json!({ "_meta": { meta::PROTOCOL_VERSION: "2026-07-28" } })),
        (Some(json!(null)), json!({ "_meta": { meta::PROTOCOL_VERSION: "2026-07-28" } })),
        (Some(json!({})), json!({ "_meta": { meta::PROTOCOL_VERSION: "2026-07-28" } })),
        (Some(json!({ "a": 1 })), json!({ "a": 1, "_meta": { meta::PROTOCOL_VERSION: "2026-07-28" } })),
        (
            Some(json!({ "a": 1, "_meta": { "progressToken": "x", "b": 2, meta::PROTOCOL_VERSION: "lie" } })),
            json!({ "a": 1, "_meta": { "progressToken": 7, "b": 2, meta::PROTOCOL_VERSION: "2026-07-28" } }),
        ),
    ] {
        let mut request = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
        if let Some(params) = params {
            request["params"] = params;
        }
        let line = new_request(&message(&request), &Id::number(7), std::slice::from_ref(&version), &[]).unwrap();
        assert_eq!(value(&line), json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": expected }));
    }
}

#[test]
fn a_modern_process_gets_what_it_asked_for() {
    let request = message(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "a" } }));
    let further = [(INPUT_RESPONSES, raw_of(&json!({ "k": {} }))), (REQUEST_STATE, RawJson::string("s"))];
    let line = new_request(&request, &Id::number(2), &[], &further).unwrap();
    let params = json!({ "name": "a", "_meta": {}, "inputResponses": { "k": {} }, "requestState": "s" });
    assert_eq!(value(&line)["params"], params);
}

#[test]
fn a_modern_client_gets_what_it_expects_of_a_result() {
    let server = raw_of(&json!({ "name": "s", "version": "1" }));
    let info = json!({ meta::SERVER_INFO: { "name": "s", "version": "1" } });
    for (subject, before, after) in [
        (Subject::Call, json!({ "content": [] }), json!({ "content": [], "resultType": "complete", "_meta": info })),
        (
            Subject::List,
            json!({ "tools": [] }),
            json!({ "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": info }),
        ),
        (
            Subject::Read,
            json!({ "contents": [], "ttlMs": 5, "_meta": { "x": 1 } }),
            json!({ "contents": [], "resultType": "complete", "ttlMs": 5, "cacheScope": "private",
                "_meta": { "x": 1, meta::SERVER_INFO: { "name": "s", "version": "1" } } }),
        ),
        (Subject::Other, json!({}), json!({ "resultType": "complete", "_meta": info })),
    ] {
        let answer = message(&json!({ "jsonrpc": "2.0", "id": 7, "result": before }));
        let said = new_answer(&answer, &Id::string("a"), subject, Some(&server)).unwrap();
        assert_eq!(value(&said), json!({ "jsonrpc": "2.0", "id": "a", "result": after }));
    }
}

#[test]
fn a_missing_resource_has_the_code_of_the_client_s_era() {
    let error = |code: i64| json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": code, "message": "no", "data": { "uri": "a:b" } } });
    let modern = new_answer(&message(&error(-32002)), &Id::number(1), Subject::Read, None).unwrap();
    assert_eq!(value(&modern)["error"], error(-32602)["error"]);
    let old = old_answer(&message(&error(-32602)), &Id::number(1), Subject::Read).unwrap();
    assert_eq!(value(&old)["error"], error(-32002)["error"]);
    // Other errors and other requests keep theirs.
    let other = old_answer(&message(&error(-32602)), &Id::number(1), Subject::Call).unwrap();
    assert_eq!(value(&other)["error"], error(-32602)["error"]);
    let other = new_answer(&message(&error(-32002)), &Id::number(1), Subject::Call, None).unwrap();
    assert_eq!(value(&other)["error"], error(-32002)["error"]);
}

#[test]
fn a_server_introduces_itself_in_both_eras() {
    let initialize = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" },
        "instructions": "do", "_meta": { "x": 1 },
    });
    let discover = value(discovered(&raw_of(&initialize)).as_bytes());
    let versions = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    let expected = json!({
        "resultType": "complete", "supportedVersions": versions, "capabilities": { "tools": {} }, "instructions": "do",
        "ttlMs": 0, "cacheScope": "private", "_meta": { "x": 1, meta::SERVER_INFO: { "name": "s", "version": "1" } },
    });
    assert_eq!(discover, expected);
    assert_eq!(value(discovered(&raw_of(&discover)).as_bytes()), expected, "what is said of a modern server stays");
    let again = value(initialized(&raw_of(&discover), "weather").as_bytes());
    let expected = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" },
        "instructions": "do",
    });
    assert_eq!(again, expected);
    let bare = value(initialized(&RawJson::empty_object(), "weather").as_bytes());
    assert_eq!((&bare["serverInfo"]["name"], &bare["capabilities"]), (&json!("weather"), &json!({})));
}
