//! Who consumes the events of a process and how far each has come: decides what may be dropped.

use crate::event::Seq;
use std::collections::HashMap;

/// Names one subscription to one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConsumerId(u64);

/// The consumers of one log. The rules stand in the crate's documentation.
#[derive(Debug)]
pub(crate) struct Consumers {
    subscribed: HashMap<ConsumerId, Seq>,
    place: Option<Seq>,
    let_go: bool,
    minted: u64,
}

impl Consumers {
    /// Nobody yet, but the first to come finds everything from the start.
    pub(crate) fn expected() -> Self {
        Self { subscribed: HashMap::new(), place: Some(Seq::START), let_go: false, minted: 0 }
    }

    /// The last event that every consumer has acknowledged, or `None` where nobody consumes.
    pub(crate) fn floor(&self) -> Option<Seq> {
        let slowest = self.subscribed.values().min().copied();
        slowest.or(self.place).filter(|_| !self.let_go)
    }

    /// A new subscription, which takes over a kept place.
    pub(crate) fn subscribe(&mut self, after: Seq) -> ConsumerId {
        self.minted += 1;
        let id = ConsumerId(self.minted);
        self.place = None;
        self.subscribed.insert(id, after);
        id
    }

    /// Moves a subscription on. False where it was detached.
    pub(crate) fn acknowledge(&mut self, id: ConsumerId, seq: Seq) -> bool {
        let Some(cursor) = self.subscribed.get_mut(&id) else {
            return false;
        };
        *cursor = seq;
        true
    }

    /// A read, whose caller has seen everything up to `after`.
    pub(crate) fn read_from(&mut self, after: Seq) {
        if self.subscribed.is_empty() {
            self.place = Some(after);
        }
    }

    /// A subscription that went away without a word: where it was the last, its place is kept.
    pub(crate) fn lose(&mut self, id: ConsumerId) {
        if let Some(cursor) = self.subscribed.remove(&id)
            && self.subscribed.is_empty()
        {
            self.place = Some(cursor);
        }
    }

    /// A subscription that is not wanted any more.
    pub(crate) fn release(&mut self, id: ConsumerId) {
        self.subscribed.remove(&id);
    }

    /// Gives up the kept place.
    pub(crate) fn release_place(&mut self) {
        self.place = None;
    }

    /// The connection of all consumers was lost: the place of the slowest is kept.
    pub(crate) fn detach(&mut self) {
        self.place = self.floor();
        self.subscribed.clear();
    }

    /// From now on nobody is waited for: what is ending must not be held up by whoever still listens.
    pub(crate) fn let_go(&mut self) {
        self.let_go = true;
    }
}
