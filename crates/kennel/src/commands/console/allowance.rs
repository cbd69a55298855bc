//! How often a server that talks nonsense is quoted, so that it fills neither the log nor what is known of others.

use std::time::{Duration, Instant};

/// How many lines are quoted in one interval.
const MOST_QUOTED: u64 = 10;
const INTERVAL: Duration = Duration::from_secs(10);

/// What may still be quoted.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    since: Option<Instant>,
    quoted: u64,
    skipped: u64,
}

/// What is to be said of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Quoted {
    /// All of it, after so many of which nothing was said.
    After(u64),
    /// All of it, and that the next ones are only counted.
    Last,
    /// Nothing.
    Not,
}

impl Allowance {
    /// Takes a line.
    pub(crate) fn take(&mut self, now: Instant) -> Quoted {
        if self.since.is_none_or(|since| now.duration_since(since) >= INTERVAL) {
            let skipped = self.skipped;
            *self = Self { since: Some(now), quoted: 1, skipped: 0 };
            return Quoted::After(skipped);
        }
        self.quoted += 1;
        match self.quoted {
            ..MOST_QUOTED => Quoted::After(0),
            MOST_QUOTED => Quoted::Last,
            _ => {
                self.skipped += 1;
                Quoted::Not
            }
        }
    }
}

#[cfg(test)]
#[path = "allowance_tests.rs"]
mod tests;
