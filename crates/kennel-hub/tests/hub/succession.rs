//! One hub takes the place of another: sessions go on, calls in flight are answered, and nothing is started where it is held.

use crate::support::{Process, Profile, Scene, Stream, calm, parse, settle};
use kennel_hub::{Caller, Mailbox, MailboxLimits, Principal, ProcessModel};
use serde_json::json;
use std::collections::BTreeSet;

/// The next notifications, in any order.
async fn news(stream: &Stream, count: usize) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for _ in 0..count {
        methods.insert(stream.notification().await["method"].as_str().unwrap().to_owned());
    }
    methods
}

async fn answered_by(process: &mut Process, stream: &Stream, result: &str) {
    let request = process.hears("tools/call").await;
    process.answer(&request, json!(result)).await;
    assert_eq!(stream.response().await["result"], result);
}

async fn sessions_go_on(model: ProcessModel) {
    let (old, new) = (Scene::new(calm(model)), Scene::new(calm(model)));
    let client = old.client().await;
    let mut before = old.process().await;
    let in_flight = client.call(1, "echo");
    let request = before.hears("tools/call").await;
    old.hub.hand_over(&new.hub);
    let changed = news(&client.unsolicited, 3).await;
    assert!(changed.contains("notifications/tools/list_changed"), "{changed:?}");
    assert!(old.hub.is_busy(), "a call is in flight");
    let next = client.call(1, "echo");
    let mut after = new.process().await;
    answered_by(&mut after, &next, "new").await;
    assert!(old.hub.is_busy(), "the call is still in flight");
    before.answer(&request, json!("old")).await;
    assert_eq!(in_flight.response().await["result"], "old");
    assert!(!old.hub.is_busy());
    assert_eq!((old.hub.status().sessions, new.hub.status().sessions), (0, 1));
    old.end().await;
    let last = client.call(2, "echo");
    answered_by(&mut after, &last, "new").await;
    client.session.close();
    assert_eq!(new.hub.status().sessions, 0);
    if model == ProcessModel::PerSession {
        after.ended().await;
    }
    new.end().await;
}

#[tokio::test(start_paused = true)]
async fn sessions_with_a_shared_process_go_on_with_the_successor() {
    sessions_go_on(ProcessModel::Shared).await;
}

#[tokio::test(start_paused = true)]
async fn sessions_with_a_process_of_their_own_go_on_with_the_successor() {
    sessions_go_on(ProcessModel::PerSession).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_asks_nothing_more_leaves_nothing_with_the_successor() {
    let (old, new) = (Scene::new(calm(ProcessModel::PerSession)), Scene::new(calm(ProcessModel::PerSession)));
    let client = old.client().await;
    old.hub.hand_over(&new.hub);
    assert_eq!(new.hub.status().instances.len(), 1, "it hears from there");
    client.session.close();
    settle().await;
    assert_eq!((new.hub.status().instances.len(), new.hub.status().sessions), (0, 0));
    new.starts_nothing().await;
    old.end().await;
    new.end().await;
}

#[tokio::test(start_paused = true)]
async fn callers_without_a_session_come_to_the_successor_by_any_door() {
    let (old, new) = (Scene::new(calm(ProcessModel::Shared)), Scene::new(calm(ProcessModel::Shared)));
    old.hub.hand_over(&new.hub);
    let mailbox = Mailbox::new(MailboxLimits::default());
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    old.hub.call(&Caller::new(Principal::local()), parse(request), &mailbox);
    answered_by(&mut new.process().await, &Stream::attached(mailbox), "new").await;
    old.starts_nothing().await;
    old.end().await;
    new.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_session_was_asked_is_answered_where_it_was_asked() {
    let (old, new) = (Scene::new(calm(ProcessModel::PerSession)), Scene::new(calm(ProcessModel::PerSession)));
    let client = old.guest("local", json!({ "roots": {} })).await;
    let mut process = old.process().await;
    process.ask(json!("q"), "roots/list", json!({})).await;
    let question = client.unsolicited.request().await;
    old.hub.hand_over(&new.hub);
    let pinged = client.request(5, "tools/call", json!({ "name": "echo" }));
    answered_by(&mut new.process().await, &pinged, "new").await;
    client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": [] } }).to_string());
    let line = process.line().await.unwrap();
    assert!(line.contains("\"q\"") && line.contains("roots"), "{line}");
    old.end().await;
    new.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_successor_that_is_ready_is_told_what_sessions_have_subscribed_to() {
    let profile = Profile { capabilities: json!({ "resources": { "subscribe": true } }), ..Profile::default() };
    let scene = || {
        let profile = profile.clone();
        Scene::with(calm(ProcessModel::Shared), move |_| profile.clone())
    };
    let (old, new) = (scene(), scene());
    let client = old.client().await;
    let mut before = old.process().await;
    let subscribed = client.request(1, "resources/subscribe", json!({ "uri": "test://a" }));
    let request = before.hears("resources/subscribe").await;
    before.answer(&request, json!({})).await;
    subscribed.response().await;
    new.hub.try_out().await.unwrap();
    let mut after = new.process().await;
    old.hub.hand_over(&new.hub);
    assert_eq!(after.hears("resources/subscribe").await["params"]["uri"], "test://a");
    news(&client.unsolicited, 3).await;
    after.notify("notifications/resources/updated", json!({ "uri": "test://a" })).await;
    let heard = news(&client.unsolicited, 1).await;
    assert!(heard.contains("notifications/resources/updated"), "{heard:?}");
    old.end().await;
    new.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_held_starts_nothing_and_says_why_until_it_is_released() {
    let (old, new) = (Scene::new(calm(ProcessModel::Shared)), Scene::new(calm(ProcessModel::Shared)));
    let client = old.client().await;
    let _before = old.process().await;
    new.hub.hold("the operator has stopped it");
    assert_eq!(new.hub.status().held.as_deref(), Some("the operator has stopped it"));
    old.hub.hand_over(&new.hub);
    let refused = client.call(1, "echo").error(-31002).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("the operator has stopped it"), "{refused}");
    assert!(new.try_introduce("other", "2025-11-25", json!({})).await.is_err());
    new.starts_nothing().await;
    new.hub.release();
    let call = client.call(2, "echo");
    answered_by(&mut new.process().await, &call, "new").await;
    old.end().await;
    new.end().await;
}
