use super::*;
use crate::sync::lock;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<VecDeque<Outgoing>>,
    closed: Mutex<bool>,
}

impl Queue {
    fn post(&self, text: &str, kind: OutgoingKind) {
        lock(&self.waiting).push_back(Outgoing { message: text.to_owned().into(), kind });
    }
}

impl Source for Queue {
    fn poll_next(&self, _: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        match lock(&self.waiting).pop_front() {
            Some(outgoing) => Poll::Ready(Some(outgoing)),
            None if *lock(&self.closed) => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn close(&self) {
        *lock(&self.closed) = true;
        lock(&self.waiting).clear();
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

const LIMITS: ReplayLimits = ReplayLimits {
    events: 100,
    bytes: 10_000,
    session_bytes: 20_000,
    total_bytes: 100_000,
    streams: 4,
    kept: Duration::from_mins(1),
};

fn streams(limits: ReplayLimits) -> (Streams<Queue>, Arc<Queue>) {
    let own = Arc::new(Queue::default());
    let budget = Arc::new(Budget::new(limits.total_bytes));
    (Streams::new(limits, budget, Arc::clone(&own), Instant::now()), own)
}

fn poll(streams: &mut Streams<Queue>, reader: &Reader<Queue>) -> Poll<Found> {
    streams.poll(reader, &mut Context::from_waker(Waker::noop()))
}

/// The message and the id of an event.
fn read(event: &Event) -> (EventId, String) {
    let bytes = event.clone().chunks().flat_map(Vec::from).collect::<Vec<_>>();
    let text = String::from_utf8(bytes).expect("text");
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).expect("the field").to_owned();
    (field("id: ").parse().expect("an id"), field("data: "))
}

fn next(streams: &mut Streams<Queue>, reader: &Reader<Queue>) -> (EventId, String) {
    match poll(streams, reader) {
        Poll::Ready(Found::Event(event)) => read(&event),
        other => panic!("no event: {other:?}"),
    }
}

#[tokio::test]
async fn a_stream_ends_after_its_responses_and_can_be_read_again() {
    let (mut streams, _own) = streams(LIMITS);
    let queue = Arc::new(Queue::default());
    let reader = streams.begin(Arc::clone(&queue), Awaited::Responses(2), Instant::now());
    queue.post("one", OutgoingKind::Response);
    queue.post("note", OutgoingKind::Notification);
    let first = next(&mut streams, &reader);
    assert_eq!(first, (EventId { stream: 1, sequence: 1 }, "one".into()));
    assert_eq!(next(&mut streams, &reader).1, "note");
    assert_eq!(poll(&mut streams, &reader), Poll::Pending);
    queue.post("two", OutgoingKind::Response);
    queue.post("after the end", OutgoingKind::Notification);
    assert_eq!(next(&mut streams, &reader).1, "two");
    assert_eq!(poll(&mut streams, &reader), Poll::Ready(Found::Finished));
    streams.leave(&reader, Instant::now());

    let resumed = streams.resume(first.0).expect("it is kept");
    let missed = resumed.missed.iter().map(|event| read(event).1).collect::<Vec<_>>();
    assert_eq!((missed, resumed.gap), (vec!["note".into(), "two".into()], false));
    assert_eq!(poll(&mut streams, &resumed.reader), Poll::Ready(Found::Finished));
    let last = read(resumed.missed.last().expect("two")).0;
    assert_eq!(streams.resume(last).err(), Some(ResumeError::Over), "there is nothing more, and never will be");
}

#[tokio::test]
async fn a_withdrawn_request_ends_its_stream_without_an_event() {
    let (mut streams, _own) = streams(LIMITS);
    let queue = Arc::new(Queue::default());
    let reader = streams.begin(Arc::clone(&queue), Awaited::Responses(2), Instant::now());
    queue.post("", OutgoingKind::Withdrawn);
    assert_eq!(poll(&mut streams, &reader), Poll::Pending);
    queue.post("answer", OutgoingKind::Response);
    assert_eq!(next(&mut streams, &reader).1, "answer");
    assert_eq!(poll(&mut streams, &reader), Poll::Ready(Found::Finished));
}

#[tokio::test]
async fn the_last_to_ask_reads_and_the_one_before_is_woken_and_gets_nothing() {
    let (mut streams, own) = streams(LIMITS);
    let count = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&count));
    let first = streams.listen().expect("open");
    assert_eq!(streams.poll(&first, &mut Context::from_waker(&waker)), Poll::Pending);
    let second = streams.listen().expect("open");
    assert_eq!(count.0.load(Ordering::Relaxed), 1, "the first one learns that it is replaced");
    own.post("news", OutgoingKind::Notification);
    assert_eq!(poll(&mut streams, &first), Poll::Ready(Found::Replaced));
    // A replaced reader that goes does not take the new one's place with it.
    streams.leave(&first, Instant::now());
    streams.forget(Instant::now());
    assert_eq!(next(&mut streams, &second).1, "news");
}

#[tokio::test]
async fn streams_are_told_apart_and_unknown_ids_refused() {
    let (mut streams, own) = streams(LIMITS);
    let queue = Arc::new(Queue::default());
    let listening = streams.listen().expect("open");
    let reader = streams.begin(Arc::clone(&queue), Awaited::Responses(1), Instant::now());
    own.post("own", OutgoingKind::Notification);
    queue.post("other", OutgoingKind::Notification);
    let (own_id, _) = next(&mut streams, &listening);
    let (other_id, _) = next(&mut streams, &reader);
    assert_ne!(own_id, other_id);
    let before = |id: EventId| EventId { sequence: id.sequence - 1, ..id };
    let missed = |streams: &mut Streams<Queue>, id| {
        streams.resume(id).expect("kept").missed.iter().map(|event| read(event).1).collect::<Vec<_>>()
    };
    assert_eq!(missed(&mut streams, before(own_id)), ["own"]);
    assert_eq!(missed(&mut streams, before(other_id)), ["other"]);
    for (stream, sequence) in [(7, 0), (2, 1), (1, 9)] {
        assert_eq!(streams.resume(EventId { stream, sequence }).err(), Some(ResumeError::Unknown));
    }
}

#[tokio::test]
async fn what_nobody_came_back_for_is_forgotten() {
    let (mut streams, own) = streams(LIMITS);
    let queue = Arc::new(Queue::default());
    let reader = streams.begin(Arc::clone(&queue), Awaited::Responses(1), Instant::now());
    let read_on = streams.begin(Arc::new(Queue::default()), Awaited::Responses(1), Instant::now());
    queue.post("note", OutgoingKind::Notification);
    let (id, _) = next(&mut streams, &reader);
    let listening = streams.listen().expect("open");
    own.post("own", OutgoingKind::Notification);
    let (own_id, _) = next(&mut streams, &listening);
    assert!(streams.bytes > 0);
    streams.leave(&reader, Instant::now());
    streams.leave(&listening, Instant::now());
    streams.forget(Instant::now());
    assert_eq!(streams.resume(id).err(), Some(ResumeError::Gone));
    assert!(*lock(&queue.closed), "nobody will read it any more");
    assert_eq!(streams.bytes, 0);
    assert_eq!(poll(&mut streams, &read_on), Poll::Pending, "what is read is kept");
    // The session's own stream goes on, and says that something is missing.
    let resumed = streams.resume(EventId { sequence: 0, ..own_id }).expect("it goes on");
    assert_eq!((resumed.missed.len(), resumed.gap), (0, true));
}

#[tokio::test]
async fn a_response_that_is_too_large_to_keep_is_said_to_be_gone() {
    let (mut streams, _own) = streams(LIMITS);
    let queue = Arc::new(Queue::default());
    let reader = streams.begin(Arc::clone(&queue), Awaited::Responses(1), Instant::now());
    let id = streams.mark(&reader).expect("it is there");
    queue.post(&"x".repeat(LIMITS.bytes), OutgoingKind::Response);
    next(&mut streams, &reader);
    assert_eq!(streams.bytes, 0);
    assert_eq!(streams.resume(id).err(), Some(ResumeError::Gone));
}

#[tokio::test]
async fn all_streams_together_stay_within_the_bounds_of_the_session() {
    let (mut streams, _own) = streams(ReplayLimits { session_bytes: 3_000, ..LIMITS });
    let queues = [0, 1, 2].map(|_| Arc::new(Queue::default()));
    let readers =
        queues.each_ref().map(|queue| streams.begin(Arc::clone(queue), Awaited::Responses(9), Instant::now()));
    for round in 0..30 {
        let at = round % 3;
        queues[at].post(&"x".repeat(700), OutgoingKind::Notification);
        let (id, _) = next(&mut streams, &readers[at]);
        assert!(streams.bytes <= 3_000);
        assert_eq!(streams.bytes, streams.all.iter().map(|stream| stream.ring.bytes()).sum::<usize>());
        let last = EventId { sequence: id.sequence - 1, ..id };
        let stream = streams.stream(last.stream).expect("it is there");
        assert_eq!(stream.ring.after(last.sequence).events.len(), 1, "the newest event is kept");
    }
}

#[tokio::test]
async fn all_sessions_together_stay_within_one_bound() {
    let budget = Arc::new(Budget::new(3_000));
    let own = [0, 1].map(|_| Arc::new(Queue::default()));
    let mut both = own.each_ref().map(|own| Streams::new(LIMITS, Arc::clone(&budget), Arc::clone(own), Instant::now()));
    let mut send = |at: usize| {
        let reader = both[at].listen().expect("open");
        own[at].post(&"x".repeat(700), OutgoingKind::Notification);
        next(&mut both[at], &reader);
        assert_eq!(budget.excess(), 0);
        both.each_ref().map(|streams| streams.bytes / 700)
    };
    assert_eq!((send(0), send(0), send(0)), ([1, 0], [2, 0], [3, 0]));
    assert_eq!((send(1), send(1)), ([3, 1], [3, 1]), "whoever goes beyond the bound gives up its own");
    drop(both);
    budget.change(0, 3_000);
    assert_eq!(budget.excess(), 0, "what is gone counts no more");
}

#[tokio::test]
async fn a_new_stream_takes_the_place_of_a_finished_one_first() {
    let (mut streams, _own) = streams(LIMITS);
    let begin = |streams: &mut Streams<Queue>| {
        let queue = Arc::new(Queue::default());
        (streams.begin(Arc::clone(&queue), Awaited::Responses(1), Instant::now()), queue)
    };
    let (left, left_queue) = begin(&mut streams);
    let (finished, finished_queue) = begin(&mut streams);
    finished_queue.post("done", OutgoingKind::Response);
    next(&mut streams, &finished);
    streams.leave(&left, Instant::now());
    streams.leave(&finished, Instant::now());
    let (_third, third_queue) = begin(&mut streams);
    let (_fourth, _) = begin(&mut streams);
    assert!(*lock(&finished_queue.closed) && !*lock(&left_queue.closed));
    let (_fifth, _) = begin(&mut streams);
    assert!(*lock(&left_queue.closed) && !*lock(&third_queue.closed));
    assert_eq!(streams.all.len(), LIMITS.streams);
}

#[tokio::test]
async fn the_own_stream_of_a_session_from_before_a_restart_keeps_its_place() {
    let (mut streams, own) = streams(LIMITS);
    streams.number_from(1_000);
    for _ in 0..2 * LIMITS.streams {
        let reader = streams.begin(Arc::new(Queue::default()), Awaited::Responses(1), Instant::now());
        streams.leave(&reader, Instant::now());
    }
    assert!(!*lock(&own.closed));
    let reader = streams.listen().expect("open");
    own.post("news", OutgoingKind::Notification);
    assert_eq!(next(&mut streams, &reader).1, "news");
}

#[tokio::test]
async fn the_end_and_the_recall_reach_all_readers() {
    for end in [false, true] {
        let (mut streams, own) = streams(LIMITS);
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let listening = streams.listen().expect("open");
        let reader = streams.begin(Arc::new(Queue::default()), Awaited::Responses(1), Instant::now());
        assert!(
            streams.poll(&listening, &mut context).is_pending() && streams.poll(&reader, &mut context).is_pending()
        );
        if end {
            streams.end();
            assert!(streams.listen().is_none());
            assert!(*lock(&own.closed));
        } else {
            streams.recall();
            own.post("last words", OutgoingKind::Notification);
            assert_eq!(next(&mut streams, &listening).1, "last words");
        }
        assert_eq!(count.0.load(Ordering::Relaxed), 2, "both are woken");
        let found = if end { Found::Finished } else { Found::Recalled };
        assert_eq!(poll(&mut streams, &reader), Poll::Ready(found));
    }
}

/// What happens to a stream, in any order.
#[derive(Debug, Clone)]
enum Step {
    Post,
    /// The reader takes an event, and the client gets it or does not.
    Take {
        arrives: bool,
    },
    /// The client comes back with the last event that it got.
    Return,
    /// Something that has no message is numbered.
    Mark {
        arrives: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Post),
        4 => any::<bool>().prop_map(|arrives| Step::Take { arrives }),
        1 => Just(Step::Return),
        1 => any::<bool>().prop_map(|arrives| Step::Mark { arrives }),
    ];
    proptest::collection::vec(step, 1..120)
}

