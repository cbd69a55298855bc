//! The home and `/tmp` of a box that has no root of its own: a directory of the host, gone with the box.

use crate::error::{InStage, Stage, StageError};
use crate::owner::owner_of;
use rustix::fs::{CWD, Gid, Mode, Uid};
use std::fs;
use std::path::{Path, PathBuf};

const PARENT: &str = "/tmp";

/// A scratch directory; dropping it removes it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes a directory that only its owner can enter.
    pub(crate) fn create(name: &str) -> Result<Self, StageError> {
        let path = Path::new(PARENT).join(name);
        // Fails where anything has the name already, a link somebody planted included.
        rustix::fs::mkdirat(CWD, &path, Mode::RWXU).in_stage(Stage::Mount, path.display())?;
        Ok(Self(path))
    }

    /// Gives the directory to a box's user.
    pub(crate) fn give_to(&self, id: u32) -> Result<(), StageError> {
        rustix::fs::chown(&self.0, Some(Uid::from_raw(id)), Some(Gid::from_raw(id)))
            .in_stage(Stage::Mount, self.0.display())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes the scratch directories of helpers that are gone and returns how many those were.
    pub(crate) fn remove_leftovers() -> usize {
        let entries = fs::read_dir(PARENT).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_str().and_then(owner_of).is_some_and(|owner| !owner.alive()))
            .filter(|entry| fs::remove_dir_all(entry.path()).is_ok())
            .count()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // All that could write there has ended; what cannot be removed is tried again by the next helper.
        let _ = fs::remove_dir_all(&self.0);
    }
}
