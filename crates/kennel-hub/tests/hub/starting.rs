//! Starts: one for all who wait, refused with what went wrong, and given up in time.

use crate::support::{Plan, Profile, Scene, calm, parse, settle};
use kennel_hub::{Mailbox, MailboxLimits, Principal, ProcessModel, Readiness, RefusedReason, Timeouts};
use kennel_supervisor::Settings;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout};

fn error(refused: &kennel_hub::Refused) -> Value {
    let response: Value = serde_json::from_slice(&refused.response).unwrap();
    assert_eq!(response["id"], "hello");
    response["error"].clone()
}

#[tokio::test(start_paused = true)]
async fn many_clients_cause_one_start() {
    let profile = Profile { held: true, ..Profile::default() };
    let scene = Scene::with(calm(ProcessModel::Shared), move |_| profile.clone());
    let opening = async {
        let openings = (0..10).map(|_| scene.client());
        let mut clients = Vec::new();
        let mut openings: Vec<_> = openings.map(Box::pin).collect();
        for opening in &mut openings {
            // Polled once each, so that all wait together.
            assert!(timeout(Duration::from_millis(1), opening).await.is_err());
        }
        scene.process().await.open().await;
        for opening in openings {
            clients.push(opening.await);
        }
        clients
    };
    let clients = opening.await;
    assert_eq!((clients.len(), scene.engine.started()), (10, 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_is_told_with_its_phase() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared, ProcessModel::PerCall] {
        let scene = Scene::new(calm(model));
        scene.engine.refuse(Some("no room at /secret/path"));
        let refused = scene.try_introduce("local", "2025-11-25", json!({})).await.expect_err("a refusal");
        assert_eq!(refused.reason, RefusedReason::Unavailable);
        let error = error(&refused);
        assert_eq!((&error["code"], &error["data"]["phase"]), (&json!(-31002), &json!("create_box")));
        assert!(!error["message"].as_str().unwrap().contains("secret"), "the client need not know where: {error}");
        assert_eq!(scene.hub.status().sessions, 0, "a session that was refused is none");
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_at_its_start_is_not_waited_for() {
    let profile = Profile { held: true, ..Profile::default() };
    let scene = Scene::with(calm(ProcessModel::Shared), move |_| profile.clone());
    let (refused, ()) = tokio::join!(scene.try_introduce("local", "2025-11-25", json!({})), async {
        let process = scene.process().await;
        settle().await;
        process.die().await;
    });
    let refused = refused.expect_err("a refusal");
    let error = error(&refused);
    assert_eq!((&error["code"], &error["data"]["phase"]), (&json!(-31002), &json!("connect")));
    assert_eq!(*scene.hub.status().ready(), Readiness::Starting, "another attempt follows");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_start_that_takes_too_long_is_given_up() {
    let timeouts = Timeouts { start: Duration::from_secs(20), ..Timeouts::default() };
    let scene = Scene::with(Plan { timeouts, ..calm(ProcessModel::PerSession) }, |_| Profile {
        held: true,
        ..Profile::default()
    });
    let before = Instant::now();
    let refused = scene.try_introduce("local", "2025-11-25", json!({})).await.expect_err("a refusal");
    assert_eq!(before.elapsed().as_secs(), 20);
    let error = error(&refused);
    assert_eq!((&error["code"], &error["data"]["phase"]), (&json!(-31003), &json!("ready")));
    // The session is gone, and with it its process.
    scene.process().await.ended().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_gives_up_takes_its_process_along() {
    let scene = Scene::with(calm(ProcessModel::PerSession), |_| Profile { held: true, ..Profile::default() });
    assert!(timeout(Duration::from_secs(5), scene.client()).await.is_err());
    scene.process().await.ended().await;
    assert_eq!(scene.hub.status().sessions, 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_introduction_that_is_none_is_refused() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    for params in [r#""params":{}"#, r#""params":{"protocolVersion":1}"#, r#""x":1"#] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":"hello","method":"initialize",{params}}}"#);
        let mailbox = Mailbox::new(MailboxLimits::default());
        let refused = scene.hub.initialize(&Principal::local(), parse(&request), mailbox).await.expect_err("a refusal");
        assert_eq!(refused.reason, RefusedReason::Invalid);
        assert_eq!(error(&refused)["code"], -32602);
    }
    let client = scene.client().await;
    client.request(1, "initialize", json!({ "protocolVersion": "2025-11-25" })).error(-32600).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_shared_process_can_be_started_ahead() {
    let scene = Scene::new(calm(ProcessModel::Shared));
    scene.hub.warm();
    scene.process().await;
    settle().await;
    assert_eq!(*scene.hub.status().ready(), Readiness::Ready);
    scene.client().await;
    assert_eq!(scene.engine.started(), 1);
    scene.end().await;
    let scene = Scene::new(calm(ProcessModel::PerSession));
    scene.hub.warm();
    scene.starts_nothing().await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn trying_a_server_out_leaves_nothing() {
    let scene = Scene::new(calm(ProcessModel::PerSession));
    let handshake = scene.hub.try_out().await.expect("it works");
    assert_eq!((&*handshake.version, handshake.tools.len()), ("2025-11-25", 1));
    scene.process().await.ended().await;
    assert!(scene.hub.status().instances.is_empty());
    scene.engine.refuse(Some("no"));
    let text = scene.hub.try_out().await.expect_err("it does not");
    assert!(text.contains("weather is not available"), "{text}");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_for_a_restart_are_given_up_in_time() {
    let timeouts = Timeouts { start: Duration::from_secs(20), ..Timeouts::default() };
    let supervision = Settings { ..calm(ProcessModel::Shared).supervision };
    let profile = |number| Profile { held: number > 1, ..Profile::default() };
    let scene = Scene::with(Plan { timeouts, supervision, ..calm(ProcessModel::Shared) }, profile);
    let client = scene.client().await;
    scene.process().await.die().await;
    settle().await;
    let stream = client.call(3, "echo");
    let error = stream.error(-31003).await;
    assert_eq!((&error["id"], &error["error"]["data"]["phase"]), (&json!(3), &json!("ready")));
    // Nor is it made when the process is ready after all.
    let mut process = scene.process().await;
    process.open().await;
    process.hears_nothing().await;
    scene.end().await;
}
