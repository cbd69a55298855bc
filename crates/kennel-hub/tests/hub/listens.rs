//! `subscriptions/listen`: what clients without sessions hear, of processes of either era and across their restarts.

use crate::callers::{answer, ask, request, with};
use crate::support::{Plan, Profile, Scene, calm, settle};
use kennel_hub::{Asked, Caller, Mailbox, OutgoingKind, Principal, ProcessModel};
use kennel_wire::{Era, meta};
use serde_json::{Value, json};
use std::sync::Arc;

fn caller() -> Caller {
    Caller::new(Principal::new("ann"))
}

fn listen(scene: &Scene, id: u32, filter: &Value) -> (Asked, Arc<Mailbox>) {
    let request = request(id, "subscriptions/listen", &json!({}));
    ask(scene, &caller(), with(request, &json!({ "notifications": filter })))
}

fn scene(era: Era) -> Scene {
    let plan = Plan { era: Some(era), ..calm(ProcessModel::PerSession) };
    Scene::with(plan, move |_| {
        let capabilities = json!({ "tools": {}, "resources": { "subscribe": true } });
        Profile { capabilities, era, ..Profile::default() }
    })
}

fn about(message: &Value) -> &Value {
    &message["params"]["_meta"][meta::SUBSCRIPTION_ID]
}

async fn is_quiet(mailbox: &Mailbox) {
    settle().await;
    assert!(mailbox.try_next().is_none(), "something was told");
}

