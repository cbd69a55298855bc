//! Log messages: the process is told the most talkative level, and each client hears what it wants and may hear.

use crate::support::{Guest, Process, Scene, calm};
use kennel_hub::ProcessModel;
use serde_json::json;

async fn set(client: &Guest, process: &mut Process, level: &str, told: &str) {
    let stream = client.request(1, "logging/setLevel", json!({ "level": level }));
    let request = process.expect("logging/setLevel").await;
    assert_eq!(request["params"]["level"], told);
    process.answer(&request, json!({})).await;
    assert_eq!(stream.response().await["result"], json!({}));
}

/// Sets a level that the process need not be told.
async fn set_quietly(client: &Guest, process: &mut Process, level: &str) {
    let stream = client.request(1, "logging/setLevel", json!({ "level": level }));
    assert_eq!(stream.response().await["result"], json!({}));
    process.hears_nothing().await;
}

async fn log(process: &Process, level: &str) {
    process.notify("notifications/message", json!({ "level": level, "data": level })).await;
}

#[tokio::test(start_paused = true)]
async fn the_process_is_told_the_most_talkative_level_and_clients_hear_their_own() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (one, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    set(&one, &mut process, "warning", "warning").await;
    set_quietly(&other, &mut process, "error").await;
    set(&other, &mut process, "info", "info").await;
    for level in ["debug", "info", "warning"] {
        log(&process, level).await;
    }
    assert_eq!(one.unsolicited.notification().await["params"]["level"], "warning");
    one.unsolicited.is_quiet().await;
    for level in ["info", "warning"] {
        assert_eq!(other.unsolicited.notification().await["params"]["level"], level);
    }
    other.unsolicited.is_quiet().await;
    // The one that wanted most wants less: so does the other.
    set(&other, &mut process, "critical", "warning").await;
    set(&one, &mut process, "emergency", "critical").await;
    set(&one, &mut process, "debug", "debug").await;
    // And when it leaves.
    one.session.close();
    assert_eq!(process.expect("logging/setLevel").await["params"]["level"], "critical");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn levels_that_are_set_at_once_end_with_the_most_talkative() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (one, other) = (scene.client().await, scene.client().await);
    let mut process = scene.process().await;
    let streams = [
        one.request(1, "logging/setLevel", json!({ "level": "debug" })),
        other.request(1, "logging/setLevel", json!({ "level": "error" })),
    ];
    let requests = [process.expect("logging/setLevel").await, process.expect("logging/setLevel").await];
    assert_eq!(requests[1]["params"]["level"], "error");
    for (request, stream) in requests.iter().zip(&streams) {
        process.answer(request, json!({})).await;
        stream.response().await;
    }
    assert_eq!(process.expect("logging/setLevel").await["params"]["level"], "debug");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_alone_sets_what_it_likes() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let client = scene.client().await;
    let mut process = scene.process().await;
    for level in ["debug", "error", "info", "unheard of"] {
        set(&client, &mut process, level, level).await;
    }
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_level_that_the_process_refuses_does_not_hold() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let client = scene.client().await;
    let mut process = scene.process().await;
    let stream = client.request(1, "logging/setLevel", json!({ "level": "error" }));
    let request = process.expect("logging/setLevel").await;
    process.fail(&request, -32601).await;
    stream.error(-32601).await;
    log(&process, "debug").await;
    client.unsolicited.notification().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn log_messages_do_not_reach_other_principals() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    let (ann, bob) = (scene.guest("ann", json!({})).await, scene.guest("bob", json!({})).await);
    let mut process = scene.process().await;
    // Nobody knows whose it is.
    log(&process, "info").await;
    ann.unsolicited.is_quiet().await;
    bob.unsolicited.is_quiet().await;
    assert_eq!(scene.metric("dropped_notifications_total"), 1);
    // It is that of the only one at work.
    let stream = ann.call(1, "echo");
    process.expect("tools/call").await;
    log(&process, "info").await;
    assert_eq!(stream.notification().await["params"]["data"], "info");
    // Nobody knows again.
    let other = bob.call(1, "echo");
    process.expect("tools/call").await;
    log(&process, "info").await;
    process.notify("notifications/made/up", json!({ "secret": 1 })).await;
    for stream in [&stream, &other, &ann.unsolicited, &bob.unsolicited] {
        stream.is_quiet().await;
    }
    assert_eq!(scene.metric("dropped_notifications_total"), 3);
    scene.end().await;
}
