//! What other supervisors are known to do wrong. (One more, a port that is reserved and taken by someone else, cannot
//! happen here: processes are reached by their pipes.)

use crate::support::{Recorder, Scene, Told, calm, instance, is_failure};
use kennel_exec::{Executor, Limits};
use kennel_supervisor::{Cause, Next, Phase, Settings, Stage, State};
use kennel_testkit::fake::{Child, FakeEngine, McpServer};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn one_missed_probe_does_not_restart_a_healthy_server_in_the_middle_of_a_call() {
    // It misses every probe, the first of them just before the call.
    let server = McpServer { pings: 0, ..McpServer::default() };
    let scene = Scene::server(Settings { idle_stop: None, ..Settings::default() }, server).ready().await;
    sleep(Duration::from_secs(12)).await;
    scene.call(1, "hang");
    sleep(Duration::from_hours(1)).await;
    assert_eq!((scene.engine.started(), scene.recorder.count(is_failure)), (1, 0));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_at_once_is_not_restarted_a_thousand_times() {
    let scene = Scene::new(calm(), |_: Child| async { Child::exit(1) });
    scene.instance.wake();
    sleep(Duration::from_hours(24)).await;
    assert_eq!(scene.engine.started(), 6, "the first start and five restarts");
    let nexts: Vec<_> = scene.recorder.failures().into_iter().map(|(_, next)| next).collect();
    let Some((Next::Parked, before)) = nexts.split_last() else { panic!("not parked: {nexts:?}") };
    let delay = |next: &Next| if let Next::RetryIn(delay) = next { Some(*delay) } else { None };
    let delays: Option<Vec<_>> = before.iter().map(delay).collect();
    assert!(delays.expect("retries").is_sorted(), "delays grow: {nexts:?}");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_respawn_does_not_end_supervision() {
    // The first process dies after it was ready, the next three fail to start, the fifth is well.
    let scene = Scene::new(calm(), |child: Child| async move {
        match child.number() {
            1 => McpServer { dies_at_call: Some(1), ..McpServer::default() }.run(child).await,
            2..=4 => Child::exit(1),
            _ => McpServer::default().run(child).await,
        }
    });
    let scene = scene.ready().await;
    scene.call(1, "echo");
    scene.recorder.until_ready(5).await;
    assert_eq!(scene.recorder.failures().len(), 4);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn one_bad_server_does_not_take_the_others_down() {
    let bad = FakeEngine::new(|mut child: Child| async move {
        for number in 0_u64.. {
            child.say(&format!("junk {number}")).await;
            sleep(Duration::from_millis(1)).await;
        }
        Child::exit(0)
    });
    let good = FakeEngine::new(|child: Child| McpServer::default().run(child));
    // One turn for all, and the bad one is first.
    let stage = Stage::new(1);
    let mut instances = Vec::new();
    let mut executors = Vec::new();
    let mut recorders = Vec::new();
    for (number, engine) in [&bad, &good, &good, &good].into_iter().enumerate() {
        let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
        let recorder = Recorder::new();
        let settings = Settings {
            budgets: kennel_supervisor::PhaseBudgets {
                handshake: Duration::from_secs(1),
                ..Settings::default().budgets
            },
            ..calm()
        };
        let instance = instance(&executor, &format!("server {number}"), settings, &recorder, stage.clone());
        instance.wake();
        executors.push(executor);
        instances.push(instance);
        recorders.push(recorder);
    }
    for recorder in recorders.iter().skip(1) {
        recorder.until_ready(1).await;
    }
    recorders[0].until(1, "a failure", is_failure).await;
    for instance in instances {
        instance.shutdown().await;
    }
    assert_eq!((bad.live(), good.live()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn looking_at_the_status_starts_stops_and_leaks_nothing() {
    let scene = Scene::good(Settings { probe_interval: Duration::from_hours(48), ..Settings::default() });
    let look = async |state: State| {
        for _ in 0..10 {
            let shown = serde_json::to_value(scene.instance.status()).unwrap();
            assert_eq!(shown["state"], serde_json::to_value(state).unwrap());
            sleep(Duration::from_mins(1)).await;
        }
    };
    look(State::Asleep).await;
    assert_eq!(scene.engine.created(), 0);
    scene.instance.wake();
    scene.recorder.until_ready(1).await;
    look(State::Ready).await;
    sleep(Duration::from_mins(6)).await;
    assert_eq!(scene.instance.status().state, State::Asleep, "looking kept it awake");
    look(State::Asleep).await;
    assert_eq!((scene.engine.created(), scene.engine.live()), (1, 0));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_live_process_that_is_not_an_mcp_server_is_not_retried_for_ever() {
    // A web server that prints its address, `cat`, and `sleep`.
    let talk = Scene::new(calm(), |mut child: Child| async move {
        child.say("Listening on http://0.0.0.0:8080").await;
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    let echo = Scene::new(calm(), |mut child: Child| async move {
        while let Some(line) = child.line().await {
            child.say(&line).await;
        }
        Child::exit(0)
    });
    let silence = Scene::new(calm(), |mut child: Child| async move {
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    let junk = Some("Listening on http://0.0.0.0:8080".to_owned());
    let cases = [(talk, Phase::Handshake, junk), (echo, Phase::Handshake, None), (silence, Phase::Connect, None)];
    for (scene, phase, junk) in cases {
        scene.instance.wake();
        sleep(Duration::from_hours(24)).await;
        assert_eq!((scene.instance.status().state, scene.engine.started()), (State::Parked, 6));
        let (failure, _) = scene.recorder.failures().remove(0);
        assert_eq!((failure.phase, failure.cause), (phase, Cause::TimedOut { budget: Duration::from_mins(1), junk }));
        assert_eq!(scene.recorder.count(|told| matches!(told, Told::Ready(_))), 0);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_refuses_the_handshake_is_not_retried_at_all() {
    let scene = Scene::server(calm(), McpServer { version: "2026-07-28", ..McpServer::default() });
    scene.instance.wake();
    sleep(Duration::from_hours(24)).await;
    assert_eq!((scene.instance.status().state, scene.engine.started()), (State::Failed, 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_answer_is_no_message_is_not_retried_at_all() {
    let scene = Scene::new(calm(), |mut child: Child| async move {
        child.say(r#"{"jsonrpc":"2.0","id":"kennel:1","result":{},"error":{}}"#).await;
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    scene.instance.wake();
    sleep(Duration::from_hours(24)).await;
    assert_eq!((scene.instance.status().state, scene.engine.started()), (State::Failed, 1));
    let (failure, next) = scene.recorder.failures().remove(0);
    assert!(failure.to_string().contains("not both"), "{failure}");
    assert_eq!(next, Next::Never);
    scene.end().await;
}