#[tokio::test(start_paused = true)]
async fn a_process_of_the_old_era_is_listened_to_through_kennel() {
    let scene = scene(Era::Legacy);
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a:b"] });
    let (stream, mailbox) = listen(&scene, 7, &all);
    let mut process = scene.process().await;
    let acknowledged = answer(&mailbox).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(about(&acknowledged), 7);
    // It has no prompts.
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:b"] });
    assert_eq!(acknowledged["params"]["notifications"], honoured);
    assert_eq!(process.hears("resources/subscribe").await["params"], json!({ "uri": "a:b" }));
    // Another stream wants the same resource, and one thing more.
    let (other_stream, other) = listen(&scene, 8, &json!({ "resourceSubscriptions": ["a:b", "c:d"] }));
    assert_eq!(about(&answer(&other).await), 8);
    process.notify("notifications/tools/list_changed", json!({})).await;
    let changed = answer(&mailbox).await;
    assert_eq!((&changed["method"], about(&changed)), (&json!("notifications/tools/list_changed"), &json!(7)));
    is_quiet(&other).await;
    process.notify("notifications/resources/updated", json!({ "uri": "a:b", "x": 1 })).await;
    let updated = answer(&mailbox).await;
    assert_eq!((&updated["params"]["x"], about(&updated)), (&json!(1), &json!(7)));
    assert_eq!(about(&answer(&other).await), 8);
    process.notify("notifications/resources/updated", json!({ "uri": "e:f" })).await;
    process.notify("notifications/message", json!({ "level": "error", "data": 1 })).await;
    is_quiet(&mailbox).await;
    // Who closes the stream is told nothing more, and what nobody else wants ends.
    drop(stream);
    settle().await;
    while let Some(line) = process.try_line() {
        assert!(!line.contains("unsubscribe"), "the other stream still wants it: {line}");
    }
    drop(other_stream);
    let mut ended = [process.hears("resources/unsubscribe").await, process.hears("resources/unsubscribe").await];
    ended.sort_by_key(|message| message["params"]["uri"].to_string());
    assert_eq!((&ended[0]["params"]["uri"], &ended[1]["params"]["uri"]), (&json!("a:b"), &json!("c:d")));
    is_quiet(&mailbox).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_on_with_the_next_process() {
    let scene = scene(Era::Legacy);
    let (stream, mailbox) = listen(&scene, 1, &json!({ "resourceSubscriptions": ["a:b"] }));
    let process = scene.process().await;
    answer(&mailbox).await;
    process.die().await;
    let mut process = scene.process().await;
    assert_eq!(process.hears("resources/subscribe").await["params"], json!({ "uri": "a:b" }));
    process.notify("notifications/resources/updated", json!({ "uri": "a:b" })).await;
    assert_eq!(answer(&mailbox).await["method"], "notifications/resources/updated", "and no second acknowledgement");
    // Kennel ends, and says so.
    let ending = tokio::spawn(scene.end());
    let last = mailbox.next().await.expect("an end");
    assert_eq!(last.kind, OutgoingKind::Response);
    let end: Value = serde_json::from_slice(&last.message).unwrap();
    let result = json!({ "resultType": "complete", "_meta": { meta::SUBSCRIPTION_ID: 1 } });
    assert_eq!(end, json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
    stream.answered();
    ending.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn other_tools_after_a_restart_are_news() {
    let plan = Plan { era: Some(Era::Legacy), ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan, |number| {
        let tools = vec![crate::support::tools(&[if number < 2 { "echo" } else { "other" }])];
        Profile { tools, ..Profile::default() }
    });
    let (stream, mailbox) = listen(&scene, 1, &json!({ "toolsListChanged": true }));
    let process = scene.process().await;
    answer(&mailbox).await;
    process.die().await;
    let _next = scene.process().await;
    assert_eq!(answer(&mailbox).await["method"], "notifications/tools/list_changed");
    stream.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_modern_process_is_listened_to_directly() {
    let scene = scene(Era::Modern);
    let (stream, mailbox) = listen(&scene, 7, &json!({ "toolsListChanged": true, "unknown": [1] }));
    let mut process = scene.process().await;
    let own = process.hears("subscriptions/listen").await;
    let forwarded = process.hears("subscriptions/listen").await;
    assert_eq!(forwarded["params"]["notifications"], json!({ "toolsListChanged": true, "unknown": [1] }));
    let acknowledgement =
        |id: &Value| json!({ "_meta": { meta::SUBSCRIPTION_ID: id }, "notifications": { "toolsListChanged": true } });
    process.notify("notifications/subscriptions/acknowledged", acknowledgement(&own["id"])).await;
    process.notify("notifications/subscriptions/acknowledged", acknowledgement(&forwarded["id"])).await;
    assert_eq!(about(&answer(&mailbox).await), 7);
    process
        .notify("notifications/tools/list_changed", json!({ "_meta": { meta::SUBSCRIPTION_ID: forwarded["id"] } }))
        .await;
    let changed = answer(&mailbox).await;
    assert_eq!((&changed["method"], about(&changed)), (&json!("notifications/tools/list_changed"), &json!(7)));
    // What Kennel hears on its own stream is nothing to this client, which has its own.
    process.notify("notifications/tools/list_changed", json!({ "_meta": { meta::SUBSCRIPTION_ID: own["id"] } })).await;
    is_quiet(&mailbox).await;
    process.die().await;
    let mut process = scene.process().await;
    process.hears("subscriptions/listen").await;
    let again = process.hears("subscriptions/listen").await;
    process.notify("notifications/subscriptions/acknowledged", acknowledgement(&again["id"])).await;
    is_quiet(&mailbox).await;
    // It ends by itself.
    process.answer(&again, json!({ "resultType": "complete", "_meta": { meta::SUBSCRIPTION_ID: again["id"] } })).await;
    let end = answer(&mailbox).await;
    assert_eq!((&end["id"], &end["result"]["_meta"][meta::SUBSCRIPTION_ID]), (&json!(7), &json!(7)));
    stream.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_closed_is_cancelled_with_a_modern_process() {
    let scene = scene(Era::Modern);
    let (stream, _mailbox) = listen(&scene, 7, &json!({}));
    let mut process = scene.process().await;
    process.hears("subscriptions/listen").await;
    let forwarded = process.hears("subscriptions/listen").await;
    drop(stream);
    assert_eq!(process.hears("notifications/cancelled").await["params"]["requestId"], forwarded["id"]);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_opens_no_stream() {
    let scene = scene(Era::Legacy);
    for filter in [json!(null), json!([]), json!({ "toolsListChanged": 1 }), json!({ "resourceSubscriptions": "a:b" })]
    {
        let (_stream, mailbox) = listen(&scene, 1, &filter);
        assert_eq!(answer(&mailbox).await["error"]["code"], -32602, "{filter}");
    }
    scene.end().await;
}
