//! How much one server can make Kennel write, so that it fills neither a terminal nor a disk, nor takes from others.

use kennel_redact::Pace;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What a server has for its own lines: so many bytes at once, and so many for each second.
const QUOTED: (u64, u64) = (512 << 10, 32 << 10);
/// What Kennel has for what it says of that server, which must be heard beside a server that has used all it has.
const SAID: (u64, u64) = (256 << 10, 16 << 10);

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The server's, or its installer's.
    Quoted,
    /// Kennel's, of the server.
    Said,
}

/// What was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

/// The share of one server.
#[derive(Debug)]
pub(crate) struct Share {
    server: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    quoted: Pace,
    said: Pace,
    skipped: Skipped,
}

impl Share {
    pub(crate) fn new(server: &str) -> Self {
        let pace = |(burst, per_second)| Pace::new(burst, per_second);
        let state = State { quoted: pace(QUOTED), said: pace(SAID), skipped: Skipped { lines: 0, bytes: 0 } };
        Self { server: server.to_owned(), state: Mutex::new(state) }
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Whether a line of so many bytes may be written; otherwise it is counted.
    pub(crate) fn take(&self, origin: Origin, bytes: usize, now: Instant) -> bool {
        let bytes = bytes as u64;
        let mut state = self.state();
        let is_left = match origin {
            Origin::Quoted => state.quoted.take(bytes, now),
            Origin::Said => state.said.take(bytes, now),
        };
        if !is_left {
            state.skipped.lines += 1;
            state.skipped.bytes += bytes;
        }
        is_left
    }

    /// What was not written since this was last asked, if anything.
    pub(crate) fn take_skipped(&self) -> Option<Skipped> {
        let none = Skipped { lines: 0, bytes: 0 };
        let skipped = std::mem::replace(&mut self.state().skipped, none);
        (skipped != none).then_some(skipped)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Skipped {
    /// For people.
    pub(crate) fn in_words(self) -> String {
        let lines =
            if self.lines == 1 { "1 more line".to_owned() } else { format!("{} more lines", grouped(self.lines)) };
        format!("… {lines} ({}) not shown", size(self.bytes))
    }
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A number of bytes with one digit after the point.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
