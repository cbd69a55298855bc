//! What a box may take of things that the kernel counts per user and not per process: each user namespace can have
//! limits of its own for them, below those of the user outside.

use crate::error::{InStage, Stage, StageError};
use rustix::io::Errno;
use std::fs;
use std::path::Path;

/// Where the kernel keeps the limits of the caller's own user namespace.
const LIMITS: &str = "/proc/sys/user";

/// The limits on namespaces: a box makes none. That no call for it passes the filter is the first wall.
const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];

/// Of what a user may have, one box gets this part.
const PART_OF_INSTANCES: u64 = 16;
const PART_OF_WATCHES: u64 = 8;
/// But no box needs more instances than that, and each can do something with so many.
const INSTANCES: std::ops::RangeInclusive<u64> = 4..=16;
const LEAST_WATCHES: u64 = 128;

/// How much of what is counted per user one box may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    inotify_instances: u64,
    inotify_watches: u64,
}

impl Shares {
    /// What one box gets of what the machine gives to a user.
    pub(crate) fn of_this_machine() -> Self {
        let allowed = |name: &str| {
            let text = fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?;
            text.trim().parse::<u64>().ok()
        };
        Self::of(allowed("max_user_instances"), allowed("max_user_watches"))
    }

    fn of(instances: Option<u64>, watches: Option<u64>) -> Self {
        let instances = instances.unwrap_or(0) / PART_OF_INSTANCES;
        let watches = watches.unwrap_or(0) / PART_OF_WATCHES;
        Self {
            inotify_instances: instances.clamp(*INSTANCES.start(), *INSTANCES.end()),
            inotify_watches: watches.max(LEAST_WATCHES),
        }
    }

    /// Sets the limits of the calling process's user namespace, which must be a box's own and have its `/proc`.
    pub(crate) fn hold(self) -> Result<(), StageError> {
        set("inotify_instances", self.inotify_instances)?;
        set("inotify_watches", self.inotify_watches)?;
        set("fanotify_groups", 0)?;
        set("fanotify_marks", 0)?;
        NAMESPACES.iter().try_for_each(|kind| set(&format!("{kind}_namespaces"), 0))
    }
}

fn set(name: &str, value: u64) -> Result<(), StageError> {
    match fs::write(format!("{LIMITS}/max_{name}"), value.to_string()) {
        // A kernel without it has nothing to be limited, or counts it as it always did.
        Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => Ok(()),
        other => other.in_stage(Stage::Rlimit, format!("max_{name}")),
    }
}

#[cfg(test)]
#[path = "shares_tests.rs"]
mod tests;
