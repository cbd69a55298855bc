//! Requests that stand for themselves, over HTTP: in which form the answer comes, and what ends them.

use crate::support::{SOON, Scene, call, echo, initialize, modern, request, text_of};
use kennel_gateway::{AccessSettings, Limits, Settings, Token};
use kennel_hub::Principal;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

fn listened() -> Value {
    json!({"notifications": {"toolsListChanged": true}})
}

#[tokio::test]
async fn a_request_is_answered_without_a_session() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for id in [json!(0), json!(-7), json!(""), json!("ü\n"), json!(9_007_199_254_740_993_u64)] {
        // Both headers mean something only to sessions.
        let sessions = [("mcp-session-id", "no-such"), ("last-event-id", "1-1")];
        let response = connection.post_modern(&sessions, &modern(echo(id.clone(), "hello"))).await;
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        assert_eq!((&response.json()["id"], text_of(&response.json())), (&id, "hello"));
        assert_eq!(response.header("mcp-session-id"), None);
    }
    assert_eq!(scene.engine.started(), 1, "one caller has one process");
    assert_eq!(scene.gate.cancellations(), 0, "what was answered is not cancelled");
    scene.end().await;
}

#[tokio::test]
async fn both_eras_share_the_address_and_the_connection() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    assert_eq!(text_of(&client.post(&echo(1, "in the session")).await.json()), "in the session");
    let own = client.id.clone();
    let response = client.connection.post_modern(&[("mcp-session-id", &own)], &modern(echo(1, "apart"))).await;
    assert_eq!(text_of(&response.json()), "apart");
    assert_eq!(text_of(&client.post(&echo(1, "again")).await.json()), "again");
    assert_eq!(scene.engine.started(), 2, "the session's process is its own");
    // A version with sessions named in the body is no request to do without one.
    let mut legacy = modern(initialize("2025-11-25"));
    legacy["params"]["_meta"][crate::support::VERSION_FIELD] = json!("2025-11-25");
    let response = client.connection.post(&[], &legacy).await;
    assert!(response.header("mcp-session-id").is_some(), "{response:?}");
    scene.end().await;
}

#[tokio::test]
async fn callers_are_kept_apart() {
    let token = |name: &str| Token { secret: name.into(), principal: Principal::new(name) };
    let access = AccessSettings { tokens: vec![token("ali"), token("bea")], ..AccessSettings::default() };
    let scene = Scene::of(Settings { access, ..Settings::default() }).await;
    let mut connection = scene.connect().await;
    for (name, processes) in [("ali", 1), ("bea", 2), ("ali", 2)] {
        let authorization = format!("Bearer {name}");
        let response = connection.post_modern(&[("authorization", &authorization)], &modern(echo(1, name))).await;
        assert_eq!(text_of(&response.json()), name);
        assert_eq!(scene.engine.started(), processes);
    }
    scene.end().await;
}

#[tokio::test]
async fn something_before_the_response_makes_a_stream_of_plain_events() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(call("a", "steps", &json!({"count": 3})))).await;
    let head = connection.head().await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    assert_eq!(head.header("mcp-session-id"), None);
    for number in 1..=3 {
        let event = connection.event().await.unwrap();
        assert_eq!((&event.id, event.retry), (&None, None), "there is no coming back");
        assert_eq!(event.json()["params"], json!({"progressToken": "a", "progress": number}));
    }
    scene.gate.open(1);
    let last = connection.event().await.unwrap();
    assert_eq!((&last.id, text_of(&last.json())), (&None, "stepped"));
    assert_eq!(connection.event().await, None);
    // The connection is good for the next request.
    assert_eq!(connection.post_modern(&[], &modern(echo(2, "next"))).await.status, 200);
    assert_eq!(scene.gate.cancellations(), 0, "what was answered is not cancelled");
    scene.end().await;
}

#[tokio::test]
async fn an_answer_that_takes_long_becomes_a_stream_with_signs_of_life() {
    let limits =
        Limits { patience: Duration::from_millis(20), keep_alive: Duration::from_millis(20), ..Limits::default() };
    let scene = Scene::with(limits).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(call(1, "large", &json!({"bytes": 300_000})))).await;
    assert_eq!(connection.head().await.header("content-type"), Some("text/event-stream"));
    for _ in 0..3 {
        let event = connection.event().await.unwrap();
        assert!(event.comment.is_some() && event.data.is_none(), "{event:?}");
    }
    scene.gate.open(1);
    assert_eq!(text_of(&connection.message().await.json()), "x".repeat(300_000));
    assert_eq!(connection.event().await, None);
    scene.end().await;
}

#[tokio::test]
async fn the_status_follows_the_error() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for (code, status) in [
        (-32601, 404),
        (-32020, 400),
        (-32021, 400),
        (-32022, 400),
        (-32602, 200),
        (-32603, 200),
        (-31001, 200),
        (7, 200),
    ] {
        let response = connection.post_modern(&[], &modern(call(3, "fail", &json!({"code": code})))).await;
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (status, Some(code)), "{response:?}");
        assert_eq!((&response.json()["id"], response.header("content-type")), (&json!(3), Some("application/json")));
    }
    let response = connection.post_modern(&[], &modern(request("u", "no/such", &json!({})))).await;
    assert_eq!((response.status, &response.json()["id"]), (404, &json!("u")));
    // After the first event the status is out.
    connection.send_modern(&[], &modern(call(4, "refuse", &json!({})))).await;
    assert_eq!(connection.head().await.status, 200);
    assert_eq!(connection.event().await.unwrap().json()["method"], "notifications/progress");
    assert_eq!(connection.event().await.unwrap().json()["error"]["code"], -32601);
    assert_eq!(connection.event().await, None);
    scene.end().await;
}

