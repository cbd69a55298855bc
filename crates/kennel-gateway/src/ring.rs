//! What was sent on one stream and is kept to be sent again.

use crate::event::Event;
use std::collections::VecDeque;

/// The last events of a stream, bounded by count and by bytes.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    events: VecDeque<(u64, Event)>,
    bytes: usize,
    last: u64,
    /// The last event that is not kept any more.
    dropped: u64,
}

/// What follows an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Following {
    /// The events that are still kept, in order.
    pub(crate) events: Vec<Event>,
    /// Whether there were others.
    pub(crate) gap: bool,
}

impl Ring {
    /// The number for the next event.
    pub(crate) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The number given last.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// How many bytes are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps an event. Call in the order of the numbers.
    pub(crate) fn keep(&mut self, number: u64, event: Event) {
        self.bytes += event.size();
        self.events.push_back((number, event));
    }

    /// Drops the oldest events until the bounds hold.
    pub(crate) fn shrink(&mut self, most_events: usize, most_bytes: usize) {
        while self.bytes > most_bytes || self.events.len() > most_events {
            let Some((number, event)) = self.events.pop_front() else { return };
            self.bytes -= event.size();
            self.dropped = number;
        }
        if self.events.is_empty() {
            self.events = VecDeque::new();
        }
    }

    /// The events after the given one.
    pub(crate) fn after(&self, number: u64) -> Following {
        let from = self.events.partition_point(|(kept, _)| *kept <= number);
        Following {
            events: self.events.range(from..).map(|(_, event)| event.clone()).collect(),
            gap: number < self.dropped,
        }
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
