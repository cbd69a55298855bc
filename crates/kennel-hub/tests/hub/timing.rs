//! Calls that take long: silence ends them, progress keeps them, and nothing keeps them for ever.

use crate::support::{Guest, Plan, Process, Scene, Stream, calm, settle};
use kennel_hub::{ProcessModel, Timeouts};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const SILENCE: Duration = Duration::from_secs(100);
const WHOLE: Duration = Duration::from_secs(1000);

async fn scene() -> (Scene, Guest, Process) {
    let timeouts = Timeouts { inactivity: SILENCE, call: WHOLE, ..Timeouts::default() };
    let scene = Scene::new(Plan { timeouts, ..calm(ProcessModel::Shared) });
    let client = scene.client().await;
    let process = scene.process().await;
    (scene, client, process)
}

async fn slow_call(client: &Guest, process: &mut Process) -> (Stream, Value) {
    let stream = client.request(5, "tools/call", json!({ "name": "echo", "_meta": { "progressToken": "t" } }));
    (stream, process.expect("tools/call").await)
}

async fn progress(process: &Process, request: &Value) {
    let token = &request["params"]["_meta"]["progressToken"];
    process.notify("notifications/progress", json!({ "progressToken": token, "progress": 1 })).await;
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_call_and_its_late_answer_reaches_nobody() {
    let (scene, client, mut process) = scene().await;
    let before = Instant::now();
    let (stream, request) = slow_call(&client, &mut process).await;
    let error = stream.error(-31003).await;
    assert_eq!((&error["id"], &error["error"]["data"]["phase"]), (&json!(5), &json!("call")));
    assert!(before.elapsed() > SILENCE && before.elapsed() < SILENCE * 2, "{:?}", before.elapsed());
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], request["id"]);
    process.answer(&request, json!({})).await;
    progress(&process, &request).await;
    stream.is_quiet().await;
    assert_eq!(scene.metric("stray_answers_total"), 1);
    // Others are not affected, nor is the session.
    let (stream, request) = slow_call(&client, &mut process).await;
    process.answer(&request, json!({})).await;
    stream.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn progress_keeps_its_own_call_and_no_other() {
    let (scene, client, mut process) = scene().await;
    let (stream, request) = slow_call(&client, &mut process).await;
    let (lazy, ignored) = slow_call(&client, &mut process).await;
    for _ in 0..8 {
        sleep(SILENCE.mul_f64(0.99)).await;
        progress(&process, &request).await;
        assert_eq!(stream.notification().await["params"]["progressToken"], "t");
    }
    // The one without progress is long over.
    lazy.error(-31003).await;
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], ignored["id"]);
    process.answer(&request, json!({})).await;
    stream.response().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn no_progress_keeps_a_call_for_ever() {
    let (scene, client, mut process) = scene().await;
    let before = Instant::now();
    let (stream, request) = slow_call(&client, &mut process).await;
    let error = loop {
        sleep(Duration::from_secs(50)).await;
        progress(&process, &request).await;
        settle().await;
        let outgoing = stream.outgoing().await;
        if outgoing.kind == kennel_hub::OutgoingKind::Response {
            break serde_json::from_slice::<Value>(&outgoing.message).unwrap();
        }
        assert!(before.elapsed() < WHOLE * 2, "it goes on for ever");
    };
    assert_eq!(error["error"]["code"], -31003);
    assert!(error["error"]["message"].as_str().unwrap().contains("1000 s"), "{error}");
    assert!(before.elapsed() > WHOLE && before.elapsed() < WHOLE + SILENCE, "{:?}", before.elapsed());
    assert_eq!(process.expect("notifications/cancelled").await["params"]["requestId"], request["id"]);
    scene.end().await;
}
