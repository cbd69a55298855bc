use super::*;
use crate::event::Stream;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

fn log(bytes: usize, events: usize) -> EventLog {
    EventLog::new(&Limits { retained_bytes: bytes, retained_events: events, ..Limits::default() })
}

/// A log whose place was given up.
fn released(bytes: usize, events: usize) -> EventLog {
    let log = log(bytes, events);
    log.consumers(Consumers::release_place);
    log
}

fn output(length: usize) -> EventKind {
    EventKind::Output { stream: Stream::Stdout, bytes: Bytes::from(vec![b'x'; length]) }
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq.get()).collect()
}

async fn is_full(log: &EventLog) -> bool {
    timeout(Duration::from_millis(1), log.room()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn without_a_consumer_the_oldest_go_past_the_bound_and_not_before() {
    let log = released(100, 1000);
    for _ in 0..10 {
        log.room().await;
        log.append(output(10));
    }
    assert_eq!(log.span(), (Seq::new(1), Seq::new(10)), "all fit");
    log.room().await;
    log.append(output(10));
    assert_eq!(log.span(), (Seq::new(2), Seq::new(11)), "one had to go");
}

#[tokio::test(start_paused = true)]
async fn the_count_of_events_is_bounded_too() {
    let log = released(1 << 20, 4);
    for _ in 0..10 {
        log.room().await;
        log.append(output(1));
    }
    assert_eq!(log.span(), (Seq::new(7), Seq::new(10)));
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_is_a_gap_and_never_a_splice() {
    let log = released(20, 1000);
    for _ in 0..5 {
        log.room().await;
        log.append(output(10));
    }
    let gap = EventsError::Gap { expected: Seq::new(2), received: Seq::new(4) };
    assert_eq!(log.read_now(Seq::new(1), 100), Err(gap.clone()));
    assert_eq!(log.subscribe(Seq::new(1)).err(), Some(gap.clone()));
    assert_eq!(gap.to_string(), "events are lost: expected 2, received 4");
    assert!(!is_full(&log).await, "a consumer that was refused holds nothing back");
}

#[tokio::test(start_paused = true)]
async fn what_has_not_happened_cannot_have_been_seen() {
    let log = log(20, 1000);
    log.append(output(1));
    let ahead = EventsError::Ahead { after: Seq::new(7), last: Seq::new(1) };
    assert_eq!(log.read(Seq::new(7), 1).await, Err(ahead));
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_lags_holds_the_process_until_it_asks_for_the_next() {
    let log = log(30, 1000);
    let (consumer, _news) = log.subscribe(Seq::START).unwrap();
    for _ in 0..3 {
        log.room().await;
        log.append(output(10));
    }
    assert!(is_full(&log).await);
    assert!(matches!(log.advance(consumer, Seq::START), Ok(Found::Event(event)) if event.seq == Seq::new(1)));
    assert!(is_full(&log).await, "handed out is not dealt with");
    assert!(matches!(log.advance(consumer, Seq::new(1)), Ok(Found::Event(event)) if event.seq == Seq::new(2)));
    assert!(!is_full(&log).await);
    assert_eq!(log.span(), (Seq::new(2), Seq::new(3)), "only what was acknowledged is dropped");
}

#[tokio::test(start_paused = true)]
async fn the_slowest_subscriber_decides_and_a_released_one_does_not() {
    let log = log(20, 1000);
    let (slow, _) = log.subscribe(Seq::START).unwrap();
    let (fast, _) = log.subscribe(Seq::START).unwrap();
    log.append(output(10));
    log.append(output(10));
    log.advance(fast, Seq::new(2)).unwrap();
    assert!(is_full(&log).await);
    log.consumers(|consumers| consumers.release(slow));
    assert!(!is_full(&log).await);
}

#[tokio::test(start_paused = true)]
async fn the_place_of_a_reader_and_of_a_lost_subscriber_is_kept() {
    let log = released(20, 1000);
    log.append(output(10));
    log.append(output(10));
    assert!(!is_full(&log).await, "nobody consumes, so the oldest goes");
    log.append(output(10));
    log.read_now(Seq::new(1), 100).unwrap();
    assert!(is_full(&log).await, "a reader's place");
    let (consumer, _) = log.subscribe(Seq::new(2)).unwrap();
    assert!(!is_full(&log).await, "the subscriber took it over");
    log.append(output(10));
    log.consumers(|consumers| consumers.lose(consumer));
    assert!(is_full(&log).await, "the subscriber's place");
    log.consumers(Consumers::release_place);
    assert!(!is_full(&log).await, "given up");
}

#[tokio::test(start_paused = true)]
async fn detaching_keeps_the_place_of_the_slowest_and_tells_all() {
    let log = Arc::new(log(20, 1000));
    let (slow, mut news) = log.subscribe(Seq::START).unwrap();
    let (fast, _) = log.subscribe(Seq::START).unwrap();
    log.append(output(10));
    log.append(output(10));
    log.advance(fast, Seq::new(2)).unwrap();
    news.mark_unchanged();
    log.consumers(Consumers::detach);
    assert!(news.has_changed().unwrap(), "parked subscribers wake");
    assert_eq!(log.advance(slow, Seq::START).err(), Some(EventsError::Detached));
    assert!(is_full(&log).await);
    assert_eq!(numbers(&log.read_now(Seq::START, 100).unwrap().0), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn room_made_wakes_a_parked_producer() {
    let log = Arc::new(log(10, 1000));
    log.read_now(Seq::START, 1).unwrap();
    log.append(output(10));
    let parked = tokio::spawn({
        let log = Arc::clone(&log);
        async move { log.room().await }
    });
    tokio::task::yield_now().await;
    assert!(!parked.is_finished());
    log.read_now(Seq::new(1), 1).unwrap();
    timeout(Duration::from_secs(1), parked).await.expect("woken").unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_read_returns_what_fits_but_always_the_first_chunk() {
    let log = log(1000, 1000);
    for length in [50, 10, 10] {
        log.append(output(length));
    }
    assert_eq!(numbers(&log.read_now(Seq::START, 5).unwrap().0), [1], "larger than asked, but whole");
    assert_eq!(numbers(&log.read_now(Seq::START, 65).unwrap().0), [1, 2]);
    assert_eq!(numbers(&log.read_now(Seq::new(1), 20).unwrap().0), [2, 3]);
}

#[tokio::test(start_paused = true)]
async fn after_closed_nothing_is_appended_and_reads_return_at_once() {
    let log = log(1000, 1000);
    log.append(EventKind::Closed);
    log.append(output(1));
    assert_eq!(log.span().1, Seq::new(1));
    assert_eq!(log.read(Seq::new(1), 1).await, Ok(Vec::new()));
}
