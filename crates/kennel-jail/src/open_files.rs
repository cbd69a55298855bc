//! How many files Kennel may open: as many as the system lets it, while programs that run without a box get what the user had.
//!
//! The same limit holds for descriptors that are on their way in messages, and is compared with those of all processes of
//! the user. A box that leaves many on their way would keep Kennel from sending any, were its limit no higher.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// The soft limit that Kennel was started with.
static INHERITED: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the soft limit of open files to the hard one, and returns what holds now.
pub fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    INHERITED.get_or_init(|| current);
    // Where that is refused, what there was holds on.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// The soft limit from before it was raised, which it is from now on.
pub(crate) fn inherited() -> Option<u64> {
    raise_open_files();
    INHERITED.get().copied().flatten()
}

/// Gives the calling process the limit back that Kennel was started with.
pub(crate) fn restore(current: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // It can only be lower than what there is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum });
}
