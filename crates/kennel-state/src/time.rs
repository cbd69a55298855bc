//! Times as the file has them: milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn to_millis(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
    }
}

pub(crate) fn from_millis(millis: i64) -> SystemTime {
    let distance = Duration::from_millis(millis.unsigned_abs());
    let time = if millis < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
    time.unwrap_or(UNIX_EPOCH)
}

/// The moment that lies this far back.
pub(crate) fn ago(age: Duration) -> i64 {
    to_millis(SystemTime::now()).saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}
