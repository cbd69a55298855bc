//! Processes that die: what was in flight is answered at once or asked again, and the next one takes over.

use crate::support::{Plan, Profile, Scene, calm, settle, tools};
use kennel_hub::ProcessModel;
use kennel_supervisor::{RestartBudget, Settings};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Tools that say what calling them does.
fn hinted() -> Profile {
    let tool = |name: &str, hints: Value| json!({ "name": name, "inputSchema": {}, "annotations": hints });
    let page = json!({ "tools": [
        tool("read", json!({ "readOnlyHint": true })),
        tool("repeat", json!({ "idempotentHint": true, "title": "x" })),
        tool("write", json!({ "readOnlyHint": false, "destructiveHint": true })),
        tool("silent", Value::Null),
    ] });
    Profile { tools: vec![page], ..Profile::default() }
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_get_one_error_each_at_once_and_the_next_ones_run() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (one, other) = (scene.guest("one", json!({})).await, scene.guest("other", json!({})).await);
    let mut process = scene.process().await;
    let streams = [one.call(1, "echo"), one.call(1, "echo"), other.call(1, "echo")];
    for _ in &streams {
        process.expect("tools/call").await;
    }
    let before = Instant::now();
    process.die().await;
    for stream in &streams {
        let error = stream.error(-31001).await;
        assert_eq!((&error["id"], &error["error"]["data"]["phase"]), (&json!(1), &json!("call")));
        let text = error["error"]["message"].as_str().unwrap();
        assert!(text.contains("weather") && text.contains("unknown"), "{text}");
    }
    assert_eq!(before, Instant::now(), "without waiting for anything");
    // What comes meanwhile waits, in order, and runs.
    let waiting = [other.call(2, "echo"), one.call(3, "echo")];
    let mut process = scene.process().await;
    assert_eq!(process.number, 2);
    for stream in &waiting {
        let request = process.expect("tools/call").await;
        process.answer(&request, json!({ "content": [] })).await;
        assert_eq!(stream.response().await["result"], json!({ "content": [] }));
    }
    for stream in streams.iter().chain(&waiting) {
        stream.is_quiet().await;
    }
    assert_eq!(scene.metric("faults_total"), 3);
    assert_eq!((scene.metric("restarts_total"), scene.metric("failures_total")), (1, 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_does_no_harm_is_asked_once_more_and_only_once() {
    let profile = hinted();
    let scene = Scene::with(calm(ProcessModel::PerSession), move |_| profile.clone());
    let client = scene.client().await;
    let mut process = scene.process().await;
    let harmless = [
        ("tools/call", json!({ "name": "read" })),
        ("tools/call", json!({ "name": "repeat" })),
        ("resources/read", json!({ "uri": "test://a" })),
        ("prompts/get", json!({ "name": "p" })),
        ("completion/complete", json!({})),
        ("tools/list", json!({ "cursor": "x" })),
    ];
    let harmful = [
        ("tools/call", json!({ "name": "write" })),
        ("tools/call", json!({ "name": "silent" })),
        ("tools/call", json!({ "name": "unknown" })),
        ("made/up", json!({})),
    ];
    let streams: Vec<_> = harmless.iter().map(|(method, params)| client.request(4, method, params.clone())).collect();
    let lost: Vec<_> = harmful.iter().map(|(method, params)| client.request(4, method, params.clone())).collect();
    let mut first = Vec::new();
    for _ in 0..harmless.len() + harmful.len() {
        first.push(process.line().await.unwrap());
    }
    process.die().await;
    for stream in &lost {
        stream.error(-31001).await;
    }
    let mut process = scene.process().await;
    for line in first.iter().take(harmless.len()) {
        assert_eq!(process.line().await.as_ref(), Some(line), "the same request under the same id, in the same order");
    }
    process.hears_nothing().await;
    // One is answered; the others have been asked twice, and that is enough.
    let id = serde_json::from_str::<Value>(&first[0]).unwrap();
    process.answer(&id, json!({ "content": [] })).await;
    assert_eq!(streams[0].response().await["result"], json!({ "content": [] }));
    process.die().await;
    for stream in &streams[1..] {
        stream.error(-31001).await;
    }
    let mut process = scene.process().await;
    process.hears_nothing().await;
    for stream in streams.iter().chain(&lost) {
        stream.is_quiet().await;
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_no_longer_says_that_it_does_no_harm_is_not_called_again() {
    let profile = hinted();
    let scene = Scene::with(calm(ProcessModel::PerSession), move |_| profile.clone());
    let client = scene.client().await;
    let mut process = scene.process().await;
    process.notify("notifications/tools/list_changed", json!({})).await;
    let survey = process.expect("tools/list").await;
    process.answer(&survey, tools(&["read", "repeat"])).await;
    client.unsolicited.notification().await;
    settle().await;
    let stream = client.call(1, "read");
    process.expect("tools/call").await;
    process.die().await;
    stream.error(-31001).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_is_not_asked_again() {
    let profile = hinted();
    let scene = Scene::with(calm(ProcessModel::PerSession), move |_| profile.clone());
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.call(1, "read");
    process.expect("tools/call").await;
    process.die().await;
    settle().await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    assert_eq!(stream.outgoing().await.kind, kennel_hub::OutgoingKind::Withdrawn);
    let mut process = scene.process().await;
    process.hears_nothing().await;
    stream.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn subscriptions_and_the_level_hold_with_the_next_process() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession] {
        let scene = Scene::new(calm(model));
        let client = scene.client().await;
        let mut process = scene.process().await;
        for (method, params) in [
            ("resources/subscribe", json!({ "uri": "test://a" })),
            ("resources/subscribe", json!({ "uri": "test://b" })),
            ("resources/unsubscribe", json!({ "uri": "test://b" })),
            ("logging/setLevel", json!({ "level": "warning" })),
        ] {
            let stream = client.request(1, method, params);
            let request = process.expect(method).await;
            process.answer(&request, json!({})).await;
            stream.response().await;
        }
        process.die().await;
        settle().await;
        let waiting = client.call(2, "echo");
        let mut process = scene.process().await;
        let subscription = process.expect("resources/subscribe").await;
        assert_eq!(subscription["params"]["uri"], "test://a");
        assert_eq!(process.expect("logging/setLevel").await["params"]["level"], "warning");
        // Before what waited, so that nothing is missed.
        let request = process.expect("tools/call").await;
        process.answer(&request, json!({})).await;
        waiting.response().await;
        process.answer(&subscription, json!({})).await;
        process.notify("notifications/resources/updated", json!({ "uri": "test://a" })).await;
        assert_eq!(client.unsolicited.notification().await["params"]["uri"], "test://a");
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_budget_of_restarts_is_gone_calls_are_refused_at_once() {
    let restarts = RestartBudget { count: 1, window: Duration::from_hours(1) };
    let supervision = Settings { restarts, ..calm(ProcessModel::PerSession).supervision };
    let scene = Scene::new(Plan { supervision, ..calm(ProcessModel::PerSession) });
    let client = scene.client().await;
    for _ in 0..2 {
        let process = scene.process().await;
        settle().await;
        process.die().await;
    }
    settle().await;
    let before = Instant::now();
    let error = client.call(9, "echo").error(-31002).await;
    assert_eq!((&error["id"], &error["error"]["data"]["phase"]), (&json!(9), &json!("runtime")));
    assert!(error["error"]["message"].as_str().unwrap().contains("ended unexpectedly"), "{error}");
    assert_eq!(before, Instant::now());
    assert!(matches!(scene.hub.status().ready(), kennel_hub::Readiness::Failed { .. }));
    // The session goes on, and so does what is remembered.
    assert_eq!(client.request(1, "ping", json!({})).response().await["result"], json!({}));
    assert_eq!(client.request(1, "tools/list", json!({})).response().await["result"], tools(&["echo"]));
    scene.starts_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_refused_when_the_budget_is_gone() {
    let restarts = RestartBudget { count: 1, window: Duration::from_hours(1) };
    let supervision = Settings { restarts, ..calm(ProcessModel::Shared).supervision };
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let scene = Scene::with(Plan { supervision, ..calm(ProcessModel::Shared) }, profile);
    let client = scene.client().await;
    scene.process().await.die().await;
    settle().await;
    let stream = client.call(9, "echo");
    scene.process().await.die().await;
    let error = stream.error(-31002).await;
    assert_eq!(error["error"]["data"]["phase"], "connect");
    scene.end().await;
}
