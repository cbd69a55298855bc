//! However a consumer lags, reads, subscribes anew or loses its connection, it gets every byte once and in order.

use crate::support::{Stage, pattern, session, stdout, tight};
use kennel_exec::{Event, EventKind, ProcessId, ReadRequest, Seq, Stop, Stream, Subscription};
use proptest::prelude::*;
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[derive(Debug, Clone, Copy)]
enum Step {
    Take(usize),
    Read(usize),
    Lag(u64),
    Subscribe,
    Unsubscribe,
    Reconnect,
    /// A second subscriber, which is always behind.
    Follow,
    FollowerTakes(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1_usize..20).prop_map(Step::Take),
        4 => (0_usize..400).prop_map(Step::Read),
        3 => (0_u64..50).prop_map(Step::Lag),
        2 => Just(Step::Subscribe),
        1 => Just(Step::Unsubscribe),
        2 => Just(Step::Reconnect),
        1 => Just(Step::Follow),
        2 => (1_usize..20).prop_map(Step::FollowerTakes),
    ]
}

struct Follower {
    subscription: Subscription,
    after: Seq,
    events: Vec<Event>,
}

struct Consumer {
    stage: Stage,
    id: ProcessId,
    subscription: Option<Subscription>,
    follower: Option<Follower>,
    events: Vec<Event>,
}

impl Consumer {
    fn seen(&self) -> Seq {
        self.events.last().map_or(Seq::START, |event| event.seq)
    }

    fn closed(&self) -> bool {
        self.events.last().is_some_and(|event| event.kind == EventKind::Closed)
    }

    async fn step(&mut self, step: Step) {
        let moment = Duration::from_millis(20);
        match step {
            Step::Take(count) => {
                for _ in 0..count {
                    let Some(subscription) = &mut self.subscription else { return };
                    // Nothing may come, because the child is slow or the follower holds it back.
                    let Ok(event) = timeout(moment, subscription.next()).await else { return };
                    self.events.extend(event.unwrap());
                }
            }
            Step::Read(max_bytes) => {
                let request = ReadRequest { after: self.seen(), max_bytes, wait: moment };
                let events = self.stage.attachment.read(&self.id, request).await.unwrap();
                self.events.extend(events);
                if self.subscription.is_some() {
                    self.step_subscribe();
                }
            }
            Step::Lag(time) => sleep(Duration::from_millis(time)).await,
            Step::Subscribe => self.step_subscribe(),
            Step::Unsubscribe => self.subscription = None,
            Step::Reconnect => {
                // A follower behind this consumer is lost with the connection, and its place is the one kept.
                self.follower = None;
                let other = self.stage.executor.open(session("other")).unwrap();
                drop(std::mem::replace(&mut self.stage.attachment, other));
                let resumed = self.stage.executor.resume(&session("main")).unwrap();
                std::mem::replace(&mut self.stage.attachment, resumed).end(Stop::Now).await;
                self.subscription = None;
            }
            Step::Follow => {
                if self.follower.is_none() {
                    let after = self.seen();
                    let subscription = self.stage.attachment.subscribe(&self.id, after).unwrap();
                    self.follower = Some(Follower { subscription, after, events: Vec::new() });
                }
            }
            Step::FollowerTakes(count) => self.follow(count).await,
        }
    }

    fn step_subscribe(&mut self) {
        // The old one goes after the new one has come, so that the place is handed over also beside a follower.
        self.subscription = Some(self.stage.attachment.subscribe(&self.id, self.seen()).unwrap());
    }

    async fn follow(&mut self, count: usize) {
        let seen = self.seen();
        if let Some(follower) = &mut self.follower {
            for _ in 0..count {
                if follower.subscription.seen() == seen {
                    break;
                }
                follower.events.extend(follower.subscription.next().await.unwrap());
            }
        }
    }
}

async fn consume(length: usize, steps: Vec<Step>) {
    let stage = Stage::new(tight());
    let (id, child) = stage.start("server").await;
    let printing = tokio::spawn(async move {
        for (index, chunk) in pattern(length).chunks(777).enumerate() {
            child.print(Stream::Stdout, chunk).await;
            if index % 5 == 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
        child.exit(0);
    });
    let mut consumer = Consumer { stage, id, subscription: None, follower: None, events: Vec::new() };
    for step in steps {
        consumer.step(step).await;
    }
    while !consumer.closed() {
        consumer.step(Step::Read(usize::MAX)).await;
        consumer.follow(usize::MAX).await;
    }
    consumer.follow(usize::MAX).await;
    assert_eq!(stdout(Seq::START, &consumer.events), pattern(length));
    if let Some(follower) = consumer.follower {
        let start = usize::try_from(follower.after.get()).unwrap();
        assert_eq!(follower.events, consumer.events[start..]);
    }
    printing.await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_interleaving_yields_the_exact_stream(
        length in 0_usize..200_000,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(consume(length, steps));
    }
}