#[tokio::test]
async fn who_closes_a_stream_cancels_the_request() {
    let scene = Scene::with(Limits { patience: Duration::from_millis(1), ..Limits::default() }).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(call(1, "steps", &json!({"count": 1})))).await;
    connection.head().await;
    connection.message().await;
    assert_eq!(scene.gate.cancellations(), 0);
    drop(connection);
    scene.gate.cancelled().await;
    scene.end().await;
}

#[tokio::test]
async fn who_goes_before_the_answer_began_cancels_the_request() {
    let scene = Scene::with(Limits { patience: SOON * 2, ..Limits::default() }).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(call(1, "hold", &json!({})))).await;
    // The request is in hand when the server has it; another one behind it shows that.
    let mut other = scene.connect().await;
    other.post_modern(&[], &modern(echo(1, "there"))).await;
    drop(connection);
    scene.gate.cancelled().await;
    // Only that request, though the ids are the same.
    assert_eq!(text_of(&other.post_modern(&[], &modern(echo(1, "on"))).await.json()), "on");
    assert_eq!(scene.gate.cancellations(), 0);
    scene.end().await;
}

#[tokio::test]
async fn listening_begins_at_once_and_ends_with_its_connection() {
    let scene = Scene::with(Limits { patience: SOON * 2, ..Limits::default() }).await;
    scene.gate.hold_start();
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(request("l", "subscriptions/listen", &listened()))).await;
    let head = timeout(SOON, connection.head()).await.expect("before anything happened");
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    scene.gate.open(1);
    // It does not keep others from being served.
    let mut other = scene.connect().await;
    assert_eq!(other.post_modern(&[], &modern(echo(1, "meanwhile"))).await.status, 200);
    let first = connection.event().await.unwrap();
    assert_eq!((&first.json()["method"], &first.id), (&json!("notifications/subscriptions/acknowledged"), &None));
    other.post_modern(&[], &modern(call(2, "announce", &json!({})))).await;
    assert_eq!(connection.message().await.json()["method"], "notifications/tools/list_changed");
    drop(connection);
    scene.end().await;
}

#[tokio::test]
async fn listening_ends_with_an_answer_when_the_gateway_closes() {
    let scene = Scene::with(Limits { drain: SOON * 2, ..Limits::default() }).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(request("l", "subscriptions/listen", &listened()))).await;
    connection.head().await;
    assert_eq!(connection.message().await.json()["method"], "notifications/subscriptions/acknowledged");
    scene.shutdown.cancel();
    let last = connection.message().await.json();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!("l"), &json!("complete")), "{last}");
    assert_eq!(connection.event().await, None);
    assert!(connection.is_closed().await);
    scene.end().await;
}

#[tokio::test]
async fn a_listener_that_is_not_heard_of_gets_signs_of_life() {
    let scene = Scene::with(Limits { keep_alive: Duration::from_millis(20), ..Limits::default() }).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(request("l", "subscriptions/listen", &listened()))).await;
    connection.head().await;
    connection.message().await;
    for _ in 0..3 {
        assert!(connection.event().await.unwrap().comment.is_some());
    }
    drop(connection);
    scene.end().await;
}

#[tokio::test]
async fn a_stream_may_end_when_the_gateway_closes() {
    let scene = Scene::with(Limits { patience: Duration::from_millis(1), ..Limits::default() }).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(call(1, "steps", &json!({"count": 1})))).await;
    connection.head().await;
    connection.message().await;
    scene.shutdown.cancel();
    scene.gate.open(1);
    assert_eq!(text_of(&connection.message().await.json()), "stepped");
    assert_eq!(connection.event().await, None);
    assert!(connection.is_closed().await);
    scene.end().await;
}

#[tokio::test]
async fn a_stream_that_does_not_end_is_dropped_and_cancelled() {
    let limits = Limits { patience: Duration::from_millis(1), drain: Duration::from_millis(50), ..Limits::default() };
    let scene = Scene::with(limits).await;
    let mut connection = scene.connect().await;
    connection.send_modern(&[], &modern(call(1, "steps", &json!({"count": 1})))).await;
    connection.head().await;
    connection.message().await;
    scene.shutdown.cancel();
    scene.gate.cancelled().await;
    scene.end().await;
}

#[tokio::test]
async fn requests_are_counted_by_era() {
    let scene = Scene::new().await;
    let mut client = scene.session("2025-11-25").await;
    client.post(&echo(1, "one")).await;
    for _ in 0..3 {
        client.connection.post_modern(&[], &modern(echo(1, "one"))).await;
    }
    let json = [("content-type", "application/json")];
    client.connection.ask("POST", "/rpc", &json, &json!([echo(1, "a"), modern(echo(2, "b"))]).to_string()).await;
    let text = client.connection.ask("GET", "/metrics", &[], "").await.text();
    for line in [
        "# TYPE kennel_mcp_requests_total counter",
        "kennel_mcp_requests_total{door=\"mcp\",era=\"legacy\"} 2",
        "kennel_mcp_requests_total{door=\"mcp\",era=\"modern\"} 3",
        "kennel_mcp_requests_total{door=\"rpc\",era=\"legacy\"} 1",
        "kennel_mcp_requests_total{door=\"rpc\",era=\"modern\"} 1",
        "kennel_mcp_requests_total{door=\"ws\",era=\"modern\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
    scene.end().await;
}
