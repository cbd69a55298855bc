//! Owns the time of day as tasks tell it: ISO 8601, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// Now.
pub(super) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format(since.as_secs(), since.subsec_millis())
}

fn format(seconds: u64, milliseconds: u32) -> String {
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    // Years are counted from March, so that a leap day is the last of its year; 719468 days lie before 1970.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + next;
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
