//! The time that a session has, as the helper sees it. The caller has a clock of its own, and kills.

use crate::bounds::Bound;
use crate::protocol::Failure;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    end: Instant,
    limit: Duration,
}

impl Clock {
    pub(crate) fn start(limit: Duration) -> Self {
        // A limit beyond what the clock can express is none.
        let now = Instant::now();
        let end = now.checked_add(limit).unwrap_or_else(|| now + Duration::from_hours(24 * 365));
        Self { end, limit }
    }

    /// An error once the time is over.
    pub(crate) fn check(&self, at: &[u8]) -> Result<(), Failure> {
        if Instant::now() < self.end {
            return Ok(());
        }
        let limit = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        Err(Failure::Exceeded { bound: Bound::Time, limit, at: at.to_vec() })
    }
}
