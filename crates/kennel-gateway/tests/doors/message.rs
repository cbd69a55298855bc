//! Messages by POST: what is taken, what is refused, and in which form the answer comes.

use crate::support::{SOON, Scene, call, echo, initialize, request, text_of};
use kennel_gateway::Limits;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

#[tokio::test]
async fn a_request_is_answered_as_json_under_its_own_id() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    for id in [json!(0), json!(-7), json!(""), json!("0"), json!("ü\n"), json!(9_007_199_254_740_993_u64)] {
        let response = client.post(&echo(id.clone(), "hello")).await;
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        assert_eq!(response.json()["id"], id);
        assert_eq!(text_of(&response.json()), "hello");
    }
    let error = client.post(&request(1, "no/such", &json!({}))).await;
    assert_eq!((error.status, error.json()["error"]["code"].as_i64()), (200, Some(-32601)));
    scene.end().await;
}

#[tokio::test]
async fn what_has_no_answer_is_accepted_without_a_body() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "id": "unasked", "result": {}}),
        json!({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "no"}}),
    ] {
        let response = client.post(&message).await;
        assert_eq!((response.status, response.body.len()), (202, 0), "{message}");
    }
    scene.end().await;
}

#[tokio::test]
async fn improper_requests_are_refused_with_the_proper_status() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    let id = client.id.clone();
    let both = "application/json, text/event-stream";
    let ping = request(1, "ping", &json!({})).to_string();
    let mut ask = async |accept: &str, kind: &str, version: &str, body: &str| {
        let headers = [
            ("mcp-session-id", id.as_str()),
            ("accept", accept),
            ("content-type", kind),
            ("mcp-protocol-version", version),
        ];
        let response = client.connection.ask("POST", "/mcp", &headers, body).await;
        (response.status, response.json()["error"]["code"].as_i64())
    };
    let json = "application/json";
    assert_eq!(ask("application/json", json, "2025-11-25", &ping).await, (406, Some(-32600)));
    assert_eq!(ask("text/event-stream", json, "2025-11-25", &ping).await, (406, Some(-32600)));
    assert_eq!(ask(both, "text/plain", "2025-11-25", &ping).await, (415, Some(-32600)));
    assert_eq!(ask(both, json, "1999-01-01", &ping).await, (400, Some(-32022)));
    assert_eq!(ask(both, json, "2026-07-28", &ping).await, (400, Some(-32602)));
    assert_eq!(ask(both, json, "2025-11-25", "{").await, (400, Some(-32700)));
    assert_eq!(ask(both, json, "2025-11-25", "").await, (400, Some(-32700)));
    assert_eq!(ask(both, json, "2025-11-25", "3").await, (400, Some(-32600)));
    assert_eq!(ask(both, json, "2025-11-25", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#).await, (400, Some(-32600)));
    // A version that is spoken, but not the session's, is fine.
    assert_eq!(ask(both, json, "2025-03-26", &ping).await, (200, None));
    let response = client.connection.ask("PUT", "/mcp", &[], "").await;
    assert_eq!((response.status, response.header("allow")), (405, Some("GET, POST, DELETE")));
    scene.end().await;
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_announced_or_not() {
    let scene = Scene::with(Limits { message_bytes: 100_000, ..Limits::default() }).await;
    let mut client = scene.session("2025-11-25").await;
    let fits = echo(1, &"x".repeat(90_000));
    assert_eq!(text_of(&client.post(&fits).await.json()).len(), 90_000);
    let long = echo(1, &"x".repeat(100_000));
    assert_eq!(client.post(&long).await.status, 413);

    let mut connection = scene.connect().await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: {}\r\ncontent-type: application/json\r\naccept: */*\r\n\
         transfer-encoding: chunked\r\n\r\n",
        client.id
    );
    connection.raw(head.as_bytes()).await;
    for _ in 0..11 {
        connection.raw(format!("{:x}\r\n{}\r\n", 10_000, " ".repeat(10_000)).as_bytes()).await;
    }
    assert_eq!(connection.response().await.status, 413);
    scene.end().await;
}

#[tokio::test]
async fn a_body_in_pieces_is_put_together() {
    let scene = Scene::new().await;
    let client = scene.session("2025-11-25").await;
    let mut connection = scene.connect().await;
    let body = echo(1, &"y".repeat(1000)).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: {}\r\ncontent-type: application/json\r\naccept: */*\r\n\
         transfer-encoding: chunked\r\n\r\n",
        client.id
    );
    connection.raw(head.as_bytes()).await;
    for piece in body.as_bytes().chunks(100) {
        connection.raw(format!("{:x}\r\n{}\r\n", piece.len(), String::from_utf8_lossy(piece)).as_bytes()).await;
        tokio::task::yield_now().await;
    }
    connection.raw(b"0\r\n\r\n").await;
    assert_eq!(text_of(&connection.response().await.json()), "y".repeat(1000));
    scene.end().await;
}

#[tokio::test]
async fn something_before_the_response_makes_a_stream_that_ends_with_the_response() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    let head = client.begin(&call("a", "steps", &json!({"count": 3}))).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    assert!(head.header("cache-control").is_some_and(|value| value.contains("no-cache")));
    let connection = &mut client.connection;
    let priming = connection.event().await.unwrap();
    assert_eq!((priming.data.as_deref(), priming.retry.is_some(), priming.id.is_some()), (Some(""), true, true));
    for number in 1..=3 {
        let event = connection.event().await.unwrap();
        assert!(event.id.is_some());
        let params = json!({"progressToken": "a", "progress": number});
        assert_eq!(event.json()["params"], params);
    }
    scene.gate.open(1);
    assert_eq!(text_of(&connection.event().await.unwrap().json()), "stepped");
    assert_eq!(connection.event().await, None);
    // The connection is good for the next request.
    assert_eq!(client.post(&echo(2, "next")).await.status, 200);
    scene.end().await;
}