proptest! {
    /// However often a connection breaks, and whatever was on its way then: the client gets each message once, in
    /// order, and each event has an id of its own.
    #[test]
    fn nothing_is_lost_and_nothing_comes_twice(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _entered = runtime.enter();
        let (mut streams, _own) = streams(LIMITS);
        let queue = Arc::new(Queue::default());
        let mut reader = streams.begin(Arc::clone(&queue), Awaited::Responses(1), Instant::now());
        let mut last = streams.mark(&reader).expect("it is there");
        let (mut posted, mut got) = (0, Vec::new());
        // A connection delivers a beginning of what was sent on it.
        let mut broken = false;
        for step in steps {
            match step {
                Step::Post => {
                    queue.post(&posted.to_string(), OutgoingKind::Notification);
                    posted += 1;
                }
                Step::Take { arrives } => if let Poll::Ready(Found::Event(event)) = poll(&mut streams, &reader) {
                    broken |= !arrives;
                    if !broken {
                        let (id, text) = read(&event);
                        prop_assert!(id > last);
                        got.push(text);
                        last = id;
                    }
                },
                Step::Mark { arrives } => {
                    let id = streams.mark(&reader).expect("it is there");
                    broken |= !arrives;
                    if !broken {
                        last = id;
                    }
                }
                Step::Return => {
                    streams.leave(&reader, Instant::now());
                    let resumed = streams.resume(last).expect("it is kept");
                    prop_assert!(!resumed.gap);
                    reader = resumed.reader;
                    broken = false;
                    for event in &resumed.missed {
                        let (id, text) = read(event);
                        got.push(text);
                        last = id;
                    }
                }
            }
        }
        let resumed = streams.resume(last).expect("it is kept");
        got.extend(resumed.missed.iter().map(|event| read(event).1));
        while let Poll::Ready(Found::Event(event)) = poll(&mut streams, &resumed.reader) {
            got.push(read(&event).1);
        }
        prop_assert_eq!(got, (0..posted).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
