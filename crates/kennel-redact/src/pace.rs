//! How much somebody may write: some at once, and more as time goes by.

use std::time::{Duration, Instant};

/// An allowance in bytes that refills with time. It has no clock of its own.
#[derive(Debug, Clone)]
pub struct Pace {
    nanos_per_byte: u64,
    burst: Duration,
    /// When all that was used is paid off.
    even: Option<Instant>,
}

impl Pace {
    /// So many bytes at once, and so many for each second; at least one of each.
    #[must_use]
    pub fn new(burst: u64, per_second: u64) -> Self {
        let nanos_per_byte = (1_000_000_000 / per_second.max(1)).max(1);
        let burst = Duration::from_nanos(burst.max(1).saturating_mul(nanos_per_byte));
        Self { nanos_per_byte, burst, even: None }
    }

    /// Uses so many bytes if they are left.
    pub fn take(&mut self, bytes: u64, now: Instant) -> bool {
        let even = self.after(bytes, now);
        let is_left = even.saturating_duration_since(now) <= self.burst;
        if is_left {
            self.even = Some(even);
        }
        is_left
    }

    /// Uses so many bytes whether they are left or not, and says how long to wait until none are owed.
    pub fn owe(&mut self, bytes: u64, now: Instant) -> Duration {
        let even = self.after(bytes, now);
        self.even = Some(even);
        even.saturating_duration_since(now).saturating_sub(self.burst)
    }

    fn after(&self, bytes: u64, now: Instant) -> Instant {
        let cost = Duration::from_nanos(bytes.saturating_mul(self.nanos_per_byte));
        let begin = self.even.map_or(now, |even| even.max(now));
        // Beyond what a clock can say, it is never paid off, which is as good as this.
        begin.checked_add(cost).unwrap_or(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn some_at_once_and_more_with_time() {
        let (mut pace, start) = (Pace::new(100, 10), Instant::now());
        assert!(pace.take(60, start) && pace.take(40, start) && !pace.take(1, start));
        assert!(!pace.take(11, start + SECOND) && pace.take(10, start + SECOND) && !pace.take(1, start + SECOND));
        assert!(!pace.take(101, start + 100 * SECOND) && pace.take(100, start + 100 * SECOND), "never more than that");
    }

    #[test]
    fn what_is_owed_is_waited_for() {
        let (mut pace, start) = (Pace::new(100, 10), Instant::now());
        assert_eq!(pace.owe(100, start), Duration::ZERO);
        assert_eq!(pace.owe(20, start), 2 * SECOND);
        assert_eq!(pace.owe(10, start + 2 * SECOND), SECOND);
        assert_eq!(pace.owe(10, start + 100 * SECOND), Duration::ZERO);
    }
}
