//! Processes of either era, and which one an instance keeps to.

use crate::support::{LEGACY_ONLY, Scene, Told, calm};
use kennel_box::ExitReport;
use kennel_supervisor::{End, EraPlan, Next, Phase, Settings, State, StopReason};
use kennel_testkit::fake::{Child, FakeEngine, McpServer};
use kennel_wire::Era;
use std::future::Future;
use std::time::Duration;
use tokio::time::sleep;

pub(crate) const MODERN_FIRST: EraPlan = EraPlan { first: Era::Modern, is_fixed: false };
pub(crate) const LEGACY_FIRST: EraPlan = EraPlan { first: Era::Legacy, is_fixed: false };

pub(crate) fn modern() -> McpServer {
    McpServer::default().modern()
}

/// A legacy server that says so when it is discovered.
pub(crate) fn strict() -> McpServer {
    McpServer::default().refusing()
}

pub(crate) fn scene(plan: EraPlan, server: McpServer) -> Scene {
    scripted(plan, move |child| server.clone().run(child))
}

pub(crate) fn scripted<F>(plan: EraPlan, script: impl Fn(Child) -> F + Send + Sync + 'static) -> Scene
where
    F: Future<Output = ExitReport> + Send + 'static,
{
    Scene::planned(FakeEngine::new(script), calm(), plan)
}

/// Which eras were told to be refused, in order.
pub(crate) fn refused(scene: &Scene) -> Vec<Era> {
    let era = |told: &Told| if let Told::EraRefused(era) = told { Some(*era) } else { None };
    scene.recorder.log().iter().filter_map(era).collect()
}

/// The era of the process that was ready last.
pub(crate) fn spoken(scene: &Scene) -> (Era, String) {
    let handshake = scene.recorder.link().handshake;
    (handshake.era, handshake.version.clone())
}

pub(crate) async fn wake_until_ready(scene: &Scene, generation: u64) {
    scene.instance.wake();
    scene.recorder.until_ready(generation).await;
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_opened_with_all_its_tools() {
    let server = McpServer { pages: vec![vec!["a"], vec!["b"], vec!["c"]], ..modern() };
    let scene = scene(MODERN_FIRST, server).ready().await;
    let handshake = scene.recorder.link().handshake;
    assert_eq!((handshake.era, &*handshake.version, handshake.tools.len()), (Era::Modern, "2026-07-28", 3));
    let result: serde_json::Value = serde_json::from_slice(handshake.result.as_bytes()).unwrap();
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    let phase = |told: &Told| if let Told::Event(event) = told { Some(event.phase) } else { None };
    let phases: Vec<_> = scene.recorder.log().iter().filter_map(phase).collect();
    let expected =
        [Phase::CreateBox, Phase::CreateBox, Phase::Connect, Phase::Handshake, Phase::Preflight, Phase::Ready];
    assert_eq!(phases, expected);
    assert_eq!((scene.engine.started(), refused(&scene)), (1, vec![]));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_is_probed_in_its_own_way() {
    let probing = Settings { idle_stop: None, ..Settings::default() };
    let well = FakeEngine::new(|child| modern().run(child));
    let well = Scene::planned(well, probing.clone(), MODERN_FIRST).ready().await;
    sleep(Duration::from_hours(1)).await;
    assert_eq!((well.engine.started(), well.recorder.failures()), (1, vec![]));
    assert_eq!(
        well.recorder.count(|told| matches!(told, Told::Message(..))),
        0,
        "answers to probes are not handed over"
    );
    well.end().await;
    let ill = FakeEngine::new(|child| McpServer { pings: 2, ..modern() }.run(child));
    let ill = Scene::planned(ill, probing, MODERN_FIRST).ready().await;
    ill.recorder.until_ready(2).await;
    assert_eq!(ill.recorder.count(|told| *told == Told::Gone(1, End::Stopped(StopReason::Ill))), 1);
    ill.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_of_both_eras_is_opened_in_the_one_that_comes_first() {
    for (plan, version) in [(MODERN_FIRST, "2026-07-28"), (LEGACY_FIRST, "2025-11-25")] {
        let scene = scene(plan, McpServer::default().dual()).ready().await;
        assert_eq!((spoken(&scene), scene.engine.started()), ((plan.first, version.to_owned()), 1));
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_fixed_plan_is_kept() {
    let modern_only = EraPlan { is_fixed: true, ..MODERN_FIRST };
    for (plan, server) in [(modern_only, strict()), (LEGACY_ONLY, modern())] {
        let scene = scene(plan, server);
        scene.instance.wake();
        scene.until_state(State::Failed).await;
        sleep(Duration::from_hours(1)).await;
        assert_eq!((scene.engine.started(), refused(&scene)), (1, vec![plan.first]));
        let [(failure, Next::Never)] = &scene.recorder.failures()[..] else { panic!("not one failure") };
        assert_eq!(failure.remark, None);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_era_that_was_ready_is_remembered_after_a_crash_an_idle_stop_and_a_restart() {
    for (plan, server, era) in [(MODERN_FIRST, strict(), Era::Legacy), (LEGACY_FIRST, modern(), Era::Modern)] {
        let server = McpServer { dies_at_call: Some(1), ..server };
        let engine = FakeEngine::new(move |child| server.clone().run(child));
        let settings = Settings { idle_stop: Some(Duration::from_mins(1)), ..calm() };
        let scene = Scene::planned(engine, settings, plan);
        wake_until_ready(&scene, 2).await;
        scene.call(1, "echo");
        scene.recorder.until_ready(3).await;
        scene.instance.work_ended();
        scene.until_state(State::Asleep).await;
        wake_until_ready(&scene, 4).await;
        scene.instance.restart();
        scene.recorder.until_ready(5).await;
        assert_eq!((spoken(&scene).0, scene.engine.started(), refused(&scene)), (era, 5, vec![plan.first]));
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_while_it_is_discovered_does_not_make_a_known_modern_server_legacy() {
    let scene = scripted(MODERN_FIRST, |mut child: Child| async move {
        match child.number() {
            1 => McpServer { dies_at_call: Some(1), ..McpServer::default().dual() }.run(child).await,
            2 => {
                child.line().await;
                Child::exit(1)
            }
            _ => McpServer::default().dual().run(child).await,
        }
    });
    let scene = scene.ready().await;
    scene.call(1, "echo");
    scene.recorder.until_ready(3).await;
    assert_eq!((spoken(&scene).0, refused(&scene), scene.recorder.failures().len()), (Era::Modern, vec![], 2));
    scene.end().await;
}
