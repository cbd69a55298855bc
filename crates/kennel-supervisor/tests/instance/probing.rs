//! Whether a process lives, and what happens if it does not.

use crate::support::{Scene, Told, is_failure};
use kennel_supervisor::{Cause, End, Settings, StopReason};
use kennel_testkit::fake::{Child, McpServer};
use std::time::Duration;
use tokio::time::sleep;

fn probing() -> Settings {
    Settings { idle_stop: None, ..Settings::default() }
}

#[tokio::test(start_paused = true)]
async fn a_silent_process_that_answers_probes_lives_on() {
    let scene = Scene::good(probing()).ready().await;
    sleep(Duration::from_hours(1)).await;
    assert_eq!(scene.engine.started(), 1);
    assert_eq!(
        scene.recorder.count(|told| matches!(told, Told::Message(..))),
        0,
        "answers to probes are not handed over"
    );
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stops_answering_is_replaced() {
    let scene = Scene::server(probing(), McpServer { pings: 2, ..McpServer::default() }).ready().await;
    scene.recorder.until_ready(2).await;
    assert_eq!(scene.recorder.count(|told| *told == Told::Gone(1, End::Stopped(StopReason::Ill))), 1);
    let (failure, _) = scene.recorder.failures().remove(0);
    assert_eq!(failure.cause, Cause::Ill { probes: 3 });
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_an_hour_is_left_alone_until_it_is_suspected() {
    let scene = Scene::server(probing(), McpServer { pings: 0, ..McpServer::default() }).ready().await;
    scene.call(1, "hang");
    sleep(Duration::from_hours(1)).await;
    assert_eq!(scene.engine.started(), 1, "restarted in the middle of a call");
    scene.instance.suspect();
    scene.recorder.until(1, "gone", |told| *told == Told::Gone(1, End::Stopped(StopReason::Ill))).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_suspected_process_that_answers_is_cleared() {
    let scene = Scene::good(probing()).ready().await;
    scene.call(1, "hang");
    scene.instance.suspect();
    sleep(Duration::from_hours(1)).await;
    assert_eq!((scene.engine.started(), scene.recorder.count(is_failure)), (1, 0));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_does_not_make_its_server_ill() {
    let scene = Scene::good(probing()).ready().await;
    scene.recorder.shut_gate();
    scene.call(1, "echo");
    scene.instance.work_ended();
    sleep(Duration::from_mins(10)).await;
    assert_eq!(scene.engine.live(), 1);
    scene.recorder.open_gate();
    scene.recorder.until(1, "the answer", |told| matches!(told, Told::Message(1, _))).await;
    sleep(Duration::from_mins(10)).await;
    assert_eq!((scene.engine.started(), scene.recorder.count(is_failure)), (1, 0));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_error_for_an_answer_still_proves_life() {
    let scene = Scene::new(probing(), |mut child: Child| async move {
        while let Some(line) = child.line().await {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            let Some(id) = message.get("id") else { continue };
            let answer = match message["method"].as_str() {
                Some("initialize") => r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#,
                _ => r#""error":{"code":-32601,"message":"no such method"}"#,
            };
            child.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#)).await;
        }
        Child::exit(0)
    });
    let scene = scene.ready().await;
    sleep(Duration::from_hours(1)).await;
    assert_eq!(scene.engine.started(), 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn whatever_a_process_writes_is_a_sign_of_life() {
    let scene = Scene::new(probing(), |mut child: Child| async move {
        child
            .say(r#"{"jsonrpc":"2.0","id":"kennel:1","result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#)
            .await;
        // Rarely enough to be probed in between, which it ignores.
        for _ in 0..500 {
            sleep(Duration::from_secs(12)).await;
            child.say(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#).await;
        }
        std::future::pending().await
    });
    let scene = scene.ready().await;
    sleep(Duration::from_hours(1)).await;
    assert_eq!((scene.engine.started(), scene.recorder.count(is_failure)), (1, 0));
    scene.end().await;
}
