//! Plain JSON-RPC.

use crate::support::{SOON, Scene, VERSION_FIELD, call, echo, initialize, modern, request, text_of};
use kennel_gateway::Limits;
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

#[tokio::test]
async fn requests_that_stand_for_themselves_are_asked_as_such() {
    let scene = Scene::with(Limits { patience: SOON * 2, ..Limits::default() }).await;
    let mut connection = scene.connect().await;
    let mut ask = async |message: &Value| connection.ask("POST", "/rpc", &[JSON], &message.to_string()).await;
    // No headers are needed, and what comes before the answer is passed over.
    scene.gate.open(1);
    let response = ask(&modern(call("s", "steps", &json!({"count": 3})))).await;
    assert_eq!((response.status, text_of(&response.json()), &response.json()["id"]), (200, "stepped", &json!("s")));
    ask(&echo(1, "another caller")).await;
    assert_eq!(scene.engine.started(), 2, "those that say what they are have their own process");

    let mut unknown = modern(echo(2, "later"));
    unknown["params"]["_meta"][VERSION_FIELD] = json!("2030-01-01");
    let mut incapable = modern(echo(3, "incapable"));
    incapable["params"]["_meta"] = json!({VERSION_FIELD: "2026-07-28"});
    let listen = modern(request(4, "subscriptions/listen", &json!({"notifications": {}})));
    for (message, code) in [(&unknown, -32022), (&incapable, -32602), (&listen, -32601)] {
        let response = ask(message).await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (200, &json!(code)));
        assert_eq!(response.json()["id"], message["id"]);
    }
    assert!(ask(&listen).await.text().contains("/mcp"));

    // A batch may hold everything.
    let batch = json!([modern(echo(1, "one")), echo(2, "two"), listen, 5, modern(echo(3, "three"))]);
    let response = ask(&batch).await;
    let answers = response.json();
    let mut ids = answers.as_array().unwrap().iter().map(|answer| answer["id"].to_string()).collect::<Vec<_>>();
    ids.sort();
    assert_eq!(ids, ["1", "2", "3", "4", "null"]);
    scene.end().await;
}

#[tokio::test]
async fn who_goes_away_calls_off_what_stands_for_itself() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    connection.send("POST", "/rpc", &[JSON], &modern(call(1, "hold", &json!({}))).to_string()).await;
    let mut other = scene.connect().await;
    other.ask("POST", "/rpc", &[JSON], &modern(echo(1, "behind it")).to_string()).await;
    assert_eq!(scene.gate.cancellations(), 0);
    drop(connection);
    scene.gate.cancelled().await;
    scene.end().await;
}
