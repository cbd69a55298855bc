//! What follows when a process ends, and what the operator can do.

use crate::support::{LEGACY_ONLY, Scene, Told, calm, introduction, launcher};
use kennel_exec::{Executor, Limits};
use kennel_supervisor::{
    Cause, End, Failure, FeedError, Generation, Instance, LifecycleEvent, Link, Next, Noise, Phase, Receiver, Stage,
    State, StopReason,
};
use kennel_testkit::fake::{Child, FakeEngine, McpServer};
use kennel_wire::Message;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::time::sleep;

fn position(log: &[Told], wanted: impl Fn(&Told) -> bool) -> usize {
    log.iter().position(wanted).expect("it was told")
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_in_a_call_is_told_with_everything_and_replaced() {
    let scene = Scene::server(calm(), McpServer { dies_at_call: Some(2), ..McpServer::default() }).ready().await;
    let link = scene.recorder.link();
    scene.call(1, "echo");
    scene.call(2, "echo");
    scene.recorder.until_ready(2).await;
    let log = scene.recorder.log();
    let answer = position(&log, |told| matches!(told, Told::Message(1, text) if text.contains("1 of 1")));
    let gone = position(&log, |told| matches!(told, Told::Gone(1, End::Died(_))));
    let failed = position(&log, |told| matches!(told, Told::Failed(..)));
    let ready = position(&log, |told| *told == Told::Ready(2));
    assert!(answer < gone && gone < failed && failed < ready, "{log:#?}");
    let Told::Gone(_, End::Died(failure)) = &log[gone] else { panic!("not dead") };
    assert_eq!((failure.phase, &failure.stderr[..]), (Phase::Call, &["giving up".to_owned()][..]));
    assert!(matches!(failure.cause, Cause::Exited(report) if report.shell_code() == 3));
    assert_eq!(link.input.send("{}\n".into()), Err(FeedError::Closed), "the old link leads nowhere");
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_while_nobody_needs_it_is_replaced_too() {
    let scene = Scene::new(calm(), |child: Child| async move {
        if child.number() == 1 {
            tokio::select! {
                report = McpServer::default().run(child) => report,
                () = sleep(Duration::from_secs(100)) => Child::exit(0),
            }
        } else {
            McpServer::default().run(child).await
        }
    });
    let scene = scene.ready().await;
    scene.recorder.until_ready(2).await;
    let (failure, _) = scene.recorder.failures().remove(0);
    assert_eq!(failure.phase, Phase::Runtime);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_parked_instance_stays_so_until_the_operator_frees_it() {
    let scene = Scene::new(calm(), |child: Child| async move {
        if child.number() <= 6 { Child::exit(1) } else { McpServer::default().run(child).await }
    });
    scene.instance.wake();
    scene.until_state(State::Parked).await;
    assert_eq!(scene.recorder.failures().last().map(|(_, next)| *next), Some(Next::Parked));
    scene.instance.wake();
    scene.instance.work_began();
    scene.instance.suspect();
    sleep(Duration::from_hours(24)).await;
    assert_eq!((scene.instance.status().state, scene.engine.started()), (State::Parked, 6));
    scene.instance.restart();
    scene.recorder.until_ready(7).await;
    assert_eq!(scene.instance.status().attempt, 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_operator_replaces_a_running_process() {
    let scene = Scene::good(calm()).ready().await;
    scene.instance.restart();
    scene.recorder.until_ready(2).await;
    assert_eq!(scene.recorder.count(|told| *told == Told::Gone(1, End::Stopped(StopReason::Restart))), 1);
    assert_eq!(scene.recorder.failures(), []);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_operator_replaces_a_start_that_hangs() {
    let scene = Scene::new(calm(), |mut child: Child| async move {
        if child.number() == 1 {
            child.terminated().await;
            return Child::exit(0);
        }
        McpServer::default().run(child).await
    });
    scene.instance.wake();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(scene.instance.status().state, State::Starting);
    scene.instance.restart();
    scene.recorder.until_ready(2).await;
    assert_eq!(scene.recorder.failures(), []);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_operator_cuts_a_wait_short() {
    let scene = Scene::new(calm(), |child: Child| async move {
        if child.number() <= 4 { Child::exit(1) } else { McpServer::default().run(child).await }
    });
    scene.instance.wake();
    scene.recorder.until(4, "failures", |told| matches!(told, Told::Failed(..))).await;
    sleep(Duration::from_millis(10)).await;
    let status = scene.instance.status();
    assert_eq!(status.state, State::Waiting);
    assert!(status.retry_in.is_some_and(|wait| wait > Duration::from_secs(5)), "{status:?}");
    let began = tokio::time::Instant::now();
    scene.instance.restart();
    scene.recorder.until_ready(5).await;
    assert!(began.elapsed() < Duration::from_secs(1));
    scene.end().await;
}

/// Looks at the instance whenever it is told something.
#[derive(Default)]
struct Curious {
    instance: OnceLock<Instance>,
    seen: Mutex<Vec<(State, State)>>,
}

impl Receiver for Curious {
    fn ready(&self, _: &Link) {}
    async fn message(&self, _: Generation, _: Message) {}
    fn noise(&self, _: Generation, _: Noise) {}
    fn diagnostics(&self, _: Generation, _: &[u8]) {}
    fn gone(&self, _: Generation, _: &End) {}
    fn failed(&self, _: &Failure, _: Next) {}
    fn event(&self, event: &LifecycleEvent) {
        let found = self.instance.get().unwrap().status().state;
        self.seen.lock().unwrap().push((event.state, found));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_is_told_finds_the_instance_as_it_was_told() {
    let engine = FakeEngine::new(|child: Child| async move {
        McpServer { dies_at_call: Some(1), ..McpServer::default() }.run(child).await
    });
    let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
    let receiver = Arc::new(Curious::default());
    let launcher = launcher(&executor, "server");
    let instance = Instance::new(calm(), introduction(), LEGACY_ONLY, launcher, Arc::clone(&receiver), Stage::new(1));
    receiver.instance.set(instance.clone()).unwrap();
    instance.wake();
    sleep(Duration::from_mins(1)).await;
    instance.restart();
    sleep(Duration::from_mins(1)).await;
    instance.shutdown().await;
    let seen = receiver.seen.lock().unwrap().clone();
    assert!(seen.len() > 10, "{seen:?}");
    for (told, found) in seen {
        assert_eq!(told, found);
    }
    assert_eq!(engine.live(), 0);
}
