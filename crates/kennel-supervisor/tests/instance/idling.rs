//! A process that nobody needs is stopped, and comes back when somebody does.

use crate::support::{Scene, Told};
use kennel_supervisor::{End, Settings, State, StopReason};
use kennel_testkit::fake::McpServer;
use std::time::Duration;
use tokio::time::sleep;

const IDLE: Told = Told::Gone(1, End::Stopped(StopReason::Idle));

#[tokio::test(start_paused = true)]
async fn an_idle_process_is_stopped_and_woken_without_a_cost() {
    let scene = Scene::good(Settings::default()).ready().await;
    for generation in 1..=10 {
        sleep(Duration::from_mins(16)).await;
        assert_eq!((scene.engine.live(), scene.instance.status().state), (0, State::Asleep));
        scene.instance.wake();
        scene.recorder.until_ready(generation + 1).await;
    }
    assert_eq!(scene.recorder.failures(), []);
    assert_eq!(scene.instance.status().attempt, 1);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_keeps_the_process_and_its_end_begins_the_time() {
    let scene = Scene::good(Settings::default()).ready().await;
    scene.call(1, "hang");
    sleep(Duration::from_hours(2)).await;
    assert_eq!(scene.engine.live(), 1);
    scene.instance.work_ended();
    sleep(Duration::from_mins(14)).await;
    assert_eq!(scene.engine.live(), 1);
    sleep(Duration::from_mins(2)).await;
    assert_eq!(scene.engine.live(), 0);
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_wake_counts_as_activity() {
    let scene = Scene::good(Settings::default()).ready().await;
    for _ in 0..10 {
        sleep(Duration::from_mins(10)).await;
        scene.instance.wake();
    }
    assert_eq!((scene.engine.live(), scene.engine.started()), (1, 1));
    scene.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_wake_or_call_while_falling_asleep_is_not_lost() {
    for call in [false, true] {
        // It needs SIGTERM, so that there is time between the decision and the end.
        let server = McpServer { needs_term: true, ..McpServer::default() };
        let scene = Scene::server(Settings::default(), server).ready().await;
        scene.until_state(State::Stopping).await;
        assert_eq!(scene.engine.live(), 1, "it is still there");
        if call {
            scene.instance.work_began();
        } else {
            scene.instance.wake();
        }
        scene.recorder.until_ready(2).await;
        assert_eq!(scene.recorder.count(|told| *told == IDLE), 1);
        assert_eq!(scene.recorder.failures(), []);
        scene.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn more_ends_than_beginnings_do_not_keep_a_process_for_ever() {
    let scene = Scene::good(Settings::default()).ready().await;
    scene.instance.work_ended();
    assert_eq!(scene.instance.status().calls_in_flight, 0);
    sleep(Duration::from_mins(16)).await;
    assert_eq!(scene.engine.live(), 0);
    scene.end().await;
}
