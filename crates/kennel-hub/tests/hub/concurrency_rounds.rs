//! What has a place with a process that gets so many requests at once, and what needs none: calls that ask their clients keep
//! theirs, and whatever is no work of a client passes.

use crate::callers::{answer, ask, request, with};
use crate::concurrency::{call, hears, hears_no_call, narrow};
use crate::support::{Plan, Profile, Scene, settle};
use kennel_hub::{Caller, Principal, ProcessModel};
use kennel_wire::Era;
use serde_json::{Value, json};

fn modern() -> Scene {
    let plan = Plan { era: Some(Era::Modern), ..narrow(ProcessModel::Shared, 1) };
    Scene::with(plan, |_| Profile::modern(json!({ "tools": {}, "logging": {}, "resources": { "subscribe": true } })))
}

fn complete() -> Value {
    json!({ "resultType": "complete", "content": [] })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_its_client_keeps_its_place() {
    let scene = Scene::new(narrow(ProcessModel::Shared, 1));
    let client = scene.guest("ann", json!({ "elicitation": {} })).await;
    let mut process = scene.process().await;
    let (first, second) = (call(&client, 1), call(&client, 2));
    let request = hears(&mut process, 1).await;
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?" })).await;
    let question = first.request().await;
    process.hears_nothing().await;
    // Its answer needs no place.
    client.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } }).to_string());
    assert!(process.line().await.unwrap().contains("accept"));
    process.hears_nothing().await;
    process.answer(&request, json!({})).await;
    first.response().await;
    let request = hears(&mut process, 2).await;
    process.answer(&request, json!({})).await;
    second.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_modern_process_answers_with_a_question_keeps_its_place() {
    let scene = modern();
    let client = scene.guest("ann", json!({ "elicitation": {} })).await;
    let mut process = scene.process().await;
    // Asked and made again, asked in vain, asked and cancelled, asked what the client cannot answer: the next goes each time.
    let streams: Vec<_> = (1..6).map(|number| call(&client, number)).collect();
    let asks = |method: &str| {
        let asked = json!({ "q": { "method": method, "params": {} } });
        json!({ "resultType": "input_required", "inputRequests": asked, "requestState": "s" })
    };
    let reply = |question: &Value, said: Value| {
        let mut message = json!({ "jsonrpc": "2.0", "id": question["id"] });
        message.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        client.tell(&message.to_string());
    };
    let first = hears(&mut process, 1).await;
    process.answer(&first, asks("elicitation/create")).await;
    let question = streams[0].request().await;
    hears_no_call(&mut process).await;
    reply(&question, json!({ "result": { "action": "accept" } }));
    let again = hears(&mut process, 1).await;
    assert_eq!(again["params"]["requestState"], "s");
    hears_no_call(&mut process).await;
    process.answer(&again, complete()).await;
    streams[0].response().await;

    let second = hears(&mut process, 2).await;
    process.answer(&second, asks("elicitation/create")).await;
    let question = streams[1].request().await;
    hears_no_call(&mut process).await;
    reply(&question, json!({ "error": { "code": -1, "message": "no" } }));
    streams[1].error(-1).await;

    let third = hears(&mut process, 3).await;
    process.answer(&third, asks("elicitation/create")).await;
    streams[2].request().await;
    hears_no_call(&mut process).await;
    client.notify("notifications/cancelled", json!({ "requestId": 3 }));

    let fourth = hears(&mut process, 4).await;
    process.answer(&fourth, asks("sampling/createMessage")).await;
    streams[3].error(-32603).await;

    let fifth = hears(&mut process, 5).await;
    let sixth = call(&client, 6);
    hears_no_call(&mut process).await;
    process.answer(&fifth, complete()).await;
    let request = hears(&mut process, 6).await;
    process.answer(&request, complete()).await;
    sixth.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_client_to_come_back_keeps_its_place_until_the_process_is_done() {
    let scene = Scene::new(narrow(ProcessModel::Shared, 1));
    let caller = Caller::new(Principal::new("ann"));
    let able = json!({ "elicitation": {} });
    let (asked, mailbox) = ask(&scene, &caller, request(1, "tools/call", &able));
    let mut process = scene.process().await;
    let first = process.expect("tools/call").await;
    process.ask(json!("q"), "elicitation/create", json!({ "message": "name?" })).await;
    let question = answer(&mailbox).await;
    asked.answered();
    let (next, next_mailbox) = ask(&scene, &caller, request(2, "tools/call", &able));
    let (last, last_mailbox) = ask(&scene, &caller, request(3, "tools/call", &able));
    process.hears_nothing().await;
    // It has its answer without what it asked: nothing is to do any more, although nobody has come for it.
    process.answer(&first, json!({ "content": [] })).await;
    let second = process.expect("tools/call").await;
    process.hears_nothing().await;
    // Whoever comes for it gets it, without a place, and takes none from others.
    let further = json!({ "requestState": question["result"]["requestState"], "inputResponses": {} });
    let (back, back_mailbox) = ask(&scene, &caller, with(request(4, "tools/call", &able), &further));
    assert_eq!(answer(&back_mailbox).await["result"]["resultType"], "complete");
    back.answered();
    process.hears_nothing().await;
    process.answer(&second, json!({ "content": [] })).await;
    assert_eq!(answer(&next_mailbox).await["id"], 2);
    next.answered();
    let third = process.expect("tools/call").await;
    process.answer(&third, json!({ "content": [] })).await;
    assert_eq!(answer(&last_mailbox).await["id"], 3);
    last.answered();
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_work_of_a_client_passes() {
    let scene = Scene::new(narrow(ProcessModel::Shared, 1));
    let client = scene.guest("ann", json!({})).await;
    let mut process = scene.process().await;
    let (_first, _second) = (call(&client, 1), call(&client, 2));
    let first = hears(&mut process, 1).await;
    assert_eq!(client.request(3, "ping", json!({})).response().await["result"], json!({}));
    // What Kennel wants to know, also while others have all places.
    process.notify("notifications/tools/list_changed", json!({})).await;
    let survey = process.expect("tools/list").await;
    process.answer(&survey, crate::support::tools(&["echo"])).await;
    process.ask(json!(7), "ping", json!({})).await;
    assert!(process.line().await.unwrap().contains("\"id\":7"));
    process.hears_nothing().await;
    process.answer(&first, json!({})).await;
    hears(&mut process, 2).await;
    scene.end().await;
}

/// A task is cancelled although the request for its result has the only place.
#[tokio::test(start_paused = true)]
async fn what_ends_work_under_way_does_not_wait_for_it() {
    let scene = Scene::new(narrow(ProcessModel::PerSession, 1));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let params = json!({ "taskId": "t" });
    let result = client.request(1, "tasks/result", params.clone());
    let asked = process.expect("tasks/result").await;
    let waiting = call(&client, 2);
    let cancel = client.request(3, "tasks/cancel", params);
    let cancelled = process.expect("tasks/cancel").await;
    process.answer(&cancelled, json!({ "taskId": "t", "status": "cancelled" })).await;
    cancel.response().await;
    // It had no place to give away.
    process.hears_nothing().await;
    process.fail(&asked, -32603).await;
    result.error(-32603).await;
    hears(&mut process, 2).await;
    waiting.is_quiet().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_without_the_process_needs_no_place() {
    let scene = modern();
    let client = scene.client().await;
    let mut process = scene.process().await;
    let (_first, _second) = (call(&client, 1), call(&client, 2));
    let first = hears(&mut process, 1).await;
    let subscribed = client.request(3, "resources/subscribe", json!({ "uri": "test://a" }));
    assert_eq!(subscribed.response().await["result"], json!({}));
    let level = client.request(4, "logging/setLevel", json!({ "level": "error" }));
    assert_eq!(level.response().await["result"], json!({}));
    hears_no_call(&mut process).await;
    process.answer(&first, complete()).await;
    hears(&mut process, 2).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn streams_of_changes_need_no_place() {
    let scene = modern();
    let caller = Caller::new(Principal::new("ann"));
    let (_work, _nobody) = ask(&scene, &caller, request(1, "tools/call", &json!({})));
    let mut process = scene.process().await;
    process.hears("tools/call").await;
    let filter = json!({ "notifications": { "resourceSubscriptions": ["test://a"] } });
    let listen = with(request(2, "subscriptions/listen", &json!({})), &filter);
    let (_stream, _changes) = ask(&scene, &caller, listen);
    settle().await;
    process.hears("subscriptions/listen").await;
    let (_other, _nobody) = ask(&scene, &caller, request(3, "tools/call", &json!({})));
    hears_no_call(&mut process).await;
    scene.end().await;
}
