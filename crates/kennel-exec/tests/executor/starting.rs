//! The two phases of starting, and who wins when a stop comes between them.

use crate::support::{FakeEngine, Stage, from, process, request, settle};
use kennel_exec::{EventsError, Graces, Limits, Phase, ProcessError, Seq, StartError, Stop};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test(start_paused = true)]
async fn a_process_is_known_as_starting_until_it_runs() {
    let stage = Arc::new(Stage::new(Limits::default()));
    FakeEngine::shut(&stage.engine.create_gate);
    let id = process("server");
    let starting = tokio::spawn({
        let (stage, id) = (Arc::clone(&stage), id.clone());
        async move { stage.attachment.start(id, request()).await }
    });
    settle().await;
    assert_eq!(stage.attachment.status(&id).unwrap().phase, Phase::Starting);
    assert!(matches!(stage.attachment.signal(&id, 1), Err(ProcessError::NotRunning(_))));
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    stage.engine.create_gate.add_permits(1);
    starting.await.unwrap().unwrap();
    assert_eq!(stage.attachment.status(&id).unwrap().phase, Phase::Running);
    stage.engine.next_child().await.say("hello").await;
    assert_eq!(subscription.next().await.unwrap().unwrap().seq, Seq::new(1), "an early subscriber misses nothing");
}

#[tokio::test(start_paused = true)]
async fn an_id_is_unique_in_its_session_from_the_placeholder_on() {
    let stage = Stage::new(Limits::default());
    FakeEngine::shut(&stage.engine.create_gate);
    let id = process("server");
    let (first, second) = tokio::join!(stage.attachment.start(id.clone(), request()), async {
        settle().await;
        let second = stage.attachment.start(id.clone(), request()).await;
        stage.engine.create_gate.add_permits(1);
        second
    });
    first.unwrap();
    assert!(matches!(second, Err(StartError::IdInUse(_))));
    let other = stage.executor.open(crate::support::session("other")).unwrap();
    stage.engine.create_gate.add_permits(1);
    other.start(id, request()).await.unwrap();
    assert_eq!(stage.engine.live_boxes(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_processes_is_bounded() {
    let stage = Stage::new(Limits { processes: 1, ..Limits::default() });
    stage.start("a").await;
    let refused = stage.attachment.start(process("b"), request()).await;
    assert!(matches!(refused, Err(StartError::TooManyProcesses { limit: 1 })));
}

/// Terminates while the engine is busy with the step that `gate` guards.
async fn terminate_at(gate: impl Fn(&FakeEngine) -> &tokio::sync::Semaphore, stop: Stop, starts: usize) {
    let stage = Stage::new(Limits::default());
    FakeEngine::shut(gate(&stage.engine));
    let id = process("server");
    let (started, terminated, events, ()) = tokio::join!(
        stage.attachment.start(id.clone(), request()),
        async {
            settle().await;
            stage.attachment.terminate(&id, stop).await
        },
        async {
            settle().await;
            stage.attachment.read(&id, from(Seq::START)).await
        },
        async {
            settle().await;
            settle().await;
            gate(&stage.engine).add_permits(1);
        }
    );
    assert!(matches!(started, Err(StartError::Terminated)), "not {started:?}");
    terminated.unwrap();
    assert_eq!(events, Err(EventsError::NeverStarted));
    assert_eq!(stage.engine.live_boxes(), 0, "nothing is left");
    assert!(stage.attachment.processes().is_empty(), "the id is free");
    assert_eq!(stage.engine.starts(), starts, "what is terminated is not started any more");
}

#[tokio::test(start_paused = true)]
async fn terminate_wins_over_a_start_and_leaves_nothing() {
    for stop in [Stop::Now, Stop::Gracefully(Graces::default())] {
        terminate_at(|engine| &engine.create_gate, stop, 0).await;
        terminate_at(|engine| &engine.start_gate, stop, 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_leaves_nothing_and_says_why() {
    let stage = Stage::new(Limits::default());
    for fault in [&stage.engine.fail_create, &stage.engine.fail_start] {
        fault.store(true, Ordering::SeqCst);
        let error = stage.attachment.start(process("server"), request()).await.unwrap_err();
        assert!(matches!(error, StartError::Box(_)));
        assert_eq!(stage.engine.live_boxes(), 0);
        assert!(matches!(stage.attachment.status(&process("server")), Err(ProcessError::Unknown(_))));
        fault.store(false, Ordering::SeqCst);
    }
    stage.start("server").await;
}

#[tokio::test(start_paused = true)]
async fn a_start_goes_on_when_its_caller_is_gone() {
    let stage = Arc::new(Stage::new(Limits::default()));
    FakeEngine::shut(&stage.engine.create_gate);
    let id = process("server");
    let starting = tokio::spawn({
        let (stage, id) = (Arc::clone(&stage), id.clone());
        async move { stage.attachment.start(id, request()).await }
    });
    settle().await;
    starting.abort();
    stage.engine.create_gate.add_permits(1);
    settle().await;
    assert_eq!(stage.attachment.status(&id).unwrap().phase, Phase::Running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starts_and_stops_that_race_leave_nothing() {
    let stage = Arc::new(Stage::new(Limits::default()));
    for round in 0..500 {
        let id = process(&format!("server {round}"));
        let starting = tokio::spawn({
            let (stage, id) = (Arc::clone(&stage), id.clone());
            async move { stage.attachment.start(id, request()).await }
        });
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        let stopped = stage.attachment.terminate(&id, Stop::Now).await;
        match (starting.await.unwrap(), stopped) {
            // The stop came before there was anything to stop, or after the start had failed for it.
            (Ok(()), Err(ProcessError::Unknown(_))) => stage.attachment.terminate(&id, Stop::Now).await.unwrap(),
            (Ok(()) | Err(StartError::Terminated), Ok(())) => {}
            other => panic!("unexpected: {other:?}"),
        }
        assert_eq!(stage.engine.live_boxes(), 0);
    }
}
