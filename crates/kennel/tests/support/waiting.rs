//! Waits that come to an end.

use std::time::{Duration, Instant};

/// Longer than anything here takes, even on a busy machine, so that a hang has a name.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Long enough for the kernel to end a process, even on a busy machine, and for Kennel's helper to clean up, for
/// which Kennel does not wait.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// Asks again and again until there is no complaint, or returns the last one when the time is up.
pub(crate) fn settle(patience: Duration, mut complaint: impl FnMut() -> Option<String>) -> Result<Duration, String> {
    let start = Instant::now();
    loop {
        match complaint() {
            None => return Ok(start.elapsed()),
            Some(complaint) if start.elapsed() > patience => return Err(complaint),
            Some(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Waits until something holds; false where it did not in time.
pub(crate) fn holds_soon(condition: impl Fn() -> bool) -> bool {
    settle(SOON, || (!condition()).then(String::new)).is_ok()
}
