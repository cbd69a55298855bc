//! Writes: ordered, whole, once, and honest about what became of them.

use crate::support::{FakeEngine, Stage, process, request, settle};
use bytes::Bytes;
use kennel_exec::{Limits, WriteError, WriteId, WriteOutcome};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

fn id(number: u64) -> WriteId {
    WriteId::new(number)
}

fn quick() -> Limits {
    Limits { write_timeout: Duration::from_secs(1), ..Limits::default() }
}

#[tokio::test(start_paused = true)]
async fn a_write_arrives_once_however_often_it_is_repeated() {
    let stage = Stage::new(quick());
    let (server, child) = stage.start("server").await;
    for _ in 0..3 {
        let outcome = stage.attachment.write(&server, id(7), Bytes::from_static(b"ping\n")).await;
        assert_eq!(outcome, Ok(WriteOutcome::Accepted));
    }
    stage.attachment.write(&server, id(8), Bytes::from_static(b"ping\n")).await.unwrap();
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await, "ping\nping\n");
}

#[tokio::test(start_paused = true)]
async fn the_same_write_made_twice_at_once_arrives_once() {
    let stage = Stage::new(Limits { pending_writes: 1, ..quick() });
    let (server, child) = stage.start("server").await;
    let text = Bytes::from(vec![b'x'; 100_000]);
    let write = || stage.attachment.write(&server, id(1), text.clone());
    let (first, second, third, heard) = tokio::join!(write(), write(), write(), child.hear(100_000));
    assert_eq!([first, second, third], [const { Ok(WriteOutcome::Accepted) }; 3]);
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!((heard.len(), child.hear_all().await.as_str()), (100_000, ""));
}

#[tokio::test(start_paused = true)]
async fn an_id_used_for_other_bytes_is_an_error_and_not_a_silent_loss() {
    let stage = Stage::new(quick());
    let (server, _child) = stage.start("server").await;
    stage.attachment.write(&server, id(0), Bytes::from_static(b"from client A")).await.unwrap();
    let outcome = stage.attachment.write(&server, id(0), Bytes::from_static(b"from client B")).await;
    assert_eq!(outcome, Err(WriteError::IdReused(id(0))));
}

#[tokio::test(start_paused = true)]
async fn as_many_writes_are_remembered_as_the_limit_says() {
    let stage = Stage::new(Limits { remembered_writes: 4, pending_writes: 2, ..quick() });
    let (server, child) = stage.start("server").await;
    for number in [1, 2, 3, 4, 1, 5, 1] {
        stage.attachment.write(&server, id(number), Bytes::from(format!("{number}"))).await.unwrap();
    }
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await, "123451", "the fifth made room by forgetting the first");
    assert_eq!(Limits::default().remembered_writes, 4096);
}

