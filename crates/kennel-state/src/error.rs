//! What can go wrong with the file, said so that whoever reads it knows what to do.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why something could not be read from the state, or written to it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StateError {
    /// The directory or the file cannot be made or changed.
    #[error(
        "Kennel cannot keep its state in {path}: {source}; make the place writable for this user or choose another"
    )]
    Unwritable {
        /// The directory or file.
        path: PathBuf,
        /// The system's answer.
        source: Arc<io::Error>,
    },
    /// The file was written by a later version.
    #[error(
        "{path} was written by a newer Kennel (schema {found}; this one knows up to {known}) and is left as it is; run \
         that Kennel, or keep the state of this one in another directory"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The last version that this Kennel knows.
        known: usize,
    },
    /// The file cannot be opened, for another reason.
    #[error("the state in {path} cannot be opened: {source}; move the file away to begin anew")]
    Unopened {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Arc<rusqlite::Error>,
    },
    /// The file was opened, but this did not work.
    #[error("the state in {path} could not be used: {source}; see that the disk is not full and the file is writable")]
    Failed {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Arc<rusqlite::Error>,
    },
    /// Too many ask at once.
    #[error("there are {limit} questions to the state already, which is the limit; ask again later")]
    Busy {
        /// The limit.
        limit: usize,
    },
    /// Nobody answers any more.
    #[error("the state is closed")]
    Closed,
    /// It took longer than the caller wanted to wait.
    #[error("the state did not answer in time")]
    Late,
}

/// What the operator should hear, although Kennel goes on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Warning {
    /// The file was damaged; a new one was begun.
    #[error("{path} is damaged ({cause}); it was moved to {aside}, and an empty one was begun")]
    MovedAside {
        /// Where the state is.
        path: PathBuf,
        /// Where the damaged file is now.
        aside: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// There is no state in this run.
    #[error("nothing is kept from this run: {0}")]
    Unkept(StateError),
    /// Some rows were lost.
    #[error("{count} rows were not written ({total} since the start): {cause}")]
    Lost {
        /// How many since this was last said.
        count: u64,
        /// How many since the start.
        total: u64,
        /// Why.
        cause: StateError,
    },
    /// Calls were left out of the audit log.
    #[error("{count} calls are not in the audit log ({total} since the start): the disk is too slow for so many")]
    Dropped {
        /// How many since this was last said.
        count: u64,
        /// How many since the start.
        total: u64,
    },
}
