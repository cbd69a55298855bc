//! Who waits for whom: a slow consumer slows the child, and memory stays bounded.

use crate::support::{Child, Stage, from, pattern, rest, settle, stdout, tell, tight};
use kennel_exec::{EventKind, EventsError, Limits, LimitsError, ReadRequest, Seq, Stream};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Far more than the log and the pipe can hold.
const MUCH: usize = 1 << 20;

fn print(child: &Arc<Child>, length: usize) -> JoinHandle<()> {
    let child = Arc::clone(child);
    tokio::spawn(async move {
        child.print(Stream::Stdout, &pattern(length)).await;
        child.exit(0);
    })
}

fn kept(stage: &Stage, name: &str) -> u64 {
    let status = stage.attachment.status(&crate::support::process(name)).unwrap();
    status.newest.get() + 1 - status.oldest.get()
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_does_not_ask_stops_the_child_and_loses_nothing() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let printing = print(&child, MUCH);
    sleep(Duration::from_mins(1)).await;
    assert!(!printing.is_finished(), "the child is blocked");
    assert!(kept(&stage, "server") <= 6, "the log is bounded");
    let events = rest(&mut subscription).await.unwrap();
    assert_eq!(stdout(Seq::START, &events), pattern(MUCH));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_stops_the_child_and_loses_nothing() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    let mut seen = Seq::START;
    let printing = print(&child, MUCH);
    let mut events = Vec::new();
    loop {
        sleep(Duration::from_millis(100)).await;
        assert!(printing.is_finished() || kept(&stage, "server") <= 6);
        let request = ReadRequest { after: seen, max_bytes: 100, wait: Duration::from_secs(1) };
        let batch = stage.attachment.read(&id, request).await.unwrap();
        seen = batch.last().unwrap().seq;
        events.extend(batch);
        if events.last().unwrap().kind == EventKind::Closed {
            break;
        }
    }
    assert_eq!(stdout(Seq::START, &events), pattern(MUCH));
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_comes_late_finds_everything() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    let printing = print(&child, MUCH);
    sleep(Duration::from_mins(1)).await;
    assert!(!printing.is_finished(), "the child waits for it");
    let events = rest(&mut stage.attachment.subscribe(&id, Seq::START).unwrap()).await.unwrap();
    assert_eq!(stdout(Seq::START, &events), pattern(MUCH));
}

#[tokio::test(start_paused = true)]
async fn with_nobody_to_wait_for_the_child_runs_on_and_the_oldest_events_go() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    stage.attachment.release(&id).unwrap();
    print(&child, MUCH).await.unwrap();
    settle().await;
    let gap = stage.attachment.read(&id, from(Seq::START)).await;
    let Err(EventsError::Gap { expected, received }) = gap else { panic!("a gap and not {gap:?}") };
    assert_eq!(expected, Seq::new(1));
    let events = stage.attachment.read(&id, from(Seq::new(received.get() - 1))).await.unwrap();
    let tail: Vec<u8> = stdout(Seq::new(received.get() - 1), &events);
    assert!(tail.len() >= 256 - 64 && pattern(MUCH).ends_with(&tail), "the end is kept");
}

#[tokio::test(start_paused = true)]
async fn a_message_of_the_largest_size_is_kept_whole_also_with_nobody_to_wait_for() {
    let limits = Limits { retained_bytes: 300, ..tight() };
    let stage = Stage::new(limits);
    let (id, child) = stage.start("server").await;
    stage.attachment.release(&id).unwrap();
    child.say(&"noise\n".repeat(1000)).await;
    settle().await;
    let message = "m".repeat(256);
    child.say(&message).await;
    settle().await;
    let oldest = stage.attachment.status(&id).unwrap().oldest;
    let events = stage.attachment.read(&id, from(Seq::new(oldest.get() - 1))).await.unwrap();
    assert!(String::from_utf8(stdout(Seq::new(oldest.get() - 1), &events)).unwrap().ends_with(&message));
}

