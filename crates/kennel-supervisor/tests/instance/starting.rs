//! From the first wake to a process that is ready, or a failure that says why not.

use crate::support::{LEGACY_ONLY, Recorder, Scene, Told, calm, instance, introduction, is_failure, launcher};
use kennel_exec::{Executor, Limits};
use kennel_supervisor::{
    Cause, Instance, LaunchFailure, LaunchFuture, LaunchSteps, Launcher, Next, Permanence, Phase, Settings, Stage,
    State,
};
use kennel_testkit::fake::{Child, FakeEngine, McpServer};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

#[tokio::test(start_paused = true)]
async fn many_wakes_make_one_process_that_says_what_it_has() {
    let server = McpServer { pages: vec![vec!["a"], vec!["b"], vec!["c"]], ..McpServer::default() };
    let scene = Scene::server(calm(), server).ready().await;
    for _ in 0..100 {
        scene.instance.wake();
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(scene.engine.started(), 1);
    let handshake = scene.recorder.link().handshake;
    assert_eq!(handshake.version, "2025-11-25");
    assert_eq!(handshake.tools.len(), 3);
    let status = scene.instance.status();
    assert_eq!((status.state, status.phase, status.generation.get()), (State::Ready, Phase::Ready, 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_instance_does_not_start_by_itself() {
    let scene = Scene::good(Settings::default());
    sleep(Duration::from_hours(1)).await;
    assert_eq!((scene.engine.created(), scene.instance.status().state), (0, State::Asleep));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn phases_are_told_in_order() {
    let scene = Scene::good(calm()).ready().await;
    let phase = |told: &Told| if let Told::Event(event) = told { Some((event.state, event.phase)) } else { None };
    let phases: Vec<_> = scene.recorder.log().iter().filter_map(phase).collect();
    let expected = [
        (State::Queued, Phase::CreateBox),
        (State::Starting, Phase::CreateBox),
        (State::Starting, Phase::Connect),
        (State::Starting, Phase::Handshake),
        (State::Starting, Phase::Preflight),
        (State::Ready, Phase::Ready),
    ];
    assert_eq!(phases, expected);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_exit_during_the_start_fails_at_once_with_its_code_and_last_lines() {
    let scene = Scene::new(calm(), |mut child: Child| async move {
        child.complain("no such module").await;
        Child::exit(7)
    });
    scene.instance.wake();
    let began = Instant::now();
    scene.recorder.until(1, "a failure", is_failure).await;
    assert!(began.elapsed() < Duration::from_secs(5), "waited for the budget");
    let (failure, next) = scene.recorder.failures().remove(0);
    assert!(failure.to_string().contains("exit code 7"), "{failure}");
    assert_eq!(failure.stderr, ["no such module"]);
    assert!(!failure.client_text().contains("module"));
    assert!(matches!(next, Next::RetryIn(_)));
    assert_eq!(scene.instance.status().last_failure.as_deref(), Some(&failure));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_box_that_cannot_be_made_as_defined_is_not_tried_again() {
    let scene = Scene::good(calm());
    scene.engine.refuse(Some("is not possible"));
    scene.instance.wake();
    scene.recorder.until(1, "a failure", is_failure).await;
    sleep(Duration::from_hours(1)).await;
    scene.instance.wake();
    sleep(Duration::from_hours(1)).await;
    let (failure, next) = scene.recorder.failures().remove(0);
    assert_eq!((failure.phase, next, scene.engine.created()), (Phase::CreateBox, Next::Never, 1));
    scene.engine.refuse(None);
    scene.instance.restart();
    scene.recorder.until_ready(2).await;
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_box_that_takes_too_long_is_given_up_and_leaves_nothing() {
    let scene = Scene::good(calm());
    scene.engine.take_long(Duration::from_secs(40));
    scene.instance.wake();
    scene.recorder.until(1, "a failure", is_failure).await;
    let (failure, _) = scene.recorder.failures().remove(0);
    let budget = Duration::from_secs(30);
    assert_eq!((failure.phase, failure.cause), (Phase::CreateBox, Cause::TimedOut { budget, junk: None }));
    scene.engine.take_long(Duration::ZERO);
    scene.recorder.until_ready(2).await;
    assert_eq!(scene.engine.live(), 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_fails_the_start_at_once_and_others_do_not() {
    for (line, is_answer) in [
        (r#"{"jsonrpc":"2.0","id":"kennel:1","result":{"x":"#.to_owned() + &"1".repeat(2000) + "}}", true),
        (r#"{"result":{"x":"#.to_owned() + &"1".repeat(2000) + r#"},"jsonrpc":"2.0", "id" : "kennel:1" }"#, true),
        (r#"{"jsonrpc":"2.0","method":"notifications/message","params":"#.to_owned() + &"1".repeat(2000) + "}", false),
        (r#"{"jsonrpc":"2.0","id":"kennel:11","result":"#.to_owned() + &"1".repeat(2000) + "}", false),
    ] {
        let length = u64::try_from(line.len()).unwrap();
        let said = line.clone();
        let scene = Scene::new(Settings { line_bytes: 1000, ..calm() }, move |mut child: Child| {
            let said = said.clone();
            async move {
                child.line().await;
                child.say(&said).await;
                while child.line().await.is_some() {}
                Child::exit(0)
            }
        });
        scene.instance.wake();
        scene.recorder.until(1, "failure", is_failure).await;
        let (failure, _) = scene.recorder.failures().remove(0);
        let expected = if is_answer {
            (Phase::Handshake, true, Permanence::Permanent)
        } else {
            (Phase::Handshake, false, Permanence::Transient)
        };
        let is_too_large = failure.cause == Cause::TooLarge { length };
        assert_eq!((failure.phase, is_too_large, failure.permanence), expected, "{line:.60}: {failure:?}");
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_tool_is_named_and_not_tried_again() {
    let scene = Scene::good(Settings { required_tools: vec!["search".to_owned()], ..calm() });
    scene.instance.wake();
    scene.until_state(State::Failed).await;
    let (failure, next) = scene.recorder.failures().remove(0);
    assert_eq!(failure.cause, Cause::MissingTools(vec!["search".to_owned()]));
    assert_eq!((failure.phase, next), (Phase::Preflight, Next::Never));
    scene.end().await;
}

/// Fails in the phase of installation, after telling how far it is.
struct Installer;

impl Launcher for Installer {
    fn launch<'a>(&'a self, steps: &'a dyn LaunchSteps) -> LaunchFuture<'a> {
        Box::pin(async move {
            steps.entered(Phase::Install);
            steps.progress("fetching 1 of 2");
            // Longer than making a box may take.
            sleep(Duration::from_secs(200)).await;
            Err(LaunchFailure {
                phase: Phase::Install,
                text: "the package does not exist".to_owned(),
                hint: Some("look for its name".to_owned()),
                permanence: Permanence::Permanent,
                stderr: vec!["404".to_owned()],
            })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn installation_has_its_own_budget_tells_its_progress_and_keeps_its_reason() {
    let recorder = Recorder::new();
    let instance =
        Instance::new(calm(), introduction(), LEGACY_ONLY, Arc::new(Installer), Arc::clone(&recorder), Stage::new(1));
    instance.wake();
    recorder.until(1, "a failure", is_failure).await;
    let (failure, next) = recorder.failures().remove(0);
    assert_eq!((failure.phase, failure.stderr, next), (Phase::Install, vec!["404".to_owned()], Next::Never));
    let progress = |told: &Told| matches!(told, Told::Event(event) if event.phase == Phase::Install && event.cause == "fetching 1 of 2");
    assert_eq!(recorder.count(progress), 1);
    instance.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_hundred_instances_start_in_turns_and_all_come_up() {
    // Each start takes a second, so that those on the stage at once can be counted.
    let engine = FakeEngine::new(|mut child: Child| async move {
        let greeting = child.line().await;
        assert!(greeting.is_some());
        sleep(Duration::from_secs(1)).await;
        let result = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
        child.say(&format!(r#"{{"jsonrpc":"2.0","id":"kennel:1","result":{result}}}"#)).await;
        while child.line().await.is_some() {}
        Child::exit(0)
    });
    let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
    let stage = Stage::new(8);
    let began = Instant::now();
    let recorders: Vec<_> = (0..100).map(|_| Recorder::new()).collect();
    let start = |(number, recorder): (usize, &Arc<Recorder>)| {
        let instance = instance(&executor, &format!("server {number}"), calm(), recorder, stage.clone());
        instance.wake();
        instance
    };
    let instances: Vec<_> = recorders.iter().enumerate().map(start).collect();
    for recorder in &recorders {
        recorder.until_ready(1).await;
        assert_eq!(recorder.failures(), []);
    }
    let rounds = 100_u32.div_ceil(8);
    assert!(began.elapsed() >= Duration::from_secs(u64::from(rounds)), "more than eight at once");
    for instance in instances {
        instance.shutdown().await;
    }
    assert_eq!(engine.live(), 0);
}

/// A launch that nobody follows.
#[derive(Default)]
struct Nobody(CancellationToken);

impl LaunchSteps for Nobody {
    fn entered(&self, _: Phase) {}
    fn progress(&self, _: &str) {}
    fn cancelled(&self) -> &CancellationToken {
        &self.0
    }
}

#[tokio::test(start_paused = true)]
async fn a_launch_that_is_dropped_or_called_off_leaves_no_box() {
    let engine = FakeEngine::new(|child: Child| McpServer::default().run(child));
    engine.take_long(Duration::from_secs(10));
    let executor = Executor::new(Arc::new(engine.clone()), Limits::default()).unwrap();
    let launcher = launcher(&executor, "server");
    let nobody = Nobody::default();
    assert!(timeout(Duration::from_secs(5), launcher.launch(&nobody)).await.is_err());
    sleep(Duration::from_mins(1)).await;
    assert_eq!((engine.created(), engine.live()), (1, 0), "dropped");
    let began = Instant::now();
    let (outcome, ()) = tokio::join!(launcher.launch(&nobody), async {
        sleep(Duration::from_secs(5)).await;
        nobody.0.cancel();
    });
    assert!(outcome.is_err());
    assert!(began.elapsed() >= Duration::from_secs(10), "answered while the box was being made");
    sleep(Duration::from_mins(1)).await;
    assert_eq!((engine.created(), engine.live()), (2, 0), "called off");
}