#[tokio::test(start_paused = true)]
async fn concurrent_writes_larger_than_the_pipe_do_not_interleave() {
    const LENGTH: usize = 200_000;
    let stage = Arc::new(Stage::new(Limits::default()));
    let (server, child) = stage.start("server").await;
    let mut writes = JoinSet::new();
    for number in 0..8_u8 {
        let (stage, server) = (Arc::clone(&stage), server.clone());
        let bytes = Bytes::from(vec![b'a' + number; LENGTH]);
        writes.spawn(async move { stage.attachment.write(&server, id(number.into()), bytes).await });
    }
    for _ in 0..8 {
        let text = child.hear(LENGTH).await;
        assert!(text.bytes().all(|byte| byte == text.as_bytes()[0]), "one write, whole");
    }
    assert!(writes.join_all().await.into_iter().all(|outcome| outcome == Ok(WriteOutcome::Accepted)));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_times_out_half_way_is_finished_in_its_place_and_not_repeated() {
    let stage = Stage::new(quick());
    let (server, child) = stage.start("server").await;
    let large = Bytes::from(vec![b'x'; 100_000]);
    let start = Instant::now();
    let outcome = stage.attachment.write(&server, id(1), large.clone()).await;
    assert_eq!((outcome, start.elapsed()), (Err(WriteError::TimedOut(id(1))), Duration::from_secs(1)));
    let next = stage.attachment.write(&server, id(2), Bytes::from_static(b"after")).await;
    assert_eq!(next, Err(WriteError::TimedOut(id(2))), "it waits its turn");

    let (repeated, heard) = tokio::join!(stage.attachment.write(&server, id(1), large.clone()), child.hear(100_005));
    assert_eq!(repeated, Ok(WriteOutcome::Accepted));
    assert_eq!(heard, format!("{}after", "x".repeat(100_000)));
    let again = stage.attachment.write(&server, id(2), Bytes::from_static(b"after")).await;
    assert_eq!(again, Ok(WriteOutcome::Accepted));
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_leaves_no_half_write() {
    let stage = Arc::new(Stage::new(quick()));
    let (server, child) = stage.start("server").await;
    let large = Bytes::from(vec![b'x'; 100_000]);
    let write = tokio::spawn({
        let (stage, server, large) = (Arc::clone(&stage), server.clone(), large.clone());
        async move { stage.attachment.write(&server, id(1), large).await }
    });
    settle().await;
    write.abort();
    let (outcome, heard) = tokio::join!(stage.attachment.write(&server, id(1), large), child.hear(100_000));
    assert_eq!((outcome, heard.len()), (Ok(WriteOutcome::Accepted), 100_000));
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await, "");
}

#[tokio::test(start_paused = true)]
async fn what_waits_to_be_written_is_bounded_in_bytes() {
    let stage = Stage::new(Limits { pending_write_bytes: 100_000, ..quick() });
    let (server, child) = stage.start("server").await;
    let block = Bytes::from(vec![b'x'; 90_000]);
    for number in [1, 2] {
        let outcome = stage.attachment.write(&server, id(number), block.clone()).await;
        assert_eq!(outcome, Err(WriteError::TimedOut(id(number))));
    }
    stage.attachment.close_stdin(&server).unwrap();
    assert_eq!(child.hear_all().await.len(), 90_000, "the second found no room, so nothing of it was queued");
}

#[tokio::test(start_paused = true)]
async fn closing_stdin_lets_earlier_writes_through_and_refuses_later_ones() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let large = Bytes::from(vec![b'x'; 100_000]);
    let (written, (), heard) = tokio::join!(
        stage.attachment.write(&server, id(1), large),
        async {
            settle().await;
            stage.attachment.close_stdin(&server).unwrap();
            let late = stage.attachment.write(&server, id(2), Bytes::from_static(b"late")).await;
            assert_eq!(late, Ok(WriteOutcome::StdinClosed));
            stage.attachment.close_stdin(&server).unwrap();
        },
        async {
            sleep(Duration::from_secs(1)).await;
            child.hear_all().await
        },
    );
    assert_eq!((written, heard.len()), (Ok(WriteOutcome::Accepted), 100_000));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_waits_for_room_is_refused_when_stdin_closes() {
    let stage = Stage::new(Limits { pending_write_bytes: 100_000, ..Limits::default() });
    let (server, _child) = stage.start("server").await;
    let block = Bytes::from(vec![b'x'; 100_000]);
    let start = Instant::now();
    let (first, second, ()) = tokio::join!(
        stage.attachment.write(&server, id(1), block.clone()),
        async {
            let outcome = stage.attachment.write(&server, id(2), block.clone()).await;
            assert!(start.elapsed() < Duration::from_secs(1));
            outcome
        },
        async {
            settle().await;
            stage.attachment.close_stdin(&server).unwrap();
        }
    );
    assert_eq!(first, Err(WriteError::TimedOut(id(1))));
    assert_eq!(second, Ok(WriteOutcome::StdinClosed));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_closed_its_stdin_is_not_written_to() {
    let stage = Stage::new(quick());
    let (server, child) = stage.start("server").await;
    child.stop_listening().await;
    let outcome = stage.attachment.write(&server, id(1), Bytes::from_static(b"anyone?")).await;
    assert_eq!(outcome, Ok(WriteOutcome::StdinClosed));
}

#[tokio::test(start_paused = true)]
async fn a_write_to_an_exited_process_is_not_accepted() {
    let stage = Stage::new(quick());
    let (server, child) = stage.start("server").await;
    stage.attachment.write(&server, id(1), Bytes::from_static(b"before")).await.unwrap();
    // The pipe would still take the bytes.
    child.exit_leaving_a_grandchild(0);
    settle().await;
    let late = stage.attachment.write(&server, id(2), Bytes::from_static(b"late")).await;
    assert_eq!(late, Ok(WriteOutcome::StdinClosed));
    let repeated = stage.attachment.write(&server, id(1), Bytes::from_static(b"before")).await;
    assert_eq!(repeated, Ok(WriteOutcome::Accepted), "what was accepted stays accepted");
}

#[tokio::test(start_paused = true)]
async fn a_write_under_way_when_the_process_ends_is_told_at_once() {
    let stage = Stage::new(Limits::default());
    let (server, child) = stage.start("server").await;
    let start = Instant::now();
    let large = Bytes::from(vec![b'x'; 100_000]);
    let (first, second, ()) = tokio::join!(
        stage.attachment.write(&server, id(1), large.clone()),
        stage.attachment.write(&server, id(2), large.clone()),
        async {
            settle().await;
            child.exit_leaving_a_grandchild(1);
        }
    );
    assert_eq!([first, second], [const { Ok(WriteOutcome::StdinClosed) }; 2]);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_write_before_the_start_or_to_nobody_says_so() {
    let stage = Stage::new(quick());
    let nobody = stage.attachment.write(&process("nobody"), id(1), Bytes::new()).await;
    assert_eq!(nobody, Ok(WriteOutcome::UnknownProcess));
    FakeEngine::shut(&stage.engine.create_gate);
    let server = process("server");
    let (started, ()) = tokio::join!(stage.attachment.start(server.clone(), request()), async {
        settle().await;
        let early = stage.attachment.write(&server, id(1), Bytes::from_static(b"hi")).await;
        assert_eq!(early, Ok(WriteOutcome::Starting));
        stage.engine.create_gate.add_permits(1);
    });
    started.unwrap();
    let again = stage.attachment.write(&server, id(1), Bytes::from_static(b"hi")).await;
    assert_eq!(again, Ok(WriteOutcome::Accepted), "the early write took no place");
    assert_eq!(stage.engine.next_child().await.hear(2).await, "hi");
}

#[tokio::test(start_paused = true)]
async fn stdin_closed_before_the_start_is_closed_from_the_start() {
    let stage = Stage::new(quick());
    FakeEngine::shut(&stage.engine.create_gate);
    let server = process("server");
    let (started, ()) = tokio::join!(stage.attachment.start(server.clone(), request()), async {
        settle().await;
        stage.attachment.close_stdin(&server).unwrap();
        stage.engine.create_gate.add_permits(1);
    });
    started.unwrap();
    let child = stage.engine.next_child().await;
    let heard = tokio::time::timeout(Duration::from_secs(1), child.hear_all()).await;
    assert_eq!(heard.expect("the end of standard input"), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Writes in sequence, each given up after a random time and repeated until it is accepted.
    #[test]
    fn impatient_writers_write_everything_once_and_in_order(
        lengths in prop::collection::vec(1_usize..150_000, 1..8),
        patience in prop::collection::vec(0_u64..40, 1..20),
        appetite in 1_usize..40_000,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new(Limits { pending_writes: 2, pending_write_bytes: 200_000, ..Limits::default() });
            let (server, child) = stage.start("server").await;
            let text = crate::support::pattern(lengths.iter().sum()).iter().map(|byte| byte % 128).collect::<Bytes>();
            let total = text.len();
            let listening = tokio::spawn(async move {
                let mut heard = String::new();
                while heard.len() < total {
                    heard.push_str(&child.hear(appetite.min(total - heard.len())).await);
                    sleep(Duration::from_millis(3)).await;
                }
                heard
            });
            let mut patience = patience.into_iter().cycle();
            let mut left = text.clone();
            for (number, length) in (0..).zip(lengths) {
                let bytes = left.split_to(length);
                loop {
                    let wait = Duration::from_millis(patience.next().unwrap() + 1);
                    let write = stage.attachment.write(&server, id(number), bytes.clone());
                    if let Ok(outcome) = tokio::time::timeout(wait, write).await {
                        assert_eq!(outcome, Ok(WriteOutcome::Accepted));
                        break;
                    }
                }
            }
            assert_eq!(listening.await.unwrap().as_bytes(), &text);
        });
    }
}
