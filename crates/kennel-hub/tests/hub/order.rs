//! Order: what a process says about a request arrives before its answer, in the order it was said.

use crate::support::{Scene, calm};
use kennel_box::ExitReport;
use kennel_hub::{OutgoingKind, ProcessModel};
use kennel_testkit::fake::Child;
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn what_belongs_to_a_request_comes_before_its_answer() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.request(1, "tools/call", json!({ "name": "echo", "_meta": { "progressToken": "t" } }));
    let request = process.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    process.notify("notifications/message", json!({ "level": "info", "data": 1 })).await;
    process.notify("notifications/progress", json!({ "progressToken": token, "progress": 2 })).await;
    process.notify("notifications/made/up", json!({ "data": 3 })).await;
    process.answer(&request, json!({ "content": [] })).await;
    // Said after the answer, so it belongs to no request.
    process.notify("notifications/message", json!({ "level": "info", "data": 4 })).await;
    assert_eq!(stream.notification().await["params"]["data"], 1);
    let progress = stream.notification().await;
    assert_eq!((&progress["params"]["progress"], &progress["params"]["progressToken"]), (&json!(2), &json!("t")));
    assert_eq!(stream.notification().await["params"]["data"], 3);
    assert_eq!(stream.response().await["id"], 1);
    stream.is_quiet().await;
    assert_eq!(client.unsolicited.notification().await["params"]["data"], 4);
    scene.end().await;
}

/// Answers each call after ten reports of progress, and opens like any other.
async fn reports(mut child: Child) -> ExitReport {
    while let Some(line) = child.line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} }),
            Some("tools/call") => {
                let token = &message["params"]["_meta"]["progressToken"];
                for step in 0..10 {
                    let params = json!({ "progressToken": token, "progress": step });
                    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                    child.say(&progress.to_string()).await;
                }
                message["params"]["arguments"].clone()
            }
            _ => continue,
        };
        child.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()).await;
    }
    Child::exit(0)
}

/// Many clients of one process on several threads, all with the same ids and tokens: each gets its own, in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_overtakes_anything_under_load() {
    let scene = Scene::scripted(calm(ProcessModel::Shared), reports);
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..16 {
        let client = scene.guest(&format!("user {number}"), json!({})).await;
        clients.spawn(async move {
            for round in 0..25 {
                let arguments = json!({ "client": number, "round": round });
                let params = json!({ "name": "echo", "arguments": arguments, "_meta": { "progressToken": 1 } });
                let streams =
                    [client.request(1, "tools/call", params.clone()), client.request(1, "tools/call", params)];
                for stream in streams {
                    for step in 0..10 {
                        let progress = stream.notification().await;
                        assert_eq!(progress["params"], json!({ "progressToken": 1, "progress": step }));
                    }
                    let answer: Value = serde_json::from_str(&stream.spelled(OutgoingKind::Response).await).unwrap();
                    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": arguments }));
                }
            }
        });
    }
    while let Some(outcome) = clients.join_next().await {
        outcome.unwrap();
    }
    assert_eq!(scene.engine.started(), 1);
    assert_eq!(scene.metric("dropped_notifications_total"), 0);
    scene.end().await;
}
