//! Links that a box may have put on the way of a path, so that the next box is granted what the link leads to.
//!
//! A path is granted as what it leads to. Where a box can write a directory on the way, of this plan or of another one of
//! this process, it can put a link there and so choose what that is. Such links are not followed.

use crate::error::BoxError;
use crate::locations::Way;
use crate::spec::{AccessMode, BoxSpec};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What boxes of this process may write, as far as they were planned.
static PLANNED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The most that is remembered; who has more servers than that has them in few directories.
const MOST_PLANNED: usize = 4096;

/// The trees, free of symlinks, in which a box may have put links.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written(BTreeSet<PathBuf>);

/// A link that a box may have put on the way of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Planted {
    /// The directory of the link.
    directory: PathBuf,
    /// Where the path leads by it.
    end: PathBuf,
}

impl Written {
    /// What the boxes of this spec may write, and those that were planned before.
    pub(crate) fn by(spec: &BoxSpec) -> Self {
        let own = spec.written().filter_map(|path| path.canonicalize().ok());
        let planned = PLANNED.lock().unwrap_or_else(PoisonError::into_inner);
        Self(planned.iter().cloned().chain(own).collect())
    }

    /// Remembers what boxes of this spec may write, before any of them can have done so.
    pub(crate) fn note(spec: &BoxSpec) {
        note_written(spec.written());
    }

    /// Whether a path without symlinks lies in what a box may write.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.0.iter().any(|tree| path.starts_with(tree))
    }

    /// The link on the way of an absolute path that a box may have put there, if there is one.
    pub(crate) fn planted(&self, path: &Path) -> Option<Planted> {
        if self.0.is_empty() {
            return None;
        }
        let way = Way::follow(path);
        let directory = way.links.iter().find(|directory| self.holds(directory))?.clone();
        // A link that leads no further than a box could write anyway shows nothing new.
        (!self.holds(&way.end)).then_some(Planted { directory, end: way.end })
    }

    /// Refuses to grant a path with such a link on its way.
    pub(crate) fn check(&self, path: &Path) -> Result<(), BoxError> {
        match self.planted(path) {
            None => Ok(()),
            Some(planted) => Err(BoxError::Mount { path: path.to_path_buf(), problem: planted.problem() }),
        }
    }
}

/// Takes note of paths that boxes of this process may write, so that links in them count as put there by a box. Every plan does
/// that for its own; who knows of more servers than are planned yet says so, because their boxes may have run before.
pub fn note_written<'a>(paths: impl IntoIterator<Item = &'a Path>) {
    let real: Vec<_> = paths.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut planned = PLANNED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in real {
        if planned.len() < MOST_PLANNED {
            planned.insert(path);
        }
    }
}

impl Planted {
    /// What is wrong with it, and what to do.
    pub(crate) fn problem(&self) -> String {
        format!(
            "a symlink in `{}`, where a box may write, leads to `{}`; a box may have put it there: \
             grant what is needed by its own path",
            self.directory.display(),
            self.end.display()
        )
    }
}

impl BoxSpec {
    /// The paths that boxes of this spec may write.
    fn written(&self) -> impl Iterator<Item = &Path> {
        let project = self
            .host_path
            .as_deref()
            .filter(|_| self.mode.unwrap_or(self.profile.values().mode) == AccessMode::ReadWrite);
        let mounts = self.mounts.iter().filter(|mount| mount.mode == AccessMode::ReadWrite);
        project.into_iter().chain(mounts.map(|mount| mount.host_path.as_path()))
    }
}

#[cfg(test)]
#[path = "planted_tests.rs"]
mod tests;
