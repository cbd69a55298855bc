//! Where installs are made before they are put into place, and what is left of those whose maker died.
//!
//! A directory in here belongs to whoever holds the lock beside it. The kernel lets go of a lock when its holder ends,
//! however that happens, so a directory whose lock is free is nobody's and can be removed.

use crate::error::InstallError;
use crate::workshop::Places;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";

/// A directory that an install is made in. Dropping it removes what is left of it.
#[derive(Debug)]
pub(crate) struct Staging {
    directory: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Staging {
    /// Makes an empty directory with this name and takes it.
    pub(crate) fn create(parent: &Path, id: &str) -> Result<Self, InstallError> {
        let lock_path = parent.join(format!("{id}.{LOCK}"));
        let lock = take_lock(&lock_path)?.ok_or_else(|| InstallError::File {
            what: "take",
            path: lock_path.clone(),
            source: std::io::Error::other("somebody else has it"),
        })?;
        let staging = Self { directory: parent.join(id), lock_path, _lock: lock };
        for name in ["tree", "work"] {
            let path = staging.directory.join(name);
            fs::create_dir_all(&path).map_err(InstallError::file("make", &path))?;
        }
        Ok(staging)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The places of an install that will be at a path.
    pub(crate) fn places(&self, destination: &Path) -> Places {
        Places {
            tree: self.directory.join("tree"),
            work: self.directory.join("work"),
            final_tree: destination.join("tree"),
            final_work: destination.join("work"),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed now, because the box is still ending, is removed before the next install.
        if remove(&self.directory).is_ok() {
            let _ = fs::remove_file(&self.lock_path);
        }
    }
}

/// Removes what belongs to nobody any more.
pub(crate) fn sweep(parent: &Path) -> Result<(), InstallError> {
    for entry in fs::read_dir(parent).map_err(InstallError::file("list", parent))? {
        let path = entry.map_err(InstallError::file("list", parent))?.path();
        if path.extension().is_none_or(|ending| ending != LOCK) {
            continue;
        }
        // Held while it is removed, so that nobody takes the name meanwhile.
        if let Some(_lock) = take_lock(&path)?
            && remove(&path.with_extension("")).is_ok()
        {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

/// Takes a lock, unless somebody has it.
pub(crate) fn take_lock(path: &Path) -> Result<Option<File>, InstallError> {
    loop {
        let file = File::options().create(true).write(true).truncate(false).open(path);
        let file = file.map_err(InstallError::file("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => {
                return Err(InstallError::File { what: "lock", path: path.to_path_buf(), source });
            }
        }
        // Whoever had it before may have removed the file; then this lock is on a file that nobody else sees.
        let ours = file.metadata().map_err(InstallError::file("look at", path))?;
        if fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())) {
            return Ok(Some(file));
        }
    }
}

/// Runs what takes a while with files.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, InstallError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(InstallError::File { what: "use", path: PathBuf::from("the store"), source: error.into() })
    })
}

/// Removes a directory with all that is in it, even what foreign code made hard to remove.
pub(crate) fn remove(directory: &Path) -> std::io::Result<()> {
    let gone = |outcome: std::io::Result<()>| match outcome {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    gone(fs::remove_dir_all(directory)).or_else(|_| {
        open_up(directory);
        gone(fs::remove_dir_all(directory))
    })
}

/// Gives the owner all rights on all directories.
fn open_up(directory: &Path) {
    // Where this fails, the removal does too, and says why.
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
#[path = "staging_tests.rs"]
mod tests;
