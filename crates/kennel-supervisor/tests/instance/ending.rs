//! Shutting down, whenever it comes, leaves nothing.

use crate::support::{LEGACY_ONLY, Recorder, Scene, Told, calm, instance, introduction, launcher};
use kennel_exec::{Executor, Limits, Stop};
use kennel_supervisor::{
    Backoff, End, Failure, Generation, Instance, LifecycleEvent, Link, Next, Noise, Receiver, Settings, Stage, State,
    StopReason,
};
use kennel_testkit::fake::{Child, FakeEngine, McpServer};
use kennel_wire::Message;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A server that takes its time with everything, dies now and then, and has to be told twice to go.
fn slow_and_mortal() -> FakeEngine {
    let engine = FakeEngine::new(|child: Child| async move {
        sleep(Duration::from_millis(10)).await;
        let number = child.number();
        let serve = McpServer { needs_term: true, ..McpServer::default() }.run(child);
        tokio::select! {
            report = serve => report,
            () = sleep(Duration::from_millis(30)), if number % 2 == 1 => Child::exit(1),
        }
    });
    engine.take_long(Duration::from_millis(10));
    engine
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_at_any_moment_leaves_no_process() {
    let quick = Backoff { base: Duration::from_millis(20), ..Backoff::default() };
    for moment in 0..150 {
        let settings = Settings { backoff: quick, idle_stop: None, ..Settings::default() };
        let scene = Scene::on(slow_and_mortal(), settings);
        scene.instance.wake();
        sleep(Duration::from_millis(moment)).await;
        scene.instance.shutdown().await;
        let created = scene.engine.created();
        assert_eq!(scene.engine.live(), 0, "after {moment} ms");
        scene.instance.wake();
        scene.instance.restart();
        sleep(Duration::from_hours(1)).await;
        assert_eq!(scene.engine.created(), created, "started after a shutdown at {moment} ms");
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_at_any_moment_ends_with_one_process() {
    for moment in 0..60 {
        let engine = FakeEngine::new(|child: Child| async move {
            sleep(Duration::from_millis(10)).await;
            McpServer { needs_term: true, ..McpServer::default() }.run(child).await
        });
        engine.take_long(Duration::from_millis(10));
        let scene = Scene::on(engine, calm());
        scene.instance.wake();
        sleep(Duration::from_millis(moment)).await;
        scene.instance.restart();
        sleep(Duration::from_millis(moment)).await;
        scene.instance.restart();
        sleep(Duration::from_mins(1)).await;
        assert_eq!((scene.engine.live(), scene.instance.status().state), (1, State::Ready), "after {moment} ms");
        assert_eq!(scene.recorder.failures(), []);
        scene.end().await;
    }
}

#[test]
fn shutdowns_race_restarts_and_deaths_on_many_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        for round in 0..300_u64 {
            let engine = FakeEngine::new(|child: Child| async move {
                if child.number().is_multiple_of(3) { Child::exit(1) } else { McpServer::default().run(child).await }
            });
            let backoff =
                Backoff { base: Duration::from_micros(50), max: Duration::from_micros(100), jitter_percent: 100 };
            let scene = Scene::on(engine, Settings { backoff, ..Settings::default() });
            let other = scene.instance.clone();
            let pokes = tokio::spawn(async move {
                for poke in 0..10 {
                    other.wake();
                    sleep(Duration::from_micros(17 * (round % 7))).await;
                    if poke % 2 == 0 {
                        other.restart();
                    }
                    other.suspect();
                    tokio::task::yield_now().await;
                }
            });
            sleep(Duration::from_micros(round * 13 % 2000)).await;
            tokio::join!(scene.instance.shutdown(), scene.instance.shutdown());
            assert_eq!(scene.engine.live(), 0);
            let created = scene.engine.created();
            pokes.await.unwrap();
            assert_eq!(scene.engine.created(), created);
            scene.end().await;
        }
    });
}

#[tokio::test(start_paused = true)]
async fn a_process_is_asked_to_go_before_it_is_made_to() {
    // One goes when its input ends, one at SIGTERM, one never.
    let graces = Settings::default().graces;
    let polite = Scene::good(calm()).ready().await;
    let deaf = Scene::server(calm(), McpServer { needs_term: true, ..McpServer::default() }).ready().await;
    let stubborn = Scene::new(calm(), |child: Child| async move {
        McpServer::default().run(child).await;
        std::future::pending().await
    });
    let stubborn = stubborn.ready().await;
    let cases = [
        (polite, Duration::ZERO, graces.stdin),
        (deaf, graces.stdin, graces.stdin + graces.term),
        (stubborn, graces.stdin + graces.term, graces.stdin + graces.term + Duration::from_secs(3)),
    ];
    for (scene, least, most) in cases {
        let began = Instant::now();
        scene.instance.shutdown().await;
        let took = began.elapsed();
        assert!(took >= least && took < most, "{took:?} is not between {least:?} and {most:?}");
        assert_eq!(scene.recorder.count(|told| *told == Told::Gone(1, End::Stopped(StopReason::Shutdown))), 1);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_takes_the_process_with_it() {
    let Scene { engine, executor, recorder, instance } = Scene::good(calm()).ready().await;
    let other = instance.clone();
    drop(instance);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(engine.live(), 1, "another handle is left");
    drop(other);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(engine.live(), 0);
    assert_eq!(recorder.count(|told| *told == Told::Gone(1, End::Stopped(StopReason::Shutdown))), 1);
    executor.shutdown(Stop::Now).await;
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_while_waiting_for_a_turn_does_not_wait_for_it() {
    let engine = FakeEngine::new(|child: Child| async move {
        let _child = child;
        std::future::pending().await
    });
    let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
    let (stage, recorder) = (Stage::new(1), Recorder::new());
    let first = instance(&executor, "first", calm(), &recorder, stage.clone());
    let second = instance(&executor, "second", calm(), &recorder, stage);
    first.wake();
    sleep(Duration::from_secs(1)).await;
    second.wake();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(second.status().state, State::Queued);
    let began = Instant::now();
    second.shutdown().await;
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(engine.created(), 1);
    first.shutdown().await;
    assert_eq!(engine.live(), 0);
}

/// Panics at the first message.
struct Clumsy;

impl Receiver for Clumsy {
    fn ready(&self, _: &Link) {}
    async fn message(&self, _: Generation, _: Message) {
        panic!("as the test wants it");
    }
    fn noise(&self, _: Generation, _: Noise) {}
    fn diagnostics(&self, _: Generation, _: &[u8]) {}
    fn gone(&self, _: Generation, _: &End) {}
    fn failed(&self, _: &Failure, _: Next) {}
    fn event(&self, _: &LifecycleEvent) {}
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_panics_leaves_no_process() {
    let engine = FakeEngine::new(|mut child: Child| async move {
        child.say(r#"{"jsonrpc":"2.0","method":"m"}"#).await;
        McpServer::default().run(child).await
    });
    let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
    // Held, so that the session outlives the task.
    let launcher = launcher(&executor, "clumsy");
    let held = Arc::clone(&launcher);
    let instance = Instance::new(calm(), introduction(), LEGACY_ONLY, launcher, Arc::new(Clumsy), Stage::new(1));
    instance.wake();
    sleep(Duration::from_mins(1)).await;
    assert_eq!((engine.started(), engine.live()), (1, 0));
    instance.shutdown().await;
    drop(held);
}
