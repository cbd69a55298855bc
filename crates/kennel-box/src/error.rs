//! What can go wrong with a box, said so that the reader knows what to do.

use kennel_jail::JailError;
use std::path::PathBuf;

/// Why a box could not be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
    /// A field of the spec has a value that no box can have.
    #[error("box spec: `{field}` {problem}")]
    Field {
        /// The field's name as users write it.
        field: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// A profile locks a field that the spec sets.
    #[error("box spec: `{field}` is locked by profile `{profile}`; remove the field or choose another profile")]
    Locked {
        /// The field's name as users write it.
        field: &'static str,
        /// The profile that locks it.
        profile: &'static str,
    },
    /// A path may not be granted to a box.
    #[error("`{path}` cannot be granted to a box: {problem}")]
    Mount {
        /// The path as asked for.
        path: PathBuf,
        /// The rule that refuses it and what to do instead.
        problem: String,
    },
    /// The native box could not be made, or was lost.
    #[error(transparent)]
    Jail(#[from] JailError),
}

impl BoxError {
    /// A field of a spec and what is wrong with it.
    pub(crate) fn field(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Field { field, problem: problem.into() }
    }
}
