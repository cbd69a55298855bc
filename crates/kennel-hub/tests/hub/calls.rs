//! Processes that serve one call or one session: each has its own, and it goes when they go.

use crate::support::{Profile, Scene, calm, settle};
use kennel_hub::{Limits, Mailbox, MailboxLimits, OutgoingKind, ProcessModel, Timeouts};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn each_call_has_a_process_that_ends_with_it() {
    let scene = Scene::new(calm(ProcessModel::PerCall));
    let client = scene.client().await;
    let mut catalog = scene.process().await;
    let streams = [client.call(1, "echo"), client.call(1, "echo")];
    let mut processes = [scene.process().await, scene.process().await];
    for process in &mut processes {
        let request = process.expect("tools/call").await;
        process.notify("notifications/message", json!({ "level": "info", "data": process.number })).await;
        process.answer(&request, json!({ "process": process.number })).await;
    }
    for (stream, process) in streams.iter().zip(processes) {
        assert_eq!(stream.notification().await["params"]["data"], process.number);
        assert_eq!(stream.response().await["result"]["process"], process.number);
        process.ended().await;
    }
    settle().await;
    catalog.hears_nothing().await;
    assert_eq!((scene.engine.live(), scene.hub.status().instances.len()), (1, 1), "the one for lists is left");
    // Lists need no process of their own.
    let stream = client.request(3, "tools/list", json!({}));
    let request = catalog.expect("tools/list").await;
    catalog.answer(&request, json!({ "tools": [] })).await;
    stream.response().await;
    scene.starts_nothing().await;
    // Nor does what is answered without one.
    client.request(4, "resources/subscribe", json!({ "uri": "test://a" })).error(-32602).await;
    client.request(4, "resources/read", json!({ "uri": "kennel://results/1" })).error(-32002).await;
    client.request(4, "tools/call", json!({ "name": "echo", "task": {} })).error(-32602).await;
    scene.starts_nothing().await;
    assert_eq!(scene.hub.status().instances.len(), 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_ends_a_call_ends_its_process() {
    let timeouts = Timeouts { inactivity: Duration::from_secs(10), ..Timeouts::default() };
    let scene = Scene::new(crate::support::Plan { timeouts, ..calm(ProcessModel::PerCall) });
    let client = scene.client().await;
    let _catalog = scene.process().await;
    // A cancellation.
    let stream = client.call(1, "echo");
    let mut process = scene.process().await;
    let request = process.expect("tools/call").await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], request["id"]);
    assert_eq!(stream.outgoing().await.kind, OutgoingKind::Withdrawn);
    process.ended().await;
    // Its own end.
    let stream = client.call(1, "echo");
    let mut process = scene.process().await;
    process.expect("tools/call").await;
    process.die().await;
    stream.error(-31001).await;
    // Silence.
    let stream = client.call(1, "echo");
    let process = scene.process().await;
    stream.error(-31003).await;
    process.ended().await;
    // An error.
    let stream = client.call(1, "echo");
    let mut process = scene.process().await;
    let request = process.expect("tools/call").await;
    process.fail(&request, -32000).await;
    stream.error(-32000).await;
    process.ended().await;
    settle().await;
    assert_eq!((scene.engine.live(), scene.hub.status().instances.len()), (1, 1));
    // The end of the session.
    let stream = client.call(1, "echo");
    let process = scene.process().await;
    settle().await;
    client.session.close();
    stream.error(-31002).await;
    process.ended().await;
    settle().await;
    assert_eq!((scene.engine.live(), scene.hub.status().instances.len()), (0, 0));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_process_is_never_ready_leaves_none() {
    let timeouts = Timeouts { start: Duration::from_secs(10), ..Timeouts::default() };
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let scene = Scene::with(crate::support::Plan { timeouts, ..calm(ProcessModel::PerCall) }, profile);
    let client = scene.client().await;
    let _catalog = scene.process().await;
    client.call(1, "echo").error(-31003).await;
    scene.process().await.ended().await;
    settle().await;
    assert_eq!(scene.hub.status().instances.len(), 1);
    scene.end().await;
}

/// What Kennel tells and asks the process of a call does not keep it when the call is over.
#[tokio::test(start_paused = true)]
async fn a_process_goes_with_its_call_whatever_kennel_asked_it() {
    let scene = Scene::new(calm(ProcessModel::PerCall));
    let client = scene.client().await;
    let mut catalog = scene.process().await;
    let stream = client.request(1, "logging/setLevel", json!({ "level": "error" }));
    let request = catalog.expect("logging/setLevel").await;
    catalog.answer(&request, json!({})).await;
    stream.response().await;
    let stream = client.call(1, "echo");
    let mut process = scene.process().await;
    assert_eq!(process.expect("logging/setLevel").await["params"]["level"], "error");
    let request = process.expect("tools/call").await;
    process.notify("notifications/tools/list_changed", json!({})).await;
    process.expect("tools/list").await;
    // Neither was answered, nor given up.
    let before = tokio::time::Instant::now();
    process.answer(&request, json!({})).await;
    stream.response().await;
    process.ended().await;
    assert!(before.elapsed() < Timeouts::default().inactivity);
    settle().await;
    assert_eq!(scene.hub.status().instances.len(), 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn questions_of_several_processes_to_one_client_have_their_own_answers() {
    let scene = Scene::new(calm(ProcessModel::PerCall));
    let client = scene.guest("local", json!({ "elicitation": {} })).await;
    let _catalog = scene.process().await;
    let streams = [client.call(1, "echo"), client.call(2, "echo")];
    let mut processes = [scene.process().await, scene.process().await];
    let mut asked = Vec::new();
    for (process, stream) in processes.iter_mut().zip(&streams) {
        process.expect("tools/call").await;
        process.ask(json!(0), "elicitation/create", json!({})).await;
        asked.push(stream.request().await["id"].clone());
    }
    assert_ne!(asked[0], asked[1]);
    client.tell(&json!({ "jsonrpc": "2.0", "id": asked[1], "result": "for the second" }).to_string());
    let heard: Value = serde_json::from_str(&processes[1].line().await.unwrap()).unwrap();
    assert_eq!(heard, json!({ "jsonrpc": "2.0", "id": 0, "result": "for the second" }));
    processes[0].hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_processes_of_calls_are_bounded() {
    let limits = Limits { instances: 2, ..Limits::default() };
    let scene = Scene::new(crate::support::Plan { limits, ..calm(ProcessModel::PerCall) });
    let client = scene.client().await;
    let _catalog = scene.process().await;
    let stream = client.call(1, "echo");
    let mut process = scene.process().await;
    let request = process.expect("tools/call").await;
    client.call(2, "echo").error(-31004).await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    process.ended().await;
    settle().await;
    client.call(3, "echo");
    scene.process().await.expect("tools/call").await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_takes_its_process_along() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let (closed, dropped, stays) = (scene.client().await, scene.client().await, scene.client().await);
    let processes = [scene.process().await, scene.process().await];
    let mut other = scene.process().await;
    let mailbox = std::sync::Arc::clone(&closed.unsolicited.mailbox);
    closed.session.close();
    drop(dropped);
    for process in processes {
        process.ended().await;
    }
    assert!(mailbox.next().await.is_none(), "nothing will come any more");
    let stream = stays.call(1, "echo");
    let request = other.expect("tools/call").await;
    other.answer(&request, json!({})).await;
    stream.response().await;
    assert_eq!((scene.engine.live(), scene.hub.status().sessions), (1, 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_hub_answers_everything_and_lets_nothing_in() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession, ProcessModel::PerCall, ProcessModel::PerUser] {
        let scene = Scene::new(calm(model));
        let client = scene.client().await;
        let stream = client.call(1, "echo");
        settle().await;
        scene.hub.shutdown().await;
        stream.error(-31002).await;
        stream.is_quiet().await;
        client.call(2, "echo").error(-31002).await;
        let refused = scene.try_introduce("local", "2025-11-25", json!({})).await;
        assert!(refused.is_err());
        let mailbox = Mailbox::new(MailboxLimits::default());
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
        scene.hub.call(
            &kennel_hub::Caller::new(kennel_hub::Principal::new("late")),
            crate::support::parse(request),
            &mailbox,
        );
        assert_eq!(mailbox.next().await.unwrap().kind, OutgoingKind::Response);
        scene.end().await;
    }
}
