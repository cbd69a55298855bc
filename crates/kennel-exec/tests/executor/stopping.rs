//! The stop ladder, which always ends the whole box.

use crate::support::{Blow, Child, SIGTERM, Stage, rest, settle, tell};
use kennel_box::{ExitCause, ExitReport};
use kennel_exec::{EventKind, Graces, Limits, Phase, ProcessError, ProcessId, Seq, Stop};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

const GRACES: Graces = Graces { stdin: Duration::from_secs(2), term: Duration::from_secs(3) };

async fn terminate(stage: &Stage, id: &ProcessId, stop: Stop) -> Duration {
    let start = Instant::now();
    stage.attachment.terminate(id, stop).await.unwrap();
    assert_eq!(stage.engine.live_boxes(), 0, "the box is gone when terminate returns");
    start.elapsed()
}

async fn exits_when_stdin_closes(child: Arc<Child>) {
    child.hear_all().await;
    child.exit(0);
}

#[tokio::test(start_paused = true)]
async fn a_polite_server_ends_when_its_stdin_closes() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    tokio::spawn(exits_when_stdin_closes(Arc::clone(&child)));
    let took = terminate(&stage, &id, Stop::Gracefully(GRACES)).await;
    assert!(took < Duration::from_secs(1));
    assert_eq!(child.blows(), [Blow::Destroyed], "no signal was needed, and the box was still ended");
    let events = rest(&mut stage.attachment.subscribe(&id, Seq::START).unwrap()).await.unwrap();
    assert!(matches!(events[0].kind, EventKind::Exited { report } if report.success()));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_eof_gets_sigterm_to_the_whole_box() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let took = terminate(&stage, &id, Stop::Gracefully(GRACES)).await;
    assert_eq!(took.as_secs(), 2);
    assert_eq!(child.blows(), [Blow::ToBox(SIGTERM), Blow::Destroyed]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_everything_ends_with_its_box() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    child.obeys_term.store(false, Ordering::SeqCst);
    let took = terminate(&stage, &id, Stop::Gracefully(GRACES)).await;
    assert_eq!(took.as_secs(), 5);
    assert_eq!(child.blows(), [Blow::ToBox(SIGTERM), Blow::Destroyed]);
    settle().await;
    assert_eq!(stage.attachment.status(&id).unwrap().phase, Phase::Closed(ExitReport::BOX_ENDED));
}

#[tokio::test(start_paused = true)]
async fn stopping_now_takes_no_time() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let took = terminate(&stage, &id, Stop::Now).await;
    assert!(took < Duration::from_millis(10));
    assert_eq!(child.blows(), [Blow::Destroyed]);
}

#[tokio::test(start_paused = true)]
async fn stopping_now_cuts_a_graceful_stop_short_and_not_the_reverse() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    child.obeys_term.store(false, Ordering::SeqCst);
    let long = Graces { stdin: Duration::from_secs(100), term: Duration::from_secs(100) };
    let start = Instant::now();
    let (first, second, third) = tokio::join!(
        stage.attachment.terminate(&id, Stop::Gracefully(long)),
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stage.attachment.terminate(&id, Stop::Now).await
        },
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stage.attachment.terminate(&id, Stop::Gracefully(long)).await
        }
    );
    [first, second, third].into_iter().for_each(Result::unwrap);
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn stopping_goes_on_when_its_caller_is_gone() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    child.obeys_term.store(false, Ordering::SeqCst);
    let impatient = stage.attachment.terminate(&id, Stop::Gracefully(GRACES));
    assert!(tokio::time::timeout(Duration::from_secs(1), impatient).await.is_err());
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(stage.engine.live_boxes(), 0);
}

#[tokio::test(start_paused = true)]
async fn descendants_left_behind_by_a_stopped_server_end_too() {
    let stage = Stage::new(Limits { drain: Duration::from_secs(2), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    tokio::spawn({
        let child = Arc::clone(&child);
        async move {
            child.hear_all().await;
            child.exit_leaving_a_grandchild(0);
        }
    });
    terminate(&stage, &id, Stop::Gracefully(GRACES)).await;
    assert_eq!(child.blows(), [Blow::Destroyed]);
    let events = rest(&mut stage.attachment.subscribe(&id, Seq::START).unwrap()).await.unwrap();
    assert_eq!(tell(&events), ["exited", "closed"]);
}

#[tokio::test(start_paused = true)]
async fn descendants_of_an_ended_server_can_be_ended_before_the_drain_is_over() {
    let stage = Stage::new(Limits { drain: Duration::from_hours(1), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    child.exit_leaving_a_grandchild(0);
    settle().await;
    assert_eq!(stage.engine.live_boxes(), 1);
    assert!(terminate(&stage, &id, Stop::Now).await < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_signal_goes_to_the_process_and_its_cause_is_told() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    stage.attachment.signal(&id, SIGTERM).unwrap();
    let events = rest(&mut stage.attachment.subscribe(&id, Seq::START).unwrap()).await.unwrap();
    assert!(matches!(events[0].kind, EventKind::Exited { report } if report.cause == ExitCause::Signalled));
    assert_eq!(child.blows()[0], Blow::ToProcess(SIGTERM));
    assert!(matches!(stage.attachment.signal(&id, SIGTERM), Err(ProcessError::NotRunning(_))), "pids are reused");
}

#[tokio::test(start_paused = true)]
async fn a_box_that_will_not_go_is_not_called_gone() {
    let stage = Stage::new(Limits::default());
    let (id, _child) = stage.start("server").await;
    stage.engine.fail_destroy.store(true, Ordering::SeqCst);
    let error = stage.attachment.terminate(&id, Stop::Now).await.unwrap_err();
    assert!(matches!(error, ProcessError::BoxRemains { .. }));
}

#[tokio::test(start_paused = true)]
async fn terminating_what_is_not_there_says_so() {
    let stage = Stage::new(Limits::default());
    let error = stage.attachment.terminate(&crate::support::process("nobody"), Stop::Now).await.unwrap_err();
    assert!(matches!(error, ProcessError::Unknown(_)));
}
