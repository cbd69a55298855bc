//! Who made a cgroup or a scratch directory, told by its name.

use std::fs;

/// Everything that any Kennel makes outside of boxes starts with this.
const PREFIX: &str = "kennel-";

/// The process that something belongs to; no later process can be taken for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: u32,
    started: u64,
}

impl Owner {
    /// Whether that very process still runs.
    pub(crate) fn alive(&self) -> bool {
        start_time(self.pid) == Some(self.started)
    }
}

/// The beginning of the names of all that the calling process makes.
pub(crate) fn own_prefix() -> String {
    let pid = std::process::id();
    format!("{PREFIX}{pid}-{}", start_time(pid).unwrap_or(0))
}

/// The owner that a name was made for.
pub(crate) fn owner_of(name: &str) -> Option<Owner> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    Some(Owner { pid: parts.next()?.parse().ok()?, started: parts.next()?.parse().ok()? })
}

/// When a process started, in clock ticks since boot; one that has ended and only waits to be reaped has not.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold spaces; the fields after it may not. The start time is the 22nd field.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
