//! What a request that stands for itself must say, in its body and again in its headers.

use crate::http::{Connection, Response};
use crate::support::{CAPABILITIES_FIELD, Scene, VERSION_FIELD, call, echo, initialize, modern, request, text_of};
use serde_json::{Value, json};

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const CALLS: (&str, &str) = ("mcp-method", "tools/call");
const ECHO: (&str, &str) = ("mcp-name", "echo");

/// The status, the code of the error and the id that it is for.
fn verdict(response: &Response) -> (u16, Option<i64>, Value) {
    let body = response.json();
    (response.status, body["error"]["code"].as_i64(), body["id"].clone())
}

async fn refused(connection: &mut Connection, headers: &[(&str, &str)], message: &Value, code: i64) -> String {
    let response = connection.post(headers, message).await;
    assert_eq!(verdict(&response), (400, Some(code), message["id"].clone()), "{headers:?} {message} {response:?}");
    assert_eq!(response.header("mcp-session-id"), None);
    response.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_version_must_be_the_same_in_header_and_body_and_known() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let good = modern(echo("e", "hello"));
    let in_version = |version: &str| {
        let mut message = good.clone();
        message["params"]["_meta"][VERSION_FIELD] = json!(version);
        message
    };
    let rest = [CALLS, ECHO];
    let with = |version: &'static str| [&[("mcp-protocol-version", version)][..], &rest].concat();
    // Missing or different.
    assert!(refused(&mut connection, &rest, &good, -32020).await.contains("MCP-Protocol-Version"));
    refused(&mut connection, &with("2025-11-25"), &good, -32020).await;
    refused(&mut connection, &with("v999"), &good, -32020).await;
    refused(&mut connection, &with("2026-07-28"), &in_version("v999"), -32020).await;
    refused(&mut connection, &with("2026-07-28"), &in_version("2025-11-25"), -32020).await;
    refused(&mut connection, &[with("2026-07-28"), vec![VERSION]].concat(), &good, -32020).await;
    refused(&mut connection, &rest, &in_version("v999"), -32020).await;
    // Not supported.
    for (message, requested) in [(in_version("v999"), "v999"), (echo(5, "hello"), "v999")] {
        let response = connection.post(&with("v999"), &message).await;
        assert_eq!(verdict(&response), (400, Some(-32022), message["id"].clone()));
        let supported = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
        assert_eq!(response.json()["error"]["data"], json!({"supported": supported, "requested": requested}));
    }
    assert_eq!(connection.post(&with("2026-07-28"), &good).await.status, 200);
    assert_eq!(connection.post(&with(" \t2026-07-28 "), &good).await.status, 200);
    scene.end().await;
}

#[tokio::test]
async fn what_every_request_must_say_is_asked_for() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let headers = [VERSION, ("mcp-method", "server/discover")];
    let versioned = json!({"_meta": {VERSION_FIELD: "2026-07-28"}});
    let capable = json!({"_meta": {CAPABILITIES_FIELD: {}}});
    let numbered = json!({"_meta": {VERSION_FIELD: 2026, CAPABILITIES_FIELD: {}}});
    let listed = json!({"_meta": {VERSION_FIELD: "2026-07-28", CAPABILITIES_FIELD: []}});
    for (params, missing) in [
        (json!({}), VERSION_FIELD),
        (capable, VERSION_FIELD),
        (numbered, VERSION_FIELD),
        (versioned, CAPABILITIES_FIELD),
        (listed, CAPABILITIES_FIELD),
    ] {
        let text = refused(&mut connection, &headers, &request(101, "server/discover", &params), -32602).await;
        assert!(text.contains(missing), "{text}");
    }
    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"});
    refused(&mut connection, &headers, &bare, -32602).await;
    scene.end().await;
}

#[tokio::test]
async fn the_method_must_be_repeated() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let list = modern(request(7, "tools/list", &json!({})));
    assert!(refused(&mut connection, &[VERSION], &list, -32020).await.contains("Mcp-Method"));
    for other in ["prompts/list", "Tools/List", "TOOLS/LIST", "tools/list/", "", "=?base64?dG9vbHMvbGlzdA==?="] {
        refused(&mut connection, &[VERSION, ("mcp-method", other)], &list, -32020).await;
    }
    let method = ("mcp-method", "tools/list");
    refused(&mut connection, &[VERSION, method, method], &list, -32020).await;
    for name in ["mcp-method", "MCP-METHOD", "Mcp-Method"] {
        assert_eq!(connection.post(&[VERSION, (name, "tools/list")], &list).await.status, 200);
    }
    assert_eq!(connection.post(&[VERSION, ("mcp-method", "  tools/list\t")], &list).await.status, 200);
    scene.end().await;
}

