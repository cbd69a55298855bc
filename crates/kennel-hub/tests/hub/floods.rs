//! What a process or a client can make the hub keep and ask is bounded, however much it says.

use crate::support::{Plan, Profile, Scene, calm, settle};
use kennel_hub::{Limits, ProcessModel};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

fn limited(limits: Limits) -> Plan {
    Plan { limits, ..calm(ProcessModel::PerSession) }
}

fn text(error: &Value) -> &str {
    error["error"]["message"].as_str().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_list_is_asked_for_once_at_a_time_however_often_it_changes() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    for _ in 0..100 {
        process.notify("notifications/tools/list_changed", json!({})).await;
    }
    let request = process.expect("tools/list").await;
    process.hears_nothing().await;
    // What had changed meanwhile is asked for when that is answered, and once again.
    process.answer(&request, json!({ "tools": [] })).await;
    let request = process.expect("tools/list").await;
    process.answer(&request, json!({ "tools": [{ "name": "new", "inputSchema": {} }] })).await;
    sleep(Duration::from_secs(10)).await;
    process.hears_nothing().await;
    // A process that never answers is not asked again before the request has timed out.
    process.notify("notifications/tools/list_changed", json!({})).await;
    process.expect("tools/list").await;
    for _ in 0..100 {
        process.notify("notifications/tools/list_changed", json!({})).await;
    }
    process.hears_nothing().await;
    drop(client);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_changes_all_the_time_is_asked_for_some_times_a_second() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let _client = scene.client().await;
    let mut process = scene.process().await;
    let (mut asked, start) = (0, tokio::time::Instant::now());
    process.notify("notifications/tools/list_changed", json!({})).await;
    while start.elapsed() < Duration::from_secs(2) {
        let request = process.expect("tools/list").await;
        asked += 1;
        process.answer(&request, json!({ "tools": [] })).await;
        process.notify("notifications/tools/list_changed", json!({})).await;
    }
    assert!((5..=12).contains(&asked), "{asked} times");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_hubs_own_requests_are_bounded() {
    let profile = Profile { capabilities: json!({ "resources": { "subscribe": true } }), ..Profile::default() };
    let plan = Plan { limits: Limits { own_requests: 5, ..Limits::default() }, ..calm(ProcessModel::Shared) };
    let scene = Scene::with(plan, move |_| profile.clone());
    let (client, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    // Two lists are asked for when it starts, and not answered here. Of the subscriptions, one client's end makes the hub
    // subscribe for the other.
    for number in 0..10 {
        let uri = json!({ "uri": format!("test://{number}") });
        let stream = client.request(number, "resources/subscribe", uri.clone());
        let request = process.hears("resources/subscribe").await;
        process.answer(&request, json!({})).await;
        stream.response().await;
        other.request(number, "resources/subscribe", uri).response().await;
    }
    drop((client, other));
    settle().await;
    let mut own = 0;
    while let Some(line) = process.try_line() {
        own += usize::from(line.contains("resources/unsubscribe"));
    }
    assert_eq!(own, 3, "with the two lists, five");
    assert!(scene.metric("dropped_own_requests_total") > 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_requests_in_flight_are_bounded() {
    let scene = Scene::new(limited(Limits { in_flight_bytes: 1000, ..Limits::default() }));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let long = json!({ "name": "echo", "arguments": { "text": "x".repeat(600) } });
    let first = client.request(1, "tools/call", long.clone());
    let request = process.expect("tools/call").await;
    let error = client.request(2, "tools/call", long.clone()).error(-31004).await;
    assert!(text(&error).contains("1000 bytes of requests in flight"), "{error}");
    process.answer(&request, json!({})).await;
    first.response().await;
    // One that is larger than all of it goes alone.
    let large = client.request(3, "tools/call", json!({ "name": "echo", "arguments": { "text": "x".repeat(5000) } }));
    let request = process.expect("tools/call").await;
    client.request(4, "tools/call", json!({ "name": "echo" })).error(-31004).await;
    process.answer(&request, json!({})).await;
    large.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_process_are_bounded_by_what_is_kept_of_them() {
    let scene = Scene::new(limited(Limits { server_request_bytes: 1000, ..Limits::default() }));
    let client = scene.guest("ann", json!({ "sampling": {} })).await;
    let mut process = scene.process().await;
    let params = json!({ "messages": [], "maxTokens": 1 });
    let long = |number: u32| json!(format!("{number}{}", "x".repeat(600)));
    process.ask(long(1), "sampling/createMessage", params.clone()).await;
    let question = client.unsolicited.request().await;
    process.ask(long(2), "sampling/createMessage", params.clone()).await;
    let refused: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&long(2), &json!(-31004)));
    assert!(text(&refused).contains("1000 bytes of requests to clients"), "{refused}");
    client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": {} }).to_string());
    let answer: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
    assert_eq!(answer["id"], long(1));
    process.ask(long(3), "sampling/createMessage", params).await;
    client.unsolicited.request().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_subscriptions_of_a_session_are_bounded() {
    let profile = Profile { capabilities: json!({ "resources": { "subscribe": true } }), ..Profile::default() };
    let limits = Limits { subscriptions: 3, subscription_bytes: 100, ..Limits::default() };
    let scene = Scene::with(limited(limits), move |_| profile.clone());
    let client = scene.client().await;
    let mut process = scene.process().await;
    let subscribe = |uri: &str| client.request(1, "resources/subscribe", json!({ "uri": uri }));
    let error = subscribe(&format!("test://{}", "x".repeat(100))).error(-31004).await;
    assert!(text(&error).contains("100 bytes of addresses"), "{error}");
    for uri in ["test://1", "test://2", "test://3"] {
        let stream = subscribe(uri);
        let request = process.hears("resources/subscribe").await;
        process.answer(&request, json!({})).await;
        stream.response().await;
    }
    let error = subscribe("test://4").error(-31004).await;
    assert!(text(&error).contains("3 subscriptions of this session"), "{error}");
    let stream = client.request(1, "resources/unsubscribe", json!({ "uri": "test://1" }));
    let request = process.hears("resources/unsubscribe").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    let _again = subscribe("test://4");
    process.hears("resources/subscribe").await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn ids_tokens_and_introductions_are_bounded() {
    let limits = Limits { id_bytes: 100, introduction_bytes: 1000, ..Limits::default() };
    let scene = Scene::new(limited(limits));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let long = "x".repeat(200);
    let call = |id: &str, token: &str| {
        let params = json!({ "name": "echo", "_meta": { "progressToken": token } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    for request in [call(&long, "t"), call("1", &long)] {
        let error = client.ask(&request).error(-32602).await;
        assert!(text(&error).contains("at most 100 pass"), "{error}");
    }
    let stream = client.ask(&call("1", "t"));
    let request = process.expect("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    let Err(refused) =
        scene.try_introduce("ann", "2025-11-25", json!({ "experimental": { "x": "x".repeat(2000) } })).await
    else {
        panic!("it was taken");
    };
    let refused: Value = serde_json::from_slice(&refused.response).unwrap();
    assert!(text(&refused).contains("at most 1000 pass"), "{refused}");
    scene.end().await;
}
