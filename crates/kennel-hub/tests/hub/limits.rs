//! Bounds: what is beyond them gets an error that says so, and the session goes on.

use crate::support::{Guest, Plan, Process, Profile, Scene, calm, settle};
use kennel_hub::{Limits, OutgoingKind, ProcessModel, RefusedReason};
use kennel_supervisor::Settings;
use serde_json::{Value, json};

fn limited(model: ProcessModel, limits: Limits) -> Plan {
    Plan { limits, ..calm(model) }
}

fn code(refused: &kennel_hub::Refused) -> Value {
    serde_json::from_slice::<Value>(&refused.response).unwrap()["error"]["code"].clone()
}

/// Makes a call and answers it, to see that all is well.
async fn works(client: &Guest, process: &mut Process) {
    let stream = client.call(1, "echo");
    let request = process.expect("tools/call").await;
    process.answer(&request, json!({})).await;
    assert_eq!(stream.response().await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn the_unanswered_requests_of_a_session_are_bounded() {
    let scene = Scene::new(limited(ProcessModel::Shared, Limits { session_requests: 3, ..Limits::default() }));
    let (client, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    let streams = [client.call(1, "echo"), client.call(2, "echo"), client.call(3, "echo")];
    let error = client.call(4, "echo").error(-31004).await;
    assert_eq!(error["id"], 4);
    assert!(error["error"]["message"].as_str().unwrap().contains("3 unanswered requests in this session"), "{error}");
    let mut requests = Vec::new();
    for _ in &streams {
        requests.push(process.expect("tools/call").await);
    }
    // Another session has its own bound, and each way to end a request makes room again.
    works(&other, &mut process).await;
    process.answer(&requests[0], json!({})).await;
    streams[0].response().await;
    works(&client, &mut process).await;
    client.notify("notifications/cancelled", json!({ "requestId": 2 }));
    process.expect("notifications/cancelled").await;
    works(&client, &mut process).await;
    let full = [client.call(5, "echo"), client.call(6, "echo")];
    client.call(7, "echo").error(-31004).await;
    process.die().await;
    for stream in &full {
        stream.error(-31001).await;
    }
    let mut process = scene.process().await;
    settle().await;
    works(&client, &mut process).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_requests_that_wait_for_a_process_are_bounded() {
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let plan = limited(ProcessModel::Shared, Limits { waiting_requests: 2, ..Limits::default() });
    let scene = Scene::with(plan, profile);
    let client = scene.client().await;
    scene.process().await.die().await;
    settle().await;
    let streams = [client.call(1, "echo"), client.call(2, "echo")];
    let error = client.call(3, "echo").error(-31004).await;
    assert!(error["error"]["message"].as_str().unwrap().contains("2 requests waiting"), "{error}");
    // One that is called off makes room.
    client.notify("notifications/cancelled", json!({ "requestId": 2 }));
    assert_eq!(streams[1].outgoing().await.kind, OutgoingKind::Withdrawn);
    let third = client.call(4, "echo");
    let mut process = scene.process().await;
    process.open().await;
    for stream in [&streams[0], &third] {
        let request = process.expect("tools/call").await;
        process.answer(&request, json!({})).await;
        stream.response().await;
    }
    process.hears_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_bytes_that_wait_for_a_process_are_bounded() {
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let plan = limited(ProcessModel::PerSession, Limits { message_bytes: 1000, ..Limits::default() });
    let scene = Scene::with(plan, profile);
    let client = scene.client().await;
    scene.process().await.die().await;
    settle().await;
    // The first one may be as large as it likes.
    let large = |length| json!({ "name": "echo", "arguments": "x".repeat(length) });
    let first = client.request(1, "tools/call", large(2000));
    let error = client.request(2, "tools/call", large(1)).error(-31004).await;
    assert!(error["error"]["message"].as_str().unwrap().contains("1000 bytes of requests waiting"), "{error}");
    for number in 0..10 {
        client.notify("notifications/roots/list_changed", json!({ "number": number, "x": "x".repeat(300) }));
    }
    let mut process = scene.process().await;
    process.open().await;
    for number in 0..2 {
        assert_eq!(process.expect("notifications/roots/list_changed").await["params"]["number"], number);
    }
    let request = process.expect("tools/call").await;
    process.answer(&request, json!({})).await;
    first.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn many_requests_that_waited_all_run() {
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let scene = Scene::with(calm(ProcessModel::Shared), profile);
    let clients = [scene.client().await, scene.client().await, scene.client().await];
    scene.process().await.die().await;
    settle().await;
    let streams: Vec<_> = (0..3000).map(|number| clients[number % 3].call(1, "echo")).collect();
    let mut process = scene.process().await;
    process.open().await;
    for stream in &streams {
        let request = process.expect("tools/call").await;
        process.answer(&request, json!({})).await;
        assert_eq!(stream.response().await["result"], json!({}));
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn sessions_and_processes_are_bounded() {
    let scene = Scene::new(limited(ProcessModel::Shared, Limits { sessions: 2, ..Limits::default() }));
    let (one, _two) = (scene.client().await, scene.client().await);
    let refused = scene.try_introduce("local", "2025-11-25", json!({})).await.expect_err("a refusal");
    assert!(matches!(refused.reason, RefusedReason::Saturated { .. }));
    assert_eq!(code(&refused), -31004);
    one.session.close();
    scene.client().await;
    scene.end().await;

    let scene = Scene::new(limited(ProcessModel::PerSession, Limits { instances: 1, ..Limits::default() }));
    let one = scene.client().await;
    let refused = scene.try_introduce("local", "2025-11-25", json!({})).await.expect_err("a refusal");
    assert!(matches!(refused.reason, RefusedReason::Saturated { .. }));
    assert_eq!((code(&refused), scene.hub.status().sessions), (json!(-31004), 1));
    one.session.close();
    scene.client().await;
    scene.end().await;
}

/// A user who has left keeps a process warm, but not in the way of others.
#[tokio::test(start_paused = true)]
async fn users_that_left_make_room_for_others() {
    let scene = Scene::new(limited(ProcessModel::PerUser, Limits { instances: 1, ..Limits::default() }));
    let ann = scene.guest("ann", json!({})).await;
    let mut process = scene.process().await;
    assert!(scene.try_introduce("bob", "2025-11-25", json!({})).await.is_err());
    ann.session.close();
    settle().await;
    assert_eq!(scene.engine.live(), 1, "for when she comes back");
    let ann = scene.guest("ann", json!({})).await;
    works(&ann, &mut process).await;
    drop(ann);
    scene.guest("bob", json!({})).await;
    process.ended().await;
    assert_eq!(scene.engine.started(), 2);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_is_an_error_to_its_caller() {
    let plan = limited(ProcessModel::PerSession, Limits { message_bytes: 2048, ..Limits::default() });
    let supervision = Settings { line_bytes: 5000, ..plan.supervision };
    let scene = Scene::new(Plan { supervision, ..plan });
    let client = scene.client().await;
    let mut process = scene.process().await;
    let long = format!("\"{}\"", "x".repeat(6000));
    for shape in [
        r#"{"jsonrpc":"2.0","id":@,"result":#}"#,
        r#"{"id":@,"jsonrpc":"2.0","error":{"data":#}}"#,
        r#" { "result" : # , "id" : @ , "jsonrpc" : "2.0" } "#,
        r#"{"jsonrpc":"2.0","result":{"id":12345,"x":#},"id":@}"#,
    ] {
        let (stream, other) = (client.call(8, "echo"), client.call(9, "echo"));
        let (request, untouched) = (process.expect("tools/call").await, process.expect("tools/call").await);
        process.say(shape.replace('@', &request["id"].to_string()).replace('#', &long)).await;
        let error = stream.error(-31005).await;
        assert_eq!(error["id"], 8);
        let text = error["error"]["message"].as_str().unwrap();
        assert!(text.contains("at most 2K pass") && text.contains("--max-message"), "{text}");
        other.is_quiet().await;
        process.answer(&untouched, json!({})).await;
        other.response().await;
    }
    // A request of the process, whatever its id, is no answer.
    let stream = client.call(8, "echo");
    let request = process.expect("tools/call").await;
    for shape in [
        r#"{"jsonrpc":"2.0","id":@,"method":"sampling/createMessage","params":[#]}"#,
        r#"{"jsonrpc":"2.0","method":"sampling/createMessage","params":[#],"id":@}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"x":#,"id":@}}"#,
    ] {
        process.say(shape.replace('@', &request["id"].to_string()).replace('#', &long)).await;
    }
    stream.is_quiet().await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    assert_eq!(scene.metric("noise_lines_total"), 7);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_message_is_an_error_to_its_caller() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.call(8, "echo");
    let request = process.expect("tools/call").await;
    process.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}},"error":{{}}}}"#, request["id"])).await;
    assert_eq!(stream.error(-32603).await["id"], 8);
    works(&client, &mut process).await;
    scene.end().await;
}
