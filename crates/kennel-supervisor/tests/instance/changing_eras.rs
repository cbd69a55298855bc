//! Servers that turn out to speak the other era, or none.

use crate::eras::{LEGACY_FIRST, MODERN_FIRST, modern, refused, scene, scripted, spoken, strict, wake_until_ready};
use crate::support::{Recorder, Scene, Told, calm, introduction, launcher};
use kennel_exec::{Executor, Limits};
use kennel_supervisor::{Cause, Instance, Next, Permanence, Phase, Settings, Stage, State};
use kennel_testkit::fake::{Child, FakeEngine, McpServer};
use kennel_wire::Era;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_server_of_the_other_era_is_opened_by_the_next_process_without_a_failure() {
    for (plan, server, expected) in [
        (MODERN_FIRST, strict(), (Era::Legacy, "2025-11-25".to_owned())),
        (LEGACY_FIRST, modern(), (Era::Modern, "2026-07-28".to_owned())),
    ] {
        let scene = scene(plan, server);
        let began = Instant::now();
        scene.instance.work_began();
        scene.recorder.until_ready(2).await;
        assert!(began.elapsed() < Duration::from_secs(1), "waited although the answer was there");
        assert_eq!((spoken(&scene), scene.engine.started()), (expected, 2));
        assert_eq!((refused(&scene), scene.recorder.failures()), (vec![plan.first], vec![]));
        let status = scene.instance.status();
        assert_eq!((status.attempt, status.last_failure, status.calls_in_flight), (1, None, 1));
        assert!(scene.recorder.count(|told| matches!(told, Told::Gone(..))) == 0, "it was never ready");
        let waited = |told: &Told| matches!(told, Told::Event(event) if event.state == State::Waiting);
        assert_eq!(scene.recorder.count(waited), 0);
        scene.call(1, "echo");
        scene
            .recorder
            .until(1, "an answer", |told| matches!(told, Told::Message(2, text) if text.contains("1 of 2")))
            .await;
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_of_the_wrong_era_is_stopped_in_order() {
    let server = McpServer { needs_term: true, ..strict() };
    let scene = scene(MODERN_FIRST, server);
    let began = Instant::now();
    wake_until_ready(&scene, 2).await;
    assert!(began.elapsed() >= Settings::default().graces.stdin, "it was not asked to go before it was made to");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_when_it_is_discovered_is_opened_in_the_legacy_era() {
    let scene = scripted(MODERN_FIRST, |mut child: Child| async move {
        if child.number() == 1 {
            child.line().await;
            return Child::exit(1);
        }
        strict().run(child).await
    });
    wake_until_ready(&scene, 2).await;
    assert_eq!((spoken(&scene).0, refused(&scene)), (Era::Legacy, vec![Era::Modern]));
    assert_eq!((scene.recorder.failures(), scene.instance.status().attempt), (vec![], 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_that_is_silent_about_discovery_is_opened_without_being_said_to_refuse() {
    // The plain fake server ignores what it does not know.
    let scene = scene(MODERN_FIRST, McpServer::default());
    let began = Instant::now();
    wake_until_ready(&scene, 2).await;
    let budgets = Settings::default().budgets;
    assert!(began.elapsed() >= budgets.discover && began.elapsed() < budgets.handshake, "{:?}", began.elapsed());
    assert_eq!((spoken(&scene).0, refused(&scene), scene.recorder.failures()), (Era::Legacy, vec![], vec![]));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_in_both_eras_fails_in_the_legacy_one_and_is_tried_in_both_again() {
    let first_lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&first_lines);
    let scene = scripted(MODERN_FIRST, move |mut child: Child| {
        let heard = Arc::clone(&heard);
        async move {
            let line = child.line().await.unwrap_or_default();
            heard.lock().unwrap().push(line.contains("server/discover"));
            while child.line().await.is_some() {}
            Child::exit(0)
        }
    });
    scene.instance.wake();
    scene.until_state(State::Parked).await;
    assert_eq!(*first_lines.lock().unwrap(), [true, false].repeat(6));
    let failures = scene.recorder.failures();
    assert_eq!(failures.len(), 6, "one for each attempt");
    let budget = Settings::default().budgets.handshake;
    for (failure, _) in failures {
        assert_eq!((failure.phase, failure.cause), (Phase::Connect, Cause::TimedOut { budget, junk: None }));
    }
    assert_eq!(refused(&scene), []);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_both_eras_fails_with_what_it_said_in_the_first() {
    for (plan, first, second) in [
        (MODERN_FIRST, "`server/discover`", "era with `initialize`"),
        (LEGACY_FIRST, "`initialize`", "era without sessions"),
    ] {
        let scene = scripted(plan, |mut child: Child| async move {
            child.complain(&format!("process {}", child.number())).await;
            while let Some(line) = child.line().await {
                let request: serde_json::Value = serde_json::from_str(&line).unwrap();
                let error = r#"{"code":-32601,"message":"nothing is known here"}"#;
                child.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, request["id"])).await;
            }
            Child::exit(0)
        });
        scene.instance.wake();
        scene.until_state(State::Failed).await;
        sleep(Duration::from_hours(1)).await;
        assert_eq!(scene.engine.started(), 2);
        let [(failure, next)] = &scene.recorder.failures()[..] else { panic!("not one failure") };
        assert_eq!((failure.phase, failure.permanence, *next), (Phase::Handshake, Permanence::Permanent, Next::Never));
        let cause = failure.cause.to_string();
        assert!(cause.contains(&format!("the process answered {first} with an error")), "{cause}");
        let remark = failure.remark.clone().expect("a remark");
        assert!(remark.starts_with(&format!("the {second}")) && remark.contains("was refused too"), "{remark}");
        assert_eq!(failure.stderr, ["process 1"]);
        assert!(!failure.client_text().contains("known"), "{}", failure.client_text());
        let other = if plan.first == Era::Modern { Era::Legacy } else { Era::Modern };
        assert_eq!(refused(&scene), [plan.first, other]);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_modern_server_is_given_its_time_once_it_has_refused_the_legacy_era() {
    let scene = scripted(MODERN_FIRST, |child: Child| async move {
        sleep(Duration::from_secs(20)).await;
        modern().run(child).await
    });
    wake_until_ready(&scene, 3).await;
    assert_eq!((spoken(&scene).0, refused(&scene)), (Era::Modern, vec![Era::Legacy]));
    let [(failure, Next::RetryIn(_))] = &scene.recorder.failures()[..] else { panic!("not one failure that passes") };
    let budget = Settings::default().budgets.discover;
    assert_eq!(failure.cause, Cause::TimedOut { budget, junk: None });
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_that_ends_or_is_silent_at_the_handshake_has_failed() {
    let ends = scripted(LEGACY_FIRST, |mut child: Child| async move {
        child.line().await;
        Child::exit(7)
    });
    let silent = scripted(LEGACY_FIRST, |mut child: Child| async move {
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    for scene in [ends, silent] {
        scene.instance.wake();
        scene.until_state(State::Waiting).await;
        assert_eq!((scene.engine.started(), refused(&scene), scene.recorder.failures().len()), (1, vec![], 1));
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_at_any_moment_of_a_change_of_eras_leaves_no_process() {
    let mut seen = Vec::new();
    for moment in 0..80 {
        let engine = FakeEngine::new(|child: Child| async move {
            sleep(Duration::from_millis(10)).await;
            let server = McpServer { needs_term: true, ..strict() };
            server.run(child).await
        });
        engine.take_long(Duration::from_millis(10));
        let graces = kennel_exec::Graces { stdin: Duration::from_millis(20), ..calm().graces };
        let scene = Scene::planned(engine, Settings { graces, ..calm() }, MODERN_FIRST);
        scene.instance.wake();
        sleep(Duration::from_millis(moment)).await;
        seen.push((scene.instance.status().state, scene.instance.status().generation.get()));
        scene.instance.shutdown().await;
        let created = scene.engine.created();
        sleep(Duration::from_hours(1)).await;
        assert_eq!((scene.engine.live(), scene.engine.created()), (0, created), "after {moment} ms");
        scene.end().await;
    }
    for state in [(State::Starting, 1), (State::Stopping, 1), (State::Starting, 2), (State::Ready, 2)] {
        assert!(seen.contains(&state), "{state:?} was not among the moments: {seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_thrown_away_gives_its_turn_back() {
    let engine = FakeEngine::new(|child| strict().run(child));
    let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
    let stage = Stage::new(1);
    let start = |number: usize| {
        let (recorder, launcher) = (Recorder::new(), launcher(&executor, &format!("server {number}")));
        let instance =
            Instance::new(calm(), introduction(), MODERN_FIRST, launcher, Arc::clone(&recorder), stage.clone());
        instance.wake();
        (recorder, instance)
    };
    let instances: Vec<_> = (0..5).map(start).collect();
    for (recorder, _) in &instances {
        recorder.until_ready(2).await;
    }
    for (_, instance) in instances {
        instance.shutdown().await;
    }
    assert_eq!(engine.live(), 0);
}
