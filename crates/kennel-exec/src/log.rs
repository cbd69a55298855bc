//! The event log of one process: replay buffer, news and back-pressure.

use crate::consumers::{ConsumerId, Consumers};
use crate::error::EventsError;
use crate::event::{Event, EventKind, Seq};
use crate::limits::Limits;
use crate::sync::lock;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::Waker;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// What happened to a process and is still kept.
pub(crate) struct EventLog {
    state: Mutex<State>,
    /// Says that there may be more to take. Carries no events, so a slow consumer has no buffer to overrun.
    news: watch::Sender<()>,
    /// Says that there may be room to append.
    room: Notify,
    most_bytes: usize,
    most_events: usize,
}

struct State {
    events: VecDeque<Event>,
    bytes: usize,
    last: Seq,
    course: Course,
    consumers: Consumers,
    touched: Instant,
    /// Whether a consumer attends, for whom nothing is kept that it has seen.
    is_attended: bool,
    /// The consumer that attends, while it waits.
    attendant: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Open,
    Closed,
    NeverStarted,
}

/// What a subscription finds in the log.
pub(crate) enum Found {
    Event(Event),
    NothingYet,
    End,
}

impl EventLog {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            state: Mutex::new(State {
                events: VecDeque::new(),
                bytes: 0,
                last: Seq::START,
                course: Course::Open,
                consumers: Consumers::expected(),
                touched: Instant::now(),
                is_attended: false,
                attendant: None,
            }),
            news: watch::Sender::new(()),
            room: Notify::new(),
            most_bytes: limits.retained_bytes,
            most_events: limits.retained_events,
        }
    }

    /// Waits until more output may be read from the process. This is where back-pressure comes from.
    pub(crate) async fn room(&self) {
        loop {
            // Made before looking, so that room made after looking is not missed.
            let notified = self.room.notified();
            if self.change(|state| state.make_room(self.most_bytes, self.most_events)) {
                return;
            }
            notified.await;
        }
    }

    /// Appends an event, unless the log is closed.
    pub(crate) fn append(&self, kind: EventKind) {
        let attendant = self.change(|state| {
            if state.course != Course::Open {
                return None;
            }
            if kind == EventKind::Closed {
                state.course = Course::Closed;
                state.touched = Instant::now();
            }
            state.last = state.last.next();
            state.bytes += kind.size();
            state.events.push_back(Event { seq: state.last, kind });
            state.attendant.take()
        });
        self.tell(attendant);
    }

    /// Says that nothing will ever be appended, because there is no process.
    pub(crate) fn never_started(&self) {
        let attendant = self.change(|state| {
            state.course = Course::NeverStarted;
            state.attendant.take()
        });
        self.tell(attendant);
    }

    /// The events after `after`, waiting for the first of them or the end of the log.
    pub(crate) async fn read(&self, after: Seq, max_bytes: usize) -> Result<Vec<Event>, EventsError> {
        let mut news = self.news.subscribe();
        loop {
            let (events, ended) = self.read_now(after, max_bytes)?;
            if ended || !events.is_empty() || news.changed().await.is_err() {
                return Ok(events);
            }
        }
    }

    /// The events after `after` that are there, and whether nothing will follow them.
    pub(crate) fn read_now(&self, after: Seq, max_bytes: usize) -> Result<(Vec<Event>, bool), EventsError> {
        let found = self.change(|state| {
            let events = state.take(after, max_bytes)?;
            state.consumers.read_from(after);
            state.touched = Instant::now();
            Ok((events, state.course == Course::Closed))
        });
        self.room.notify_waiters();
        found
    }

    /// Enters a consumer that has seen everything up to `after`, with its receiver of news, under one lock.
    pub(crate) fn subscribe(&self, after: Seq) -> Result<(ConsumerId, watch::Receiver<()>), EventsError> {
        let entered = self.change(|state| {
            state.take(after, 0)?;
            Ok((state.consumers.subscribe(after), self.news.subscribe()))
        });
        self.room.notify_waiters();
        entered
    }

    /// Acknowledges `seen` and finds the event after it.
    pub(crate) fn advance(&self, id: ConsumerId, seen: Seq) -> Result<Found, EventsError> {
        let found = self.change(|state| state.advance(id, seen));
        self.room.notify_waiters();
        found
    }

    /// From now on a consumer attends.
    pub(crate) fn begin_attending(&self) {
        self.change(|state| state.is_attended = true);
    }

    /// Says that the consumer that attends is awake, so that what it reads itself does not wake it.
    pub(crate) fn attendant_is_awake(&self) {
        self.change(|state| state.attendant = None);
    }

    /// The same as [`EventLog::advance`] for the consumer that attends, which is woken when there is more.
    pub(crate) fn attend(&self, id: ConsumerId, seen: Seq, waker: &Waker) -> Result<Found, EventsError> {
        let found = self.change(|state| {
            let found = state.advance(id, seen)?;
            if let Found::NothingYet = found {
                state.attendant = Some(waker.clone());
            }
            Ok(found)
        });
        self.room.notify_waiters();
        found
    }

    /// Changes who consumes; wakes whoever that concerns.
    pub(crate) fn consumers(&self, change: impl FnOnce(&mut Consumers)) {
        let attendant = self.change(|state| {
            change(&mut state.consumers);
            state.attendant.take()
        });
        self.room.notify_waiters();
        self.tell(attendant);
    }

    /// The oldest and the newest event: the oldest is one past the newest where none is kept.
    pub(crate) fn span(&self) -> (Seq, Seq) {
        self.change(|state| (state.oldest(), state.last))
    }

    /// When the log was last read from, or closed.
    pub(crate) fn touched(&self) -> Instant {
        self.change(|state| state.touched)
    }

    /// Wakes whoever waits for more.
    fn tell(&self, attendant: Option<Waker>) {
        if let Some(attendant) = attendant {
            attendant.wake();
        }
        self.news.send_replace(());
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut lock(&self.state))
    }
}

