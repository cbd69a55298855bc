//! Feeding: writes that nobody waits for, in order and whole, within a bound.

use crate::support::{Stage, settle};
use bytes::Bytes;
use kennel_exec::{FeedError, Limits, WriteId, WriteOutcome};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn what_is_fed_arrives_in_order_with_what_is_written() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let feed = stage.attachment.feed(&server).unwrap();
    feed.send(Bytes::from_static(b"one\n")).unwrap();
    let outcome = stage.attachment.write(&server, WriteId::new(1), Bytes::from_static(b"two\n")).await;
    assert_eq!(outcome, Ok(WriteOutcome::Accepted));
    feed.send(Bytes::from_static(b"three\n")).unwrap();
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await, "one\ntwo\nthree\n");
    assert_eq!(feed.send(Bytes::from_static(b"four\n")), Err(FeedError::Closed));
}

#[tokio::test]
async fn feeds_larger_than_the_pipe_do_not_interleave() {
    const LENGTH: usize = 200_000;
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let feed = stage.attachment.feed(&server).unwrap();
    for number in 0..8_u8 {
        feed.send(Bytes::from(vec![b'a' + number; LENGTH])).unwrap();
    }
    for number in 0..8_u8 {
        let text = child.hear(LENGTH).await;
        assert!(text.bytes().all(|byte| byte == b'a' + number), "one feed, whole and in its turn");
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_bounded_and_a_refused_feed_leaves_nothing_behind() {
    let stage = Stage::new(Limits { pending_write_bytes: 300_000, ..Limits::default() });
    let (server, child) = stage.start("server").await;
    let feed = stage.attachment.feed(&server).unwrap();
    let first = Bytes::from(vec![b'a'; 1_000_000]);
    feed.send(first.clone()).expect("one alone may be larger than the bound");
    settle().await;
    assert_eq!(feed.send(Bytes::from_static(b"more")), Err(FeedError::Full));
    assert_eq!(child.hear(first.len()).await.len(), first.len());
    settle().await;
    feed.send(Bytes::from_static(b"then")).unwrap();
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await, "then", "the refused one was not written in part");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_feeders_at_once_lose_and_mix_nothing() {
    const EACH: usize = 500;
    let stage = Arc::new(Stage::new(Limits::default()));
    let (server, child) = stage.start("server").await;
    let feed = stage.attachment.feed(&server).unwrap();
    let feeders: Vec<_> = (0..4)
        .map(|feeder| {
            let feed = feed.clone();
            tokio::task::spawn_blocking(move || {
                for number in 0..EACH {
                    feed.send(Bytes::from(format!("{feeder} {number:06} {}\n", "x".repeat(500)))).unwrap();
                }
            })
        })
        .collect();
    let closing = async {
        for feeder in feeders {
            feeder.await.unwrap();
        }
        stage.attachment.close_stdin(&server).unwrap();
    };
    let (heard, ()) = tokio::join!(child.hear_all(), closing);
    for feeder in 0..4 {
        let of_feeder = heard.lines().filter(|line| line.starts_with(&format!("{feeder} ")));
        let numbers: Vec<usize> = of_feeder.map(|line| line[2..8].parse().unwrap()).collect();
        assert_eq!(numbers, (0..EACH).collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_to_a_process_that_has_ended_is_refused() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let feed = stage.attachment.feed(&server).unwrap();
    child.exit(0);
    settle().await;
    assert_eq!(feed.send(Bytes::from_static(b"late")), Err(FeedError::Closed));
}
