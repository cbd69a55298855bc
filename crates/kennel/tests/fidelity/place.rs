//! Owns where a cell is looked at: the Kennel, its process model, and the files by which the fixture tells what happens.

use crate::client::Looked;
use crate::support::waiting::{PATIENCE, settle};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the cells of a column share.
pub(crate) struct Place {
    /// Where the fixture shows by locked files which calls run.
    pub(crate) locks: PathBuf,
}

impl Place {
    /// A word that nothing else in these tests says.
    pub(crate) fn mark() -> String {
        static LAST: AtomicU64 = AtomicU64::new(0);
        format!("mark-{}", LAST.fetch_add(1, Ordering::Relaxed))
    }

    /// Waits until the call with this mark runs.
    pub(crate) fn runs(&self, mark: &str) -> Looked<()> {
        let file = self.locks.join(mark);
        settle(PATIENCE / 4, || (!file.exists()).then(|| format!("the call {mark} does not run"))).map(drop)
    }

    /// Whether the call with this mark, which has run, has ended.
    pub(crate) fn has_ended(&self, mark: &str) -> bool {
        File::open(self.locks.join(mark)).expect("the call has run").try_lock().is_ok()
    }

    /// Waits until the call with this mark, which has run, has ended.
    pub(crate) fn ends(&self, mark: &str) -> Looked<()> {
        settle(PATIENCE / 4, || (!self.has_ended(mark)).then(|| format!("the call {mark} goes on"))).map(drop)
    }
}
