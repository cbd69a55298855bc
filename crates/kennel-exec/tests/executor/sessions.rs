//! Sessions: lost connections, resuming, and the end of everything.

use crate::support::{FakeEngine, Stage, from, pattern, process, request, rest, session, settle, stdout, tell, tight};
use bytes::Bytes;
use kennel_exec::{
    AttachError, Event, EventsError, Graces, Limits, Phase, ReadRequest, Seq, StartError, Stop, Stream, WriteId,
    WriteOutcome,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn a_lost_connection_leaves_processes_running_and_resuming_continues_the_events() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    child.say("one").await;
    let seen = subscription.next().await.unwrap().unwrap().seq;
    let stage = stage.reconnect();
    assert_eq!(subscription.next().await, Err(EventsError::Detached));
    child.say("two").await;
    settle().await;
    let mut subscription = stage.attachment.subscribe(&id, seen).unwrap();
    child.exit(0);
    assert_eq!(tell(&rest(&mut subscription).await.unwrap()), ["out:two", "exited", "closed"]);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_parked_when_the_connection_is_lost_wakes() {
    let stage = Stage::new(Limits::default());
    let (id, _child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let parked = tokio::spawn(async move { subscription.next().await });
    settle().await;
    let _stage = stage.reconnect();
    assert_eq!(parked.await.unwrap(), Err(EventsError::Detached));
}

#[tokio::test(start_paused = true)]
async fn a_reply_larger_than_the_log_survives_a_lost_connection() {
    for drop_subscription_first in [true, false] {
        let stage = Stage::new(tight());
        let (id, child) = stage.start("server").await;
        let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
        child.say("hello").await;
        let seen = subscription.next().await.unwrap().unwrap();
        let mut subscription = Some(subscription);
        if drop_subscription_first {
            subscription.take();
        }
        let printing = tokio::spawn(async move {
            child.print(Stream::Stdout, &pattern(500_000)).await;
            child.exit(0);
        });
        let stage = {
            let Stage { engine, executor, attachment } = stage;
            drop(attachment);
            sleep(Duration::from_secs(20)).await;
            Stage { attachment: executor.resume(&session("main")).unwrap(), engine, executor }
        };
        let mut events = Vec::new();
        let mut after = seen.seq;
        while tell(&events).last().is_none_or(|last| last != "closed") {
            let batch = stage.attachment.read(&id, from(after)).await.unwrap();
            after = batch.last().unwrap().seq;
            events.extend(batch);
        }
        assert_eq!(stdout(seen.seq, &events), pattern(500_000));
        printing.await.unwrap();
        drop(subscription);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_handed_out_but_not_dealt_with_can_be_had_again() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let printing = tokio::spawn(async move { child.print(Stream::Stdout, &pattern(100_000)).await });
    let lost = subscription.next().await.unwrap().unwrap();
    let stage = stage.reconnect();
    settle().await;
    let mut successor = stage.attachment.subscribe(&id, Seq::START).unwrap();
    assert_eq!(successor.next().await, Ok(Some(lost)));
    printing.abort();
}

#[tokio::test(start_paused = true)]
async fn a_second_attach_is_refused_at_once_and_harms_nobody() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    assert_eq!(stage.executor.resume(&session("main")).err(), Some(AttachError::AlreadyAttached(session("main"))));
    assert_eq!(stage.executor.open(session("main")).err(), Some(AttachError::Exists(session("main"))));
    child.say("still here").await;
    assert_eq!(tell(&stage.attachment.read(&id, from(Seq::START)).await.unwrap()), ["out:still here"]);
    drop(stage.attachment);
    let first = stage.executor.resume(&session("main")).unwrap();
    assert!(matches!(stage.executor.resume(&session("main")), Err(AttachError::AlreadyAttached(_))));
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn a_write_repeated_after_a_lost_connection_is_not_made_again() {
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let bytes = Bytes::from_static(b"call\n");
    stage.attachment.write(&id, WriteId::new(1), bytes.clone()).await.unwrap();
    let stage = stage.reconnect();
    assert_eq!(stage.attachment.write(&id, WriteId::new(1), bytes).await, Ok(WriteOutcome::Accepted));
    stage.attachment.close_stdin(&id).unwrap();
    assert_eq!(child.hear_all().await, "call\n");
}

#[tokio::test(start_paused = true)]
async fn a_start_under_way_when_the_connection_is_lost_is_found_again() {
    let stage = Stage::new(Limits::default());
    FakeEngine::shut(&stage.engine.create_gate);
    let start = stage.attachment.start(process("server"), request());
    assert!(tokio::time::timeout(Duration::from_millis(1), start).await.is_err());
    let stage = stage.reconnect();
    assert_eq!(stage.attachment.status(&process("server")).unwrap().phase, Phase::Starting);
    stage.engine.create_gate.add_permits(1);
    settle().await;
    assert_eq!(stage.attachment.status(&process("server")).unwrap().phase, Phase::Running);
}

#[tokio::test(start_paused = true)]
async fn a_session_detached_too_long_is_ended_with_everything_in_it() {
    let limits = Limits { detached_kept: Duration::from_secs(30), ..tight() };
    let stage = Stage::new(limits);
    let (_, child) = stage.start("stubborn").await;
    child.obeys_term.store(false, Ordering::SeqCst);
    stage.start("polite").await;
    let blocked = tokio::spawn(async move { child.print(Stream::Stdout, &pattern(1 << 20)).await });
    drop(stage.attachment);
    sleep(Duration::from_secs(29)).await;
    assert_eq!(stage.engine.live_boxes(), 2);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(stage.engine.live_boxes(), 0);
    blocked.await.unwrap();
    assert_eq!(stage.executor.resume(&session("main")).err(), Some(AttachError::Unknown(session("main"))));
    stage.executor.open(session("main")).unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_time_to_live_starts_anew_with_each_loss() {
    let mut stage = Stage::new(Limits { detached_kept: Duration::from_secs(30), ..Limits::default() });
    stage.start("server").await;
    for _ in 0..5 {
        let Stage { engine, executor, attachment } = stage;
        drop(attachment);
        sleep(Duration::from_secs(20)).await;
        stage = Stage { attachment: executor.resume(&session("main")).unwrap(), engine, executor };
    }
    sleep(Duration::from_hours(1)).await;
    assert_eq!(stage.engine.live_boxes(), 1, "an attached session has all the time in the world");
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_events_cannot_be_recovered_fails_alone() {
    let stage = Stage::new(tight());
    let (lost, lost_child) = stage.start("lost").await;
    let (kept, kept_child) = stage.start("kept").await;
    let subscription = stage.attachment.subscribe(&kept, Seq::START).unwrap();
    // Nobody is waited for here, so the oldest events go.
    stage.attachment.release(&lost).unwrap();
    lost_child.print(Stream::Stdout, &pattern(100_000)).await;
    kept_child.say("safe").await;
    let stage = stage.reconnect();
    settle().await;
    let oldest = stage.attachment.status(&lost).unwrap().oldest;
    let gap = EventsError::Gap { expected: Seq::new(1), received: oldest };
    assert_eq!(stage.attachment.subscribe(&lost, Seq::START).err(), Some(gap.clone()));
    assert_eq!(stage.attachment.read(&lost, from(Seq::START)).await, Err(gap));
    let mut successor = stage.attachment.subscribe(&kept, Seq::START).unwrap();
    kept_child.exit(0);
    assert_eq!(tell(&rest(&mut successor).await.unwrap()), ["out:safe", "exited", "closed"]);
    drop(subscription);
}

#[tokio::test(start_paused = true)]
async fn ending_a_session_ends_its_processes_and_no_others() {
    let stage = Stage::new(Limits::default());
    stage.start("a").await;
    let other = stage.executor.open(session("other")).unwrap();
    other.start(process("b"), request()).await.unwrap();
    stage.attachment.end(Stop::Gracefully(Graces::default())).await;
    assert_eq!(stage.engine.live_boxes(), 1);
    assert!(matches!(stage.executor.resume(&session("main")), Err(AttachError::Unknown(_))));
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_everything_and_takes_nothing_new() {
    let stage = Stage::new(Limits::default());
    let (id, _child) = stage.start("a").await;
    FakeEngine::shut(&stage.engine.create_gate);
    let (started, (), ()) = tokio::join!(
        stage.attachment.start(process("starting"), request()),
        async {
            settle().await;
            stage.executor.shutdown(Stop::Now).await;
        },
        async {
            sleep(Duration::from_secs(1)).await;
            stage.engine.create_gate.add_permits(1);
        }
    );
    assert!(matches!(started, Err(StartError::Terminated)));
    assert_eq!(stage.engine.live_boxes(), 0);
    assert!(stage.attachment.status(&id).is_err());
    let late = stage.attachment.start(process("late"), request()).await;
    assert!(matches!(late, Err(StartError::SessionEnded)));
    assert_eq!(stage.executor.open(session("late")).err(), Some(AttachError::ShuttingDown));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_no_consumer_and_subscribers_see_the_end() {
    let stage = Stage::new(tight());
    let (stuck, stuck_child) = stage.start("stuck").await;
    let (seen, _child) = stage.start("seen").await;
    let mut subscription = stage.attachment.subscribe(&seen, Seq::START).unwrap();
    let _never_asked = stage.attachment.subscribe(&stuck, Seq::START).unwrap();
    let blocked = tokio::spawn(async move { stuck_child.print(Stream::Stdout, &pattern(1 << 20)).await });
    settle().await;
    let (shut, ()) = tokio::join!(
        tokio::time::timeout(Duration::from_mins(1), stage.executor.shutdown(Stop::Gracefully(Graces::default()))),
        async {
            settle().await;
            let last_moment = ReadRequest { wait: Duration::ZERO, ..from(Seq::START) };
            stage.attachment.read(&stuck, last_moment).await.ok();
        }
    );
    shut.unwrap();
    blocked.await.unwrap();
    assert_eq!(tell(&rest(&mut subscription).await.unwrap()), ["exited", "closed"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_executor_ends_everything() {
    let stage = Stage::new(Limits::default());
    stage.start("a").await;
    let Stage { engine, executor, attachment } = stage;
    drop(executor);
    settle().await;
    assert_eq!(engine.live_boxes(), 0);
    drop(attachment);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_sessions_is_bounded() {
    let stage = Stage::new(Limits { sessions: 1, ..Limits::default() });
    let refused = stage.executor.open(session("second")).err();
    assert_eq!(refused, Some(AttachError::TooManySessions { limit: 1 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_that_resume_at_once_one_wins() {
    let stage = Stage::new(Limits::default());
    let Stage { executor, attachment, .. } = stage;
    let executor = Arc::new(executor);
    drop(attachment);
    for _ in 0..200 {
        let mut tries = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let executor = Arc::clone(&executor);
            tries.spawn(async move { executor.resume(&session("main")) });
        }
        let won = tries.join_all().await.into_iter().filter_map(Result::ok).count();
        assert_eq!(won, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_lost_connections_lose_nothing() {
    const LENGTH: usize = 2_000_000;
    let limits = Limits { message_bytes: 5000, retained_bytes: 5000, read_bytes: 1000, ..Limits::default() };
    let mut stage = Stage::new(limits);
    let (id, child) = stage.start("server").await;
    let printing = tokio::spawn(async move {
        child.print(Stream::Stdout, &pattern(LENGTH)).await;
        child.exit(0);
    });
    let mut events: Vec<Event> = Vec::new();
    for round in 0.. {
        let seen = events.last().map_or(Seq::START, |event| event.seq);
        let mut subscription = stage.attachment.subscribe(&id, seen).unwrap();
        for _ in 0..round % 30 {
            events.extend(subscription.next().await.unwrap());
        }
        if tell(&events[events.len().saturating_sub(1)..]) == ["closed"] {
            break;
        }
        if round % 2 == 0 {
            drop(subscription);
        }
        stage = stage.reconnect();
    }
    assert_eq!(stdout(Seq::START, &events), pattern(LENGTH));
    printing.await.unwrap();
}