#[tokio::test(start_paused = true)]
async fn releasing_lets_the_child_run_on() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("subscribed").await;
    let subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let printing = print(&child, MUCH);
    sleep(Duration::from_secs(1)).await;
    assert!(!printing.is_finished());
    subscription.release();
    printing.await.unwrap();

    let (id, child) = stage.start("read").await;
    stage.attachment.read(&id, ReadRequest { wait: Duration::ZERO, ..from(Seq::START) }).await.unwrap();
    let printing = print(&child, MUCH);
    sleep(Duration::from_secs(1)).await;
    assert!(!printing.is_finished());
    stage.attachment.release(&id).unwrap();
    printing.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_read_beside_a_subscription_holds_nothing_back() {
    let stage = Stage::new(tight());
    let peek = ReadRequest { wait: Duration::ZERO, ..from(Seq::START) };
    let (id, child) = stage.start("subscribed").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    stage.attachment.read(&id, peek).await.unwrap();
    let printing = print(&child, MUCH);
    let events = rest(&mut subscription).await.unwrap();
    assert_eq!(stdout(Seq::START, &events).len(), MUCH);
    printing.await.unwrap();

    let (id, child) = stage.start("released").await;
    let subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    stage.attachment.read(&id, peek).await.unwrap();
    subscription.release();
    print(&child, MUCH).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_blocked_child_can_be_terminated() {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let printing = print(&child, MUCH);
    settle().await;
    stage.attachment.terminate(&id, kennel_exec::Stop::Now).await.unwrap();
    printing.await.unwrap();
    assert_eq!(stage.engine.live_boxes(), 0);
    let events = rest(&mut subscription).await.unwrap();
    assert!(pattern(MUCH).starts_with(&stdout(Seq::START, &events)), "what came, came whole");
    assert_eq!(tell(&events).last().unwrap(), "closed");
}

#[tokio::test]
async fn a_line_of_64_mib_passes_as_raw_output_through_the_default_limits() {
    const LINE: usize = 64 << 20;
    let stage = Stage::new(Limits::default());
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let printing = tokio::spawn(async move {
        let block = vec![b'x'; 1 << 20];
        for _ in 0..64 {
            child.print(Stream::Stdout, &block).await;
        }
        child.say("\n").await;
        child.exit(0);
    });
    let mut length = 0;
    while let Some(event) = subscription.next().await.unwrap() {
        if let EventKind::Output { bytes, .. } = event.kind {
            length += bytes.len();
            assert!(bytes.len() <= 64 * 1024);
        }
    }
    assert_eq!(length, LINE + 1);
    printing.await.unwrap();
}

#[test]
fn a_log_smaller_than_a_message_is_refused() {
    let limits = Limits { message_bytes: 100, retained_bytes: 99, ..Limits::default() };
    let engine = Arc::new(crate::support::Shared(crate::support::FakeEngine::new()));
    let error = kennel_exec::Executor::new(engine, limits).err();
    assert_eq!(error, Some(LimitsError::RetainedBelowMessage { retained: 99, message: 100 }));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_standard_error_waits_and_standard_output_does_not() {
    let (stderr_burst, stderr_rate) = (64 << 10, 64 << 10);
    let stage = Stage::new(Limits { stderr_burst, stderr_rate, ..Limits::default() });
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let flooding = Arc::clone(&child);
    let start = tokio::time::Instant::now();
    let flood = tokio::spawn(async move {
        flooding.print(Stream::Stderr, &vec![b'.'; MUCH]).await;
        start.elapsed()
    });
    let mut read = 0;
    while read < MUCH / 2 {
        if let EventKind::Output { stream: Stream::Stderr, bytes } = subscription.next().await.unwrap().unwrap().kind {
            read += bytes.len();
        }
    }
    assert!(start.elapsed() > Duration::from_secs(6), "half of it is read at its pace: {:?}", start.elapsed());
    let before = tokio::time::Instant::now();
    child.say("an answer").await;
    while !tell(&[subscription.next().await.unwrap().unwrap()])[0].starts_with("out:") {}
    assert!(before.elapsed() < Duration::from_secs(2), "nothing else waits with it: {:?}", before.elapsed());
    let reading = tokio::spawn(async move { rest(&mut subscription).await });
    assert!(flood.await.unwrap() > Duration::from_secs(13), "the child waits, and nothing is lost");
    child.exit(0);
    reading.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn empty_lines_cost_more_than_they_have_bytes() {
    let (stderr_burst, stderr_rate) = (64 << 10, 64 << 10);
    let stage = Stage::new(Limits { stderr_burst, stderr_rate, ..Limits::default() });
    let (id, child) = stage.start("server").await;
    let mut subscription = stage.attachment.subscribe(&id, Seq::START).unwrap();
    let start = tokio::time::Instant::now();
    let flood = tokio::spawn(async move {
        child.print(Stream::Stderr, &vec![b'\n'; MUCH / 4]).await;
        child.exit(0);
        start.elapsed()
    });
    rest(&mut subscription).await.unwrap();
    let written = flood.await.unwrap();
    assert!(written > Duration::from_mins(1), "each is a line to look at: {written:?}");
}
