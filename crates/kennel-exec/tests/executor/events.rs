//! One sequence of events per process, and the ways to read it.

use crate::support::{Stage, from, rest, settle, stdout, tell, tight};
use kennel_exec::{EventKind, EventsError, Limits, Phase, ProcessError, ReadRequest, Seq, Stream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(start_paused = true)]
async fn output_exit_and_close_have_one_sequence() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    child.say("hello").await;
    settle().await;
    child.print(Stream::Stderr, b"a warning").await;
    settle().await;
    child.exit(3);
    let events = rest(&mut subscription).await.unwrap();
    assert_eq!(tell(&events), ["out:hello", "err:a warning", "exited", "closed"]);
    assert_eq!(events.iter().map(|event| event.seq.get()).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(matches!(events[2].kind, EventKind::Exited { report } if report.shell_code() == 3));
    assert_eq!(subscription.next().await, Ok(None), "the end stays the end");
}

#[tokio::test(start_paused = true)]
async fn exited_is_not_closed_while_output_is_left() {
    let stage = Stage::new(Limits { drain: Duration::from_secs(2), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    child.exit_leaving_a_grandchild(0);
    settle().await;
    assert!(matches!(stage.attachment.status(&id).unwrap().phase, Phase::Exited(_)));
    child.say("last words").await;
    child.close_pipes();
    let events = {
        settle().await;
        stage.attachment.read(&id, from(Seq::START)).await.unwrap()
    };
    assert_eq!(tell(&events), ["exited", "out:last words", "closed"]);
    assert!(matches!(stage.attachment.status(&id).unwrap().phase, Phase::Closed(_)));
}

#[tokio::test(start_paused = true)]
async fn a_grandchild_that_keeps_stdout_open_does_not_make_a_dead_server_look_alive() {
    let stage = Stage::new(Limits { drain: Duration::from_secs(2), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    let start = Instant::now();
    child.exit_leaving_a_grandchild(1);
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    assert!(matches!(subscription.next().await, Ok(Some(event)) if matches!(event.kind, EventKind::Exited { .. })));
    assert!(start.elapsed() < Duration::from_secs(1), "the exit is known at once");
    assert_eq!(tell(&rest(&mut subscription).await.unwrap()), ["closed"]);
    assert!(start.elapsed() >= Duration::from_secs(2), "its output was waited for");
    assert_eq!(stage.engine.live_boxes(), 0, "the grandchild went with the box");
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_nobody_can_close_is_given_up_after_the_drain() {
    let stage = Stage::new(Limits { drain: Duration::from_secs(2), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    child.unkillable.store(true, Ordering::SeqCst);
    child.say("said").await;
    settle().await;
    let start = Instant::now();
    child.exit_leaving_a_grandchild(1);
    let events = rest(&mut stage.attachment.subscribe(&id, Seq::START).unwrap()).await.unwrap();
    assert_eq!(tell(&events), ["out:said", "exited", "closed"]);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn someone_who_outlives_the_box_and_never_stops_writing_does_not_keep_the_process_open() {
    let stage = Stage::new(Limits { drain: Duration::from_millis(20), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    child.unkillable.store(true, Ordering::SeqCst);
    child.exit_leaving_a_grandchild(1);
    let writing = tokio::spawn(async move {
        loop {
            child.say("and on ").await;
        }
    });
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let events = timeout(Duration::from_secs(30), rest(&mut subscription)).await.expect("an end").unwrap();
    assert!(matches!(events.last().unwrap().kind, EventKind::Closed));
    writing.abort();
}

#[tokio::test(start_paused = true)]
async fn a_slow_consumer_does_not_lose_what_lay_in_the_pipe_at_the_exit() {
    let stage = Stage::new(Limits { drain: Duration::from_millis(10), ..tight() });
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let text = "x".repeat(8000);
    child.say(&text).await;
    child.exit(0);
    let mut events = Vec::new();
    while let Some(event) = subscription.next().await.unwrap() {
        events.push(event);
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(stdout(Seq::START, &events), text.as_bytes());
    assert!(matches!(events.last().unwrap().kind, EventKind::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_read_returns_at_once_on_data_at_the_deadline_without_and_at_once_at_the_end() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let start = Instant::now();
    assert_eq!(stage.attachment.read(&id, from(Seq::START)).await, Ok(Vec::new()));
    assert_eq!(start.elapsed(), Duration::from_secs(5), "the deadline");

    let start = Instant::now();
    let (events, ()) = tokio::join!(stage.attachment.read(&id, from(Seq::START)), async {
        sleep(Duration::from_secs(1)).await;
        child.say("data").await;
    });
    assert_eq!(tell(&events.unwrap()), ["out:data"]);
    assert_eq!(start.elapsed(), Duration::from_secs(1), "the data");

    child.exit(0);
    settle().await;
    let start = Instant::now();
    assert_eq!(tell(&stage.attachment.read(&id, from(Seq::new(1))).await.unwrap()), ["exited", "closed"]);
    assert_eq!(stage.attachment.read(&id, from(Seq::new(3))).await, Ok(Vec::new()));
    assert_eq!(start.elapsed(), Duration::ZERO, "the end");
}

#[tokio::test(start_paused = true)]
async fn a_read_without_waiting_still_returns_what_is_there() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    child.say("a chunk").await;
    settle().await;
    let request = ReadRequest { after: Seq::START, max_bytes: 1, wait: Duration::ZERO };
    assert_eq!(tell(&stage.attachment.read(&id, request).await.unwrap()), ["out:a chunk"], "larger than asked for");
}

#[tokio::test(start_paused = true)]
async fn control_stays_live_while_a_long_read_is_parked() {
    let stage = Arc::new(Stage::new(Limits::default()));
    let (id, child) = stage.start("server").await;
    let parked = tokio::spawn({
        let (stage, id) = (Arc::clone(&stage), id.clone());
        let request = ReadRequest { wait: Duration::from_hours(1), ..from(Seq::START) };
        async move { stage.attachment.read(&id, request).await }
    });
    settle().await;
    let start = Instant::now();
    assert_eq!(stage.attachment.status(&id).unwrap().phase, Phase::Running);
    child.obeys_term.store(false, Ordering::SeqCst);
    stage.attachment.signal(&id, 10).unwrap();
    assert_eq!(child.blows(), [crate::support::Blow::ToProcess(10)]);
    assert!(!parked.is_finished());
    stage.attachment.terminate(&id, kennel_exec::Stop::Now).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(tell(&parked.await.unwrap().unwrap()), ["exited"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_subscriber_gets_the_replay_and_then_what_happens() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    child.say("early").await;
    settle().await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let early = subscription.next().await.unwrap().unwrap();
    let (late, ()) = tokio::join!(subscription.next(), child.say("late"));
    assert_eq!(tell(&[early, late.unwrap().unwrap()]), ["out:early", "out:late"]);
}

#[tokio::test(start_paused = true)]
async fn the_last_lines_of_stderr_are_there_for_the_error_message() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    child.print(Stream::Stderr, b"Traceback\n  in main\nImportError: nope").await;
    child.exit(1);
    rest(&mut stage.attachment.subscribe(&id, Seq::START).unwrap()).await.unwrap();
    assert_eq!(stage.attachment.stderr(&id, 2).unwrap(), ["  in main", "ImportError: nope"]);
}

#[tokio::test(start_paused = true)]
async fn a_finished_process_is_kept_for_its_time_after_the_last_reading() {
    let stage = Stage::new(Limits { finished_kept: Duration::from_secs(30), ..Limits::default() });
    let (id, child) = stage.start("server").await;
    child.exit(0);
    sleep(Duration::from_secs(29)).await;
    assert_eq!(tell(&stage.attachment.read(&id, from(Seq::START)).await.unwrap()), ["exited", "closed"]);
    sleep(Duration::from_secs(29)).await;
    assert!(stage.attachment.status(&id).is_ok(), "a slow reader is not cut off");
    sleep(Duration::from_secs(2)).await;
    assert!(matches!(stage.attachment.status(&id), Err(ProcessError::Unknown(_))));
    assert!(matches!(stage.attachment.read(&id, from(Seq::START)).await, Err(EventsError::Unknown(_))));
    assert!(stage.attachment.processes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_so_many_finished_processes_are_kept() {
    let stage = Stage::new(Limits { finished_processes: 2, ..Limits::default() });
    for name in ["a", "b", "c", "d"] {
        let (_, child) = stage.start(name).await;
        child.exit(0);
        settle().await;
    }
    let mut names: Vec<String> = stage.attachment.processes().iter().map(|(id, _)| id.to_string()).collect();
    names.sort();
    assert_eq!(names, ["c", "d"]);
    let (id, _child) = stage.start("a").await;
    sleep(Duration::from_mins(1)).await;
    assert_eq!(stage.attachment.status(&id).unwrap().phase, Phase::Running, "a forgotten id can be used again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_subscribers_that_come_at_any_moment_see_the_same_bytes() {
    let stage = Arc::new(Stage::new(Limits::default()));
    for round in 0..20 {
        let (id, child) = stage.start(&format!("server {round}")).await;
        let text = crate::support::pattern(200_000);
        let printing = tokio::spawn({
            let text = text.clone();
            async move {
                for chunk in text.chunks(1000) {
                    child.print(Stream::Stdout, chunk).await;
                }
                child.exit(0);
            }
        });
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..8 {
            tokio::task::yield_now().await;
            let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
            readers.spawn(async move { rest(&mut subscription).await.unwrap() });
        }
        printing.await.unwrap();
        let seen = timeout(Duration::from_secs(30), readers.join_all()).await.unwrap();
        assert!(seen.iter().all(|events| stdout(Seq::START, events) == text));
    }
}
