//! Clients with sessions and modern processes: what the process asks for is asked of the client, and the request is made
//! again.

use crate::support::{Plan, Process, Profile, Scene, calm};
use kennel_hub::{Limits, ProcessModel};
use kennel_wire::{Era, meta};
use serde_json::{Value, json};

fn scene(model: ProcessModel) -> Scene {
    let mut plan = calm(model);
    plan.era = Some(Era::Modern);
    let capabilities = json!({ "tools": {}, "logging": {}, "resources": { "subscribe": true } });
    Scene::with(plan, move |_| Profile::modern(capabilities.clone()))
}

fn complete(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

async fn hears_no_call(process: &mut Process) {
    crate::support::settle().await;
    while let Some(line) = process.try_line() {
        assert!(!line.contains("tools/call"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_introduced_in_the_words_of_the_client() {
    let scene = scene(ProcessModel::PerSession);
    let client = scene.introduce("ann", "2025-06-18", json!({ "roots": {} })).await;
    let said = &client.introduction["result"];
    assert_eq!(said["protocolVersion"], "2025-06-18");
    assert_eq!(said["serverInfo"], json!({ "name": "fake", "version": "1" }));
    assert_eq!(said["capabilities"]["tools"], json!({ "listChanged": true }));
    let mut process = scene.process().await;
    let introduction = process.introduction().await;
    assert_eq!(introduction["_meta"][meta::PROTOCOL_VERSION], "2026-07-28");
    assert_eq!(introduction["_meta"][meta::CLIENT_CAPABILITIES], json!({ "roots": {} }));
    let stream = client.call(5, "echo");
    let call = process.hears("tools/call").await;
    assert_eq!(call["params"]["name"], "echo");
    assert_eq!(call["params"]["_meta"][meta::CLIENT_CAPABILITIES], json!({ "roots": {} }));
    process.answer(&call, complete("hi")).await;
    let answer = stream.response().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(5), &json!("hi")));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_process_asks_for_is_asked_and_brought() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared, ProcessModel::PerUser, ProcessModel::PerCall] {
        let scene = scene(model);
        let client = scene.guest("ann", json!({ "elicitation": {} })).await;
        let other = scene.guest("ann", json!({ "elicitation": {} })).await;
        let stream = client.call(1, "echo");
        let (mut process, first) = scene.process_that_hears("tools/call").await;
        let beside = other.call(1, "echo");
        let asked = json!({
            "who": { "method": "elicitation/create", "params": { "message": "name?" } },
            "what": { "method": "elicitation/create", "params": { "message": "age?" } },
        });
        let question = json!({ "resultType": "input_required", "inputRequests": asked, "requestState": "s1" });
        process.answer(&first, question).await;
        let questions = [stream.request().await, stream.request().await];
        // Another client has been asked nothing and answers nothing.
        other.tell(&json!({ "jsonrpc": "2.0", "id": questions[0]["id"], "result": { "action": "mine" } }).to_string());
        beside.is_quiet().await;
        for question in questions.iter().rev() {
            let result = json!({ "action": question["params"]["message"] });
            client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string());
        }
        let mut second = process.hears("tools/call").await;
        if second["params"].get("requestState").is_none() {
            // That of the other client, where they share the process.
            second = process.hears("tools/call").await;
        }
        let brought = json!({ "who": { "action": "name?" }, "what": { "action": "age?" } });
        assert_eq!(second["params"]["inputResponses"], brought);
        assert_eq!((&second["params"]["requestState"], &second["params"]["name"]), (&json!("s1"), &json!("echo")));
        assert_ne!(second["id"], first["id"]);
        process.answer(&second, json!({ "resultType": "input_required", "requestState": "s2" })).await;
        let third = process.hears("tools/call").await;
        assert_eq!((&third["params"]["requestState"], third["params"].get("inputResponses")), (&json!("s2"), None));
        process.answer(&third, complete("done")).await;
        assert_eq!(stream.response().await["result"]["content"][0]["text"], "done");
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_no_ends_the_request() {
    let scene = scene(ProcessModel::PerSession);
    let client = scene.guest("ann", json!({ "elicitation": {} })).await;
    let mut process = scene.process().await;
    let stream = client.call(1, "echo");
    let asked = json!({ "who": { "method": "elicitation/create", "params": {} } });
    let call = process.hears("tools/call").await;
    process.answer(&call, json!({ "resultType": "input_required", "inputRequests": asked })).await;
    let question = stream.request().await;
    let error = json!({ "code": -1, "message": "never" });
    client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }).to_string());
    assert_eq!(stream.response().await, json!({ "jsonrpc": "2.0", "id": 1, "error": error }));
    // One that it cannot be asked ends it as well.
    let stream = client.call(2, "echo");
    let asked = json!({ "where": { "method": "roots/list" } });
    let call = process.hears("tools/call").await;
    process.answer(&call, json!({ "resultType": "input_required", "inputRequests": asked })).await;
    let answer = stream.error(-32603).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("roots/list"), "{answer}");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_asks_without_end_is_left() {
    let scene = scene(ProcessModel::PerSession);
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.call(1, "echo");
    for _ in 0..33 {
        let call = process.hears("tools/call").await;
        process.answer(&call, json!({ "resultType": "input_required", "requestState": "s" })).await;
    }
    assert!(stream.error(-32603).await["error"]["message"].as_str().unwrap().contains("given up"));
    hears_no_call(&mut process).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_cancelled_while_the_client_was_asked_is_not_made_again() {
    let limits = Limits { server_requests: 1, ..Limits::default() };
    let plan = Plan { era: Some(Era::Modern), limits, ..calm(ProcessModel::PerSession) };
    let scene = Scene::with(plan, |_| Profile::modern(json!({ "tools": {} })));
    let client = scene.guest("ann", json!({ "elicitation": {} })).await;
    let mut process = scene.process().await;
    crate::support::settle().await;
    let before = scene.metric("requests_in_flight");
    let stream = client.call(1, "echo");
    let asked = json!({ "who": { "method": "elicitation/create", "params": {} } });
    let call = process.hears("tools/call").await;
    process.answer(&call, json!({ "resultType": "input_required", "inputRequests": asked })).await;
    let question = stream.request().await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": {} }).to_string());
    hears_no_call(&mut process).await;
    assert_eq!(scene.metric("requests_in_flight"), before);
    // Nor does what it was asked stay noted, answered or not: there is room for another question.
    for id in [2, 3] {
        let stream = client.call(id, "echo");
        let call = process.hears("tools/call").await;
        let asked = json!({ "who": { "method": "elicitation/create", "params": {} } });
        process.answer(&call, json!({ "resultType": "input_required", "inputRequests": asked })).await;
        stream.request().await;
        client.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_level_goes_with_each_request() {
    let scene = scene(ProcessModel::PerSession);
    let client = scene.client().await;
    let mut process = scene.process().await;
    let set = client.request(1, "logging/setLevel", json!({ "level": "error" }));
    assert_eq!(set.response().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    let stream = client.call(2, "echo");
    let call = process.hears("tools/call").await;
    assert_eq!(call["params"]["_meta"][meta::LOG_LEVEL], "error");
    process.notify("notifications/message", json!({ "level": "error", "data": "x" })).await;
    assert_eq!(stream.notification().await["params"]["data"], "x");
    process.answer(&call, complete("done")).await;
    stream.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn subscriptions_become_a_stream_of_kennels_own() {
    let scene = scene(ProcessModel::Shared);
    let client = scene.client().await;
    let mut process = scene.process().await;
    let first = process.hears("subscriptions/listen").await;
    assert_eq!(first["params"]["notifications"]["toolsListChanged"], true);
    let subscribed = client.request(1, "resources/subscribe", json!({ "uri": "a:b" }));
    assert_eq!(subscribed.response().await["result"], json!({}));
    let second = process.hears("subscriptions/listen").await;
    assert_eq!(second["params"]["notifications"]["resourceSubscriptions"], json!(["a:b"]));
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], first["id"]);
    let about = json!({ meta::SUBSCRIPTION_ID: second["id"] });
    process.notify("notifications/subscriptions/acknowledged", json!({ "_meta": about, "notifications": {} })).await;
    process.notify("notifications/resources/updated", json!({ "_meta": about, "uri": "a:b" })).await;
    let updated = client.unsolicited.notification().await;
    assert_eq!(
        updated,
        json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "a:b" } })
    );
    process.notify("notifications/tools/list_changed", json!({ "_meta": about })).await;
    assert_eq!(client.unsolicited.notification().await["method"], "notifications/tools/list_changed");
    let unsubscribed = client.request(2, "resources/unsubscribe", json!({ "uri": "a:b" }));
    assert_eq!(unsubscribed.response().await["result"], json!({}));
    let third = process.hears("subscriptions/listen").await;
    assert_eq!(third["params"]["notifications"].get("resourceSubscriptions"), None);
    // A new process hears it again.
    client.request(3, "resources/subscribe", json!({ "uri": "c:d" })).response().await;
    process.hears("subscriptions/listen").await;
    process.die().await;
    let mut process = scene.process().await;
    let again = process.hears("subscriptions/listen").await;
    assert_eq!(again["params"]["notifications"]["resourceSubscriptions"], json!(["c:d"]));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_process_has_asked_before_it_died_is_still_answered() {
    let scene = scene(ProcessModel::PerSession);
    let client = scene.guest("ann", json!({ "elicitation": {} })).await;
    let mut process = scene.process().await;
    let stream = client.call(1, "echo");
    let asked = json!({ "who": { "method": "elicitation/create", "params": {} } });
    let call = process.hears("tools/call").await;
    process.answer(&call, json!({ "resultType": "input_required", "inputRequests": asked, "requestState": "s" })).await;
    let question = stream.request().await;
    process.die().await;
    let mut process = scene.process().await;
    crate::support::settle().await;
    // States are for any process of the server.
    client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } }).to_string());
    let again = process.hears("tools/call").await;
    assert_eq!(again["params"]["requestState"], "s");
    process.answer(&again, complete("done")).await;
    assert_eq!(stream.response().await["result"]["content"][0]["text"], "done");
    scene.end().await;
}
