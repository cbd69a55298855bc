//! Attending: a consumer that reads standard output in its own task.

use crate::support::{Stage, pattern, rest, settle, stdout};
use kennel_exec::{EventKind, Limits, Seq, Stream};

#[tokio::test(start_paused = true)]
async fn everything_arrives_in_order_and_nothing_seen_is_kept() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let mut attending = stage.attachment.attend(&server, Seq::START).unwrap();
    for number in 1..=3 {
        child.say(&format!("line {number}\n")).await;
        let event = attending.next().await.unwrap().unwrap();
        assert!(
            matches!(&event.kind, EventKind::Output { stream: Stream::Stdout, bytes } if **bytes == *format!("line {number}\n").as_bytes())
        );
    }
    child.print(Stream::Stderr, b"oops").await;
    let event = attending.next().await.unwrap().unwrap();
    assert!(
        matches!(event.kind, EventKind::Output { stream: Stream::Stderr, .. }),
        "also what it does not read itself"
    );
    let status = stage.attachment.status(&server).unwrap();
    assert!(status.oldest >= event.seq, "what was acknowledged is gone: {status:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_ahead_for_it_and_a_successor_finds_the_rest() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let mut attending = stage.attachment.attend(&server, Seq::START).unwrap();
    child.say("one\n").await;
    let first = attending.next().await.unwrap().unwrap();
    child.say("two\n").await;
    settle().await;
    assert_eq!(stage.attachment.status(&server).unwrap().newest, first.seq, "nobody reads while it does not wait");
    drop(attending);
    settle().await;
    assert!(stage.attachment.status(&server).unwrap().newest > first.seq, "the executor reads again");
    let mut successor = stage.attachment.subscribe(&server, first.seq).unwrap();
    let next = successor.next().await.unwrap().unwrap();
    assert!(matches!(&next.kind, EventKind::Output { bytes, .. } if **bytes == *b"two\n"));
}

#[tokio::test(start_paused = true)]
async fn what_a_process_wrote_before_its_end_is_not_lost_on_a_busy_consumer() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let mut attending = stage.attachment.attend(&server, Seq::START).unwrap();
    let text = pattern(50_000);
    child.print(Stream::Stdout, &text).await;
    child.exit(0);
    settle().await;
    // Only now does it look.
    let events = rest(&mut attending).await.unwrap();
    assert_eq!(stdout(Seq::START, &events), text);
    assert!(events.iter().any(|event| matches!(event.kind, EventKind::Exited { .. })));
}
