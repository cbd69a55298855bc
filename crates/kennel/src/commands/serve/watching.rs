//! Owns when the file is read again: at SIGHUP, and when it has changed and stays as it is.

use super::fleet::Fleet;
use crate::commands::service::caught;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::SignalKind;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often the file is looked at. Cheaper than it is worth to be told: editors replace files, and directories move.
const LOOK: Duration = Duration::from_millis(500);

/// What tells one version of a file from another without reading it.
type Version = Option<(u64, u64, u64, i64, i64)>;

/// Reads the file again whenever there is a reason to, until it is told to stop.
pub(super) async fn watch(fleet: Arc<Fleet>, stop: CancellationToken) {
    let Ok(mut hangup) = caught(SignalKind::hangup()) else { return };
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen = Watched::new(version(fleet.file()));
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = hangup.recv() => {
                seen = Watched::new(version(fleet.file()));
                reload(&fleet).await;
            }
            _ = looks.tick() => {
                if seen.is_to_be_read(version(fleet.file())) {
                    reload(&fleet).await;
                }
            }
        }
    }
}

async fn reload(fleet: &Arc<Fleet>) {
    if let Err(error) = fleet.reload().await {
        fleet.console.say("not_reloaded", &error.to_string(), json!({}));
    }
}

/// The version that counts, and one that may be only half written.
struct Watched {
    read: Version,
    waiting: Version,
}

impl Watched {
    fn new(read: Version) -> Self {
        Self { read, waiting: read }
    }

    /// Whether the file is another one than was read, and the same as when it was last looked at. A file that is gone is
    /// about to come back: whoever saves one may take the old one away first.
    fn is_to_be_read(&mut self, now: Version) -> bool {
        let is_settled = now == self.waiting;
        self.waiting = now;
        let is_due = is_settled && now.is_some() && now != self.read;
        if is_due {
            self.read = now;
        }
        is_due
    }
}

fn version(file: &Path) -> Version {
    let found = std::fs::metadata(file).ok()?;
    Some((found.dev(), found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}

#[cfg(test)]
#[path = "watching_tests.rs"]
mod tests;