#[tokio::test]
async fn the_name_must_be_repeated_by_methods_that_have_one() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for (method, field) in [
        ("tools/call", "name"),
        ("prompts/get", "name"),
        ("resources/read", "uri"),
        ("tasks/get", "taskId"),
        ("tasks/update", "taskId"),
        ("tasks/cancel", "taskId"),
    ] {
        let message = modern(request(1, method, &json!({field: "Grüße"})));
        let head = [VERSION, ("mcp-method", method)];
        let text = refused(&mut connection, &head, &message, -32020).await;
        assert!(text.contains("Mcp-Name") && text.contains(&format!("params.{field}")), "{text}");
        let mut ask = async |name| connection.post(&[&head[..], &[("mcp-name", name)]].concat(), &message).await;
        // "Grüße" in padded Base64; then: unpadded, other characters, no UTF-8, other markers, another word, plain.
        assert_ne!(ask("=?base64?R3LDvMOfZQ==?=").await.json()["error"]["code"], -32020, "{method}");
        for name in [
            "=?base64?R3LDvMOfZQ?=",
            "=?base64?R3LDv!OfZQ==?=",
            "=?base64?R3L8cGVy?=",
            "=?BASE64?R3LDvMOfZQ==?=",
            "=?base64?R3J1c3M=?=",
            "R3LDvMOfZQ==",
            "Grüße",
            "",
        ] {
            assert_eq!(verdict(&ask(name).await), (400, Some(-32020), json!(1)), "{method} {name}");
        }
    }
    // Where there is no name, none is asked for, and none can be repeated.
    let nameless = modern(request(1, "tools/call", &json!({})));
    assert_ne!(connection.post(&[VERSION, CALLS], &nameless).await.json()["error"]["code"], -32020);
    refused(&mut connection, &[VERSION, CALLS, ECHO], &nameless, -32020).await;
    // A plain name that looks encoded is encoded itself.
    let odd = modern(call(1, "=?base64?literal?=", &json!({})));
    let headers = [VERSION, CALLS, ("mcp-name", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")];
    assert_ne!(connection.post(&headers, &odd).await.json()["error"]["code"], -32020);
    scene.end().await;
}

#[tokio::test]
async fn headers_for_arguments_that_have_none_are_passed_over() {
    let scene = Scene::new().await;
    let headers = [VERSION, CALLS, ECHO, ("mcp-param-text", "another"), ("mcp-param-x", "=?base64?junk")];
    let response = scene.connect().await.post(&headers, &modern(echo(1, "hello"))).await;
    assert_eq!(response.status, 200);
    scene.end().await;
}

#[tokio::test]
async fn an_argument_with_a_header_must_be_repeated() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    // Who lists the tools knows which.
    let list = modern(request(0, "tools/list", &json!({})));
    assert_eq!(connection.post_modern(&[], &list).await.json()["result"]["tools"][0]["name"], "route");
    let route = |region: Value| modern(call(9, "route", &json!({"region": region})));
    let head = [VERSION, CALLS, ("mcp-name", "route")];
    let with = |region: &'static str| [&head[..], &[("Mcp-Param-Region", region)]].concat();
    for (region, headers) in [
        (json!("us-west1"), with("us-west1")),
        (json!("us-west1"), with("=?base64?dXMtd2VzdDE=?=")),
        (json!("世"), with("=?base64?5LiW?=")),
        (Value::Null, head.to_vec()),
    ] {
        let response = connection.post(&headers, &route(region.clone())).await;
        assert_eq!(text_of(&response.json()), region.as_str().unwrap_or("nowhere"), "{headers:?}");
    }
    for (region, headers) in [
        (json!("us-west1"), head.to_vec()),
        (json!("us-west1"), with("us-west2")),
        (json!("us-west1"), with("=?base64?dXMtd2VzdDE?=")),
        (Value::Null, with("us-west1")),
    ] {
        let text = refused(&mut connection, &headers, &route(region), -32020).await;
        assert!(text.contains("Mcp-Param-region"), "{text}");
    }
    // Where there are no headers, nothing is repeated.
    let plain = [("content-type", "application/json")];
    let response = connection.ask("POST", "/rpc", &plain, &route(json!("us-west1")).to_string()).await;
    assert_eq!(text_of(&response.json()), "us-west1");
    scene.end().await;
}

#[tokio::test]
async fn only_single_requests_and_notifications_are_taken() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/x"}),
    ] {
        let response = connection.post(&[VERSION], &message).await;
        assert_eq!((response.status, response.body.len()), (202, 0));
    }
    for body in [
        json!([modern(echo(1, "one"))]),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}),
    ] {
        let response = connection.post(&[VERSION, CALLS, ECHO], &body).await;
        assert_eq!(verdict(&response), (400, Some(-32600), Value::Null), "{body}");
    }
    let both = ("accept", "application/json, text/event-stream");
    let json = ("content-type", "application/json");
    let text = modern(echo(1, "one")).to_string();
    for (headers, body, status, code) in [
        ([json, ("accept", "application/json")], text.as_str(), 406, -32600),
        ([json, ("accept", "text/event-stream")], &text, 406, -32600),
        ([("content-type", "text/plain"), both], &text, 415, -32600),
        ([json, both], "{", 400, -32700),
        ([json, both], "3", 400, -32600),
    ] {
        let response = connection.ask("POST", "/mcp", &[&headers[..], &[VERSION, CALLS, ECHO]].concat(), body).await;
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (status, Some(code)), "{headers:?}");
    }
    assert_eq!(scene.engine.started(), 0, "nothing of it went further");
    scene.end().await;
}

#[tokio::test]
async fn sessions_do_not_begin_in_this_era() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let message = modern(initialize("2026-07-28"));
    let response = connection.post(&[VERSION, ("mcp-method", "initialize")], &message).await;
    assert_eq!(response.header("mcp-session-id"), None, "{response:?}");
    let events = ("accept", "text/event-stream");
    assert_eq!(connection.ask("GET", "/mcp", &[events, VERSION], "").await.status, 400);
    assert_eq!(connection.ask("DELETE", "/mcp", &[VERSION], "").await.status, 400);
    scene.end().await;
}
