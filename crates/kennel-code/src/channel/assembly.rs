//! From packets back to messages, whatever the packets are.

use super::known::Known;
use super::packet::Packet;
use super::token::Token;
use bytes::Bytes;

/// A message from the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// What it belongs to.
    pub token: Token,
    /// The message: what the box says is JSON.
    pub body: Bytes,
}

/// How much was not taken, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Packets with a token that is not known, or not any more.
    pub unknown: u64,
    /// Packets from another process than the interpreter.
    pub foreign: u64,
    /// Packets that have not the form of one.
    pub malformed: u64,
    /// Packets of a message that is over already, or that was dropped.
    pub stale: u64,
    /// Messages over the limit.
    pub too_large: u64,
    /// Messages that were begun and not finished before the next.
    pub unfinished: u64,
}

/// The message that is being received, and what of the past decides on the next packet.
#[derive(Debug)]
pub(super) struct Assembly {
    known: Known,
    limit: usize,
    /// The process that has sent the first packet that was taken.
    speaker: Option<i32>,
    /// The number of the message begun last.
    last: Option<u32>,
    partial: Option<Partial>,
    pub(super) dropped: Dropped,
}

#[derive(Debug)]
struct Partial {
    token: Token,
    number: u32,
    body: Vec<u8>,
}

impl Assembly {
    pub(super) fn new(known: Known, limit: usize) -> Self {
        Self { known, limit, speaker: None, last: None, partial: None, dropped: Dropped::default() }
    }

    /// Takes a packet that a process has sent; returns the message that it completes.
    pub(super) fn take(&mut self, bytes: &[u8], process: i32) -> Option<Received> {
        let Some(packet) = Packet::parse(bytes) else {
            self.dropped.malformed += 1;
            return None;
        };
        if !self.known.contains(&packet.token) {
            self.dropped.unknown += 1;
            return None;
        }
        if *self.speaker.get_or_insert(process) != process {
            self.dropped.foreign += 1;
            return None;
        }
        let mut partial = self.continued(&packet)?;
        if partial.body.len() + packet.payload.len() > self.limit {
            self.dropped.too_large += 1;
            return None;
        }
        partial.extend(packet.payload, self.limit);
        if packet.more {
            self.partial = Some(partial);
            return None;
        }
        Some(Received { token: partial.token, body: partial.body.into() })
    }

    /// What the packet is to be added to: the message that is under way, or a new one.
    fn continued(&mut self, packet: &Packet<'_>) -> Option<Partial> {
        match self.partial.take() {
            Some(partial) if partial.token == packet.token && partial.number == packet.number => return Some(partial),
            Some(partial) if !is_after(packet.number, Some(partial.number)) => {
                // Late, or forged: what is under way goes on.
                self.partial = Some(partial);
                self.dropped.stale += 1;
                return None;
            }
            Some(_) => self.dropped.unfinished += 1,
            None => {}
        }
        if !is_after(packet.number, self.last) {
            self.dropped.stale += 1;
            return None;
        }
        self.last = Some(packet.number);
        Some(Partial { token: packet.token, number: packet.number, body: Vec::new() })
    }

    /// The bytes held of a message that is under way.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn held(&self) -> usize {
        self.partial.as_ref().map_or(0, |partial| partial.body.capacity())
    }

    /// Whether a message is under way.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn is_waiting(&self) -> bool {
        self.partial.is_some()
    }

    /// How many packets and messages were not taken.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn counted(&self) -> u64 {
        let Dropped { unknown, foreign, malformed, stale, too_large, unfinished } = self.dropped;
        unknown + foreign + malformed + stale + too_large + unfinished
    }
}

impl Partial {
    /// Adds bytes, and makes room in large steps but never for more than the limit.
    fn extend(&mut self, payload: &[u8], limit: usize) {
        let needed = self.body.len() + payload.len();
        if needed > self.body.capacity() {
            let room = needed.max(self.body.capacity().saturating_mul(2)).min(limit);
            self.body.reserve_exact(room - self.body.len());
        }
        self.body.extend_from_slice(payload);
    }
}

/// Whether a number comes after another, where numbers begin again after the last one.
fn is_after(number: u32, last: Option<u32>) -> bool {
    last.is_none_or(|last| number.wrapping_sub(last).cast_signed() > 0)
}

#[cfg(test)]
#[path = "assembly_tests.rs"]
mod tests;
