//! How many files this process may open: as many as the system lets it, while programs that run without a box get what the
//! user had.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use std::sync::OnceLock;

static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of open files to the hard one, and returns what holds now. Call before other threads run.
pub fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let before = BEFORE.get_or_init(|| limit);
    // Where that is refused, what there was holds on.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, maximum: before.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Gives a child the limit that the user had.
pub(crate) fn restore(child: u32) {
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(before)) = (pid, BEFORE.get()) {
        // It may have ended.
        let _ = prlimit(Some(pid), Resource::Nofile, *before);
    }
}