#[tokio::test]
async fn clients_of_older_versions_get_no_event_without_a_message() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-06-18").await;
    client.begin(&call(1, "steps", &json!({"count": 1}))).await;
    let first = client.connection.event().await.unwrap();
    assert_eq!(first.json()["method"], "notifications/progress");
    assert!(first.id.is_some() && first.retry.is_none(), "it can come back all the same");
    scene.gate.open(1);
    assert_eq!(text_of(&client.connection.event().await.unwrap().json()), "stepped");
    scene.end().await;
}

#[tokio::test]
async fn an_answer_that_takes_long_becomes_a_stream_with_signs_of_life() {
    let limits =
        Limits { patience: Duration::from_millis(20), keep_alive: Duration::from_millis(20), ..Limits::default() };
    let scene = Scene::with(limits).await;
    let mut client = scene.session("2025-11-25").await;
    let head = client.begin(&call(1, "hold", &json!({}))).await;
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(client.connection.event().await.unwrap().data.as_deref(), Some(""));
    for _ in 0..3 {
        assert!(client.connection.event().await.unwrap().comment.is_some());
    }
    scene.gate.open(1);
    assert_eq!(text_of(&client.connection.message().await.json()), "held");
    assert_eq!(client.connection.event().await, None);
    scene.end().await;
}

#[tokio::test]
async fn a_cancelled_request_ends_without_an_answer() {
    let scene = Scene::with(Limits { patience: Duration::from_millis(20), ..Limits::default() }).await;
    let mut waiting = scene.session("2025-11-25").await;
    let mut cancelling = scene.connect().await;
    waiting.begin(&call(9, "hold", &json!({}))).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    assert_eq!(cancelling.post(&[("mcp-session-id", &waiting.id)], &cancel).await.status, 202);
    assert_eq!(waiting.connection.event().await.unwrap().data.as_deref(), Some(""));
    assert_eq!(waiting.connection.event().await, None);
    scene.end().await;
}

#[tokio::test]
async fn a_request_that_is_cancelled_before_its_answer_began_is_merely_accepted() {
    let scene = Scene::with(Limits { patience: SOON * 2, ..Limits::default() }).await;
    let mut waiting = scene.session("2025-11-25").await;
    let (mut other, id) = (scene.connect().await, waiting.id.clone());
    waiting.connection.send_post(&[("mcp-session-id", &id)], &call(9, "hold", &json!({}))).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    let answered = waiting.connection.response();
    tokio::pin!(answered);
    // It may be cancelled before it is there, which has no effect.
    let response = loop {
        assert_eq!(other.post(&[("mcp-session-id", &id)], &cancel).await.status, 202);
        if let Ok(response) = timeout(Duration::from_millis(20), &mut answered).await {
            break response;
        }
    };
    assert_eq!((response.status, response.body.len()), (202, 0));
    scene.end().await;
}

#[tokio::test]
async fn batches_are_for_the_one_version_that_has_them() {
    let scene = Scene::new().await;
    let batch = json!([echo(1, "one"), {"jsonrpc": "2.0", "method": "notifications/x"}, echo("2", "two"), 7]);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let response = scene.session(version).await.post(&batch).await;
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (400, Some(-32600)), "{version}");
    }
    let mut client = scene.session("2025-03-26").await;
    let response = client.post(&batch).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    let answers = response.json();
    let find = |id: Value| answers.as_array().unwrap().iter().find(|answer| answer["id"] == id).unwrap().clone();
    assert_eq!(answers.as_array().unwrap().len(), 3);
    assert_eq!((text_of(&find(json!(1))), text_of(&find(json!("2")))), ("one", "two"));
    assert_eq!(find(Value::Null)["error"]["code"], -32600);
    let notes = json!([{"jsonrpc": "2.0", "method": "notifications/x"}]);
    assert_eq!(client.post(&notes).await.status, 202);

    // With something beside the responses it is a stream, which ends with the last of them.
    client.begin(&json!([echo(1, "one"), call(2, "steps", &json!({"count": 1}))])).await;
    scene.gate.open(1);
    let mut seen = Vec::new();
    while let Some(event) = client.connection.event().await {
        seen.push(event.json()["id"].clone());
    }
    seen.sort_by_key(Value::to_string);
    assert_eq!(seen, [json!(1), json!(2), Value::Null]);
    scene.end().await;
}

#[tokio::test]
async fn a_batch_does_not_begin_a_session() {
    let scene = Scene::new().await;
    let response = scene.connect().await.post(&[], &json!([initialize("2025-03-26")])).await;
    assert_eq!(response.status, 400);
    scene.end().await;
}
