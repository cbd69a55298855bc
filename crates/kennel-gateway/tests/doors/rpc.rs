//! Plain JSON-RPC.

use crate::support::{Scene, call, echo, initialize, request, text_of};
use serde_json::{Value, json};

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn one_request_needs_no_handshake() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let response = connection.ask("POST", "/rpc", &[JSON], &echo("x", "hello").to_string()).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert_eq!(response.json()["id"], "x");
    assert_eq!(text_of(&response.json()), "hello");
    // What comes before the answer is not for this door.
    scene.gate.open(1);
    let response = connection.ask("POST", "/rpc", &[JSON], &call(1, "steps", &json!({"count": 3})).to_string()).await;
    assert_eq!(text_of(&response.json()), "stepped");
    let response = connection.ask("POST", "/rpc", &[JSON], &initialize("2025-11-25").to_string()).await;
    assert!(response.json()["result"]["serverInfo"].is_object(), "{response:?}");
    scene.end().await;
}

#[tokio::test]
async fn a_batch_is_answered_as_a_batch() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let batch = json!([echo(1, "one"), 5, {"jsonrpc": "2.0", "method": "notifications/x"}, echo(2, "two")]);
    let response = connection.ask("POST", "/rpc", &[JSON], &batch.to_string()).await;
    let answers = response.json();
    let mut ids = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>();
    ids.sort_by_key(Value::to_string);
    assert_eq!((response.status, ids), (200, vec![json!(1), json!(2), Value::Null]));
    scene.end().await;
}

#[tokio::test]
async fn what_is_no_request_gets_no_answer_and_what_is_not_json_is_refused() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    for body in [note.clone(), json!([note])] {
        let response = connection.ask("POST", "/rpc", &[JSON], &body.to_string()).await;
        assert_eq!((response.status, response.body.len()), (202, 0));
    }
    let response = connection.ask("POST", "/rpc", &[JSON], "{").await;
    assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (400, Some(-32700)));
    let ping = request(1, "ping", &json!({})).to_string();
    assert_eq!(connection.ask("POST", "/rpc", &[("content-type", "text/plain")], &ping).await.status, 415);
    assert_eq!(connection.ask("GET", "/rpc", &[], "").await.status, 405);
    scene.end().await;
}
