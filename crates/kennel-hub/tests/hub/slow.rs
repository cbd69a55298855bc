//! Slow clients: one that shares a process holds nobody up, and one that has its own loses nothing.

use crate::support::{Plan, Process, Scene, Stream, calm, parse, settle};
use kennel_hub::{Mailbox, MailboxLimits, OutgoingKind, ProcessModel, Timeouts};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

const SMALL: MailboxLimits = MailboxLimits { messages: 4, bytes: 1 << 20, all_bytes: usize::MAX };

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}"#;

async fn progress(process: &Process, request: &Value, step: usize) {
    let token = &request["params"]["_meta"]["progressToken"];
    process.notify("notifications/progress", json!({ "progressToken": token, "progress": step })).await;
}

fn drained(stream: &Stream) -> Vec<(OutgoingKind, Value)> {
    let messages = std::iter::from_fn(|| stream.mailbox.try_next());
    messages.map(|outgoing| (outgoing.kind, serde_json::from_slice(&outgoing.message).unwrap())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_holds_up_no_other() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (lazy, busy) = (scene.guest("lazy", json!({})).await, scene.guest("busy", json!({})).await);
    let mut process = scene.process().await;
    let unread = lazy.ask_into(CALL, SMALL);
    let slow = process.expect("tools/call").await;
    for step in 0..1000 {
        progress(&process, &slow, step).await;
    }
    let before = tokio::time::Instant::now();
    let stream = busy.call(1, "echo");
    let request = process.expect("tools/call").await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    assert_eq!(before, tokio::time::Instant::now(), "without waiting for anybody");
    process.answer(&slow, json!({})).await;
    settle().await;
    // The first ones, and in any case the answer.
    let messages = drained(&unread);
    let kinds: Vec<_> = messages.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [[OutgoingKind::Notification; 4].as_slice(), &[OutgoingKind::Response]].concat());
    assert_eq!(messages[3].1["params"]["progress"], 3);
    assert_eq!(scene.metric("dropped_notifications_total"), 996);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_to_a_client_that_does_not_read_is_refused() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let client = scene.guest("local", json!({ "sampling": {} })).await;
    let mut process = scene.process().await;
    let _unread = client.ask_into(CALL, MailboxLimits { messages: 1, ..SMALL });
    let request = process.expect("tools/call").await;
    progress(&process, &request, 1).await;
    process.ask(json!("q"), "sampling/createMessage", json!({})).await;
    let refusal: Value = serde_json::from_str(&process.line().await.unwrap()).unwrap();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("q"), &json!(-32603)));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_with_its_own_process_is_waited_for_and_loses_nothing() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.ask_into(CALL, SMALL);
    let request = process.expect("tools/call").await;
    for step in 0..2000 {
        progress(&process, &request, step).await;
    }
    process.answer(&request, json!({})).await;
    for step in 0..2000 {
        if step % 100 == 0 {
            // As slow as it may be.
            sleep(Timeouts::default().slow_client.mul_f64(0.95)).await;
        }
        assert_eq!(stream.notification().await["params"]["progress"], step);
    }
    stream.response().await;
    assert_eq!(scene.metric("dropped_notifications_total"), 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_is_not_waited_for_for_ever() {
    let timeouts = Timeouts { slow_client: Duration::from_secs(3), ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..calm(ProcessModel::PerSession) });
    let client = scene.client().await;
    let mut process = scene.process().await;
    let unread = client.ask_into(CALL, SMALL);
    let request = process.expect("tools/call").await;
    for step in 0..6 {
        progress(&process, &request, step).await;
    }
    process.answer(&request, json!({})).await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(drained(&unread).len(), 5);
    assert_eq!(scene.metric("dropped_notifications_total"), 2);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_there_is_not_waited_for() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let mailbox = Mailbox::new(SMALL);
    client.session.receive(parse(CALL), &mailbox);
    let request = process.expect("tools/call").await;
    let before = tokio::time::Instant::now();
    for step in 0..100 {
        progress(&process, &request, step).await;
    }
    // What it asks next is answered without delay.
    let stream = client.call(2, "echo");
    let next = process.expect("tools/call").await;
    process.answer(&next, json!({})).await;
    stream.response().await;
    assert_eq!(before, tokio::time::Instant::now());
    assert_eq!(scene.metric("dropped_notifications_total"), 96);
    // It comes back, and finds its answer.
    process.answer(&request, json!({})).await;
    settle().await;
    let messages = drained(&Stream::attached(mailbox));
    assert_eq!(messages.last().map(|(kind, _)| *kind), Some(OutgoingKind::Response));
    scene.end().await;
}
