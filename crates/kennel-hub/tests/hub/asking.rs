//! Requests of a process to its clients: to the one it can be for, answered by that one only, or refused.

use crate::support::{Scene, calm};
use kennel_hub::{Limits, ProcessModel};
use serde_json::{Value, json};

fn able() -> Value {
    json!({ "sampling": {}, "elicitation": {}, "roots": {} })
}

/// The next answer of a client that the process hears.
async fn heard(process: &mut crate::support::Process) -> Value {
    serde_json::from_str(&process.line().await.expect("a line")).expect("a message")
}

#[tokio::test(start_paused = true)]
async fn the_only_client_at_work_is_asked_and_nobody_else_can_answer() {
    for model in [ProcessModel::Shared, ProcessModel::PerUser] {
        let scene = Scene::new(calm(model));
        let (worker, other) = (scene.guest("local", able()).await, scene.guest("local", able()).await);
        let mut process = scene.process().await;
        let stream = worker.call(1, "echo");
        let call = process.expect("tools/call").await;
        process
            .ask(json!("q"), "sampling/createMessage", json!({ "messages": [], "_meta": { "progressToken": "p" } }))
            .await;
        let asked = stream.request().await;
        assert_eq!(asked["method"], "sampling/createMessage");
        assert_eq!(asked["params"]["_meta"]["progressToken"], asked["id"]);
        other.unsolicited.is_quiet().await;
        let answer = |text: &str| json!({ "jsonrpc": "2.0", "id": asked["id"], "result": text }).to_string();
        other.tell(&answer("stolen"));
        other.notify("notifications/progress", json!({ "progressToken": asked["id"], "progress": 1 }));
        process.hears_nothing().await;
        worker.notify("notifications/progress", json!({ "progressToken": asked["id"], "progress": 2 }));
        let progress = process.expect("notifications/progress").await;
        assert_eq!(progress["params"], json!({ "progressToken": "p", "progress": 2 }));
        worker.tell(&answer("mine"));
        assert_eq!(heard(&mut process).await, json!({ "jsonrpc": "2.0", "id": "q", "result": "mine" }));
        // One question has one answer.
        worker.tell(&answer("again"));
        process.hears_nothing().await;
        process.answer(&call, json!({})).await;
        stream.response().await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_may_be_for_several_or_for_nobody_is_refused() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (one, other) = (scene.guest("one", able()).await, scene.guest("other", able()).await);
    let mut process = scene.process().await;
    // Nobody is at work.
    process.ask(json!(0), "elicitation/create", json!({})).await;
    let refusal = heard(&mut process).await;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(0), &json!(-32603)));
    // Two are.
    let streams = [one.call(1, "echo"), other.call(1, "echo")];
    let calls = [process.expect("tools/call").await, process.expect("tools/call").await];
    process.ask(json!(0), "elicitation/create", json!({})).await;
    assert_eq!(heard(&mut process).await["error"]["code"], -32603);
    // One is again.
    process.answer(&calls[0], json!({})).await;
    streams[0].response().await;
    process.ask(json!(0), "elicitation/create", json!({})).await;
    assert_eq!(streams[1].request().await["method"], "elicitation/create");
    one.unsolicited.is_quiet().await;
    other.unsolicited.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_is_asked_only_for_what_it_can_do() {
    for model in [ProcessModel::Shared, ProcessModel::PerSession, ProcessModel::PerCall] {
        let scene = Scene::new(calm(model));
        let client = scene.guest("local", json!({ "elicitation": {} })).await;
        let mut process = scene.process().await;
        let stream = client.call(1, "echo");
        if model == ProcessModel::PerCall {
            process = scene.process().await;
        }
        process.expect("tools/call").await;
        for method in ["sampling/createMessage", "roots/list"] {
            process.ask(json!(method), method, json!({})).await;
            let refusal = heard(&mut process).await;
            assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(method), &json!(-32601)));
        }
        process.ask(json!("e"), "elicitation/create", json!({})).await;
        assert_eq!(stream.request().await["method"], "elicitation/create");
        client.unsolicited.is_quiet().await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_ping_of_a_process_is_answered_whoever_is_there() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let client = scene.client().await;
    let mut process = scene.process().await;
    process.ask(json!(0), "ping", json!({})).await;
    assert_eq!(heard(&mut process).await, json!({ "jsonrpc": "2.0", "id": 0, "result": {} }));
    client.unsolicited.is_quiet().await;
    let stream = client.request(5, "ping", json!({}));
    assert_eq!(stream.response().await, json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    process.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_withdrawn_is_withdrawn_from_the_client() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.guest("local", able()).await;
    let mut process = scene.process().await;
    process.ask(json!(0), "roots/list", json!({})).await;
    let asked = client.unsolicited.request().await;
    process.notify("notifications/cancelled", json!({ "requestId": 0, "reason": "enough" })).await;
    let cancelled = client.unsolicited.notification().await;
    assert_eq!(cancelled["params"], json!({ "requestId": asked["id"], "reason": "enough" }));
    client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} }).to_string());
    process.hears_nothing().await;
    // And by the end of the process.
    process.ask(json!(0), "roots/list", json!({})).await;
    let asked = client.unsolicited.request().await;
    process.die().await;
    let cancelled = client.unsolicited.notification().await;
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked["id"])
    );
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_client_that_left_was_asked_is_refused() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let client = scene.guest("local", able()).await;
    let mut process = scene.process().await;
    let stream = client.call(1, "echo");
    process.expect("tools/call").await;
    process.ask(json!("q"), "elicitation/create", json!({})).await;
    stream.request().await;
    client.session.close();
    process.expect("notifications/cancelled").await;
    let refusal = heard(&mut process).await;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("q"), &json!(-32603)));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn unanswered_questions_are_bounded() {
    let limits = Limits { server_requests: 3, ..Limits::default() };
    let scene = Scene::new(crate::support::Plan { limits, ..calm(ProcessModel::PerSession) });
    let client = scene.guest("local", able()).await;
    let mut process = scene.process().await;
    let mut asked = Vec::new();
    for id in 0..3 {
        process.ask(json!(id), "roots/list", json!({})).await;
        asked.push(client.unsolicited.request().await);
    }
    process.ask(json!("more"), "roots/list", json!({})).await;
    let refusal = heard(&mut process).await;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("more"), &json!(-31004)));
    client
        .tell(&json!({ "jsonrpc": "2.0", "id": asked[1]["id"], "error": { "code": 1, "message": "no" } }).to_string());
    assert_eq!(heard(&mut process).await["id"], 1);
    process.ask(json!("then"), "roots/list", json!({})).await;
    client.unsolicited.request().await;
    scene.end().await;
}