impl State {
    fn oldest(&self) -> Seq {
        self.events.front().map_or(self.last.next(), |event| event.seq)
    }

    fn advance(&mut self, id: ConsumerId, seen: Seq) -> Result<Found, EventsError> {
        if !self.consumers.acknowledge(id, seen) {
            return Err(EventsError::Detached);
        }
        self.touched = Instant::now();
        if self.is_attended {
            let floor = self.consumers.floor().unwrap_or(seen);
            while let Some(event) = self.events.pop_front_if(|event| event.seq <= floor) {
                self.bytes -= event.kind.size();
            }
        }
        let event = self.events.get(self.place_after(seen)?).cloned();
        Ok(match event {
            Some(event) => Found::Event(event),
            None if self.course == Course::Closed => Found::End,
            None => Found::NothingYet,
        })
    }

    /// Drops what may be dropped until there is room; false where there is none.
    fn make_room(&mut self, most_bytes: usize, most_events: usize) -> bool {
        let floor = self.consumers.floor();
        while self.bytes >= most_bytes || self.events.len() >= most_events {
            match self.events.pop_front_if(|event| floor.is_none_or(|floor| event.seq <= floor)) {
                Some(event) => self.bytes -= event.kind.size(),
                None => return false,
            }
        }
        true
    }

    /// Where the event after `after` is among those that are kept, or will be.
    fn place_after(&self, after: Seq) -> Result<usize, EventsError> {
        if self.course == Course::NeverStarted {
            return Err(EventsError::NeverStarted);
        }
        if after > self.last {
            return Err(EventsError::Ahead { after, last: self.last });
        }
        let (expected, oldest) = (after.next(), self.oldest());
        let Some(skipped) = expected.get().checked_sub(oldest.get()) else {
            return Err(EventsError::Gap { expected, received: oldest });
        };
        Ok(usize::try_from(skipped).map_or(self.events.len(), |skipped| skipped.min(self.events.len())))
    }

    /// The events after `after`, as many as fit, but at least one if there is one.
    fn take(&self, after: Seq, max_bytes: usize) -> Result<Vec<Event>, EventsError> {
        let mut left = max_bytes;
        let mut taken = Vec::new();
        for event in self.events.range(self.place_after(after)?..) {
            match left.checked_sub(event.kind.size().max(1)) {
                Some(less) => left = less,
                None if taken.is_empty() => left = 0,
                None => break,
            }
            taken.push(event.clone());
        }
        Ok(taken)
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
