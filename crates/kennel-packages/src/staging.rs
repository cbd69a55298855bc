//! Where installs are made before they are put into place, and what is left of those whose maker died.
//!
//! A directory in here belongs to whoever holds the lock beside it. The kernel lets go of a lock when its holder ends,
//! however that happens, so a directory whose lock is free is nobody's and can be removed. What foreign code left in it
//! is removed by a helper; where that fails, it is said once, and tried again before a later install.

use crate::error::InstallError;
use crate::foreign::failed;
use crate::workshop::Places;
use kennel_tree::{Bounds, Trees};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const LOCK: &str = "lock";

/// How long the removal of one directory may take; what is left then is removed later.
pub(crate) const REMOVAL: Duration = Duration::from_mins(2);
/// How often, and how fast one after the other, a new lock is tried that somebody else has.
const OWN_LOCK_ATTEMPTS: u32 = 1000;
const OWN_LOCK_PAUSE: Duration = Duration::from_millis(20);
/// How many directories are remembered as said.
const MOST_SAID: usize = 1000;

/// A directory that an install is made in. What is left of it when it is dropped is nobody's.
#[derive(Debug)]
pub(crate) struct Staging {
    parent: PathBuf,
    id: String,
    lock_path: PathBuf,
    _lock: File,
}

impl Staging {
    /// Makes an empty directory with this name and takes it.
    pub(crate) fn create(parent: &Path, id: &str) -> Result<Self, InstallError> {
        let lock_path = parent.join(format!("{id}.{LOCK}"));
        let lock = take_own_lock(&lock_path)?;
        let staging = Self { parent: parent.to_path_buf(), id: id.to_owned(), lock_path, _lock: lock };
        for name in ["tree", "work"] {
            let path = staging.directory().join(name);
            fs::create_dir_all(&path).map_err(InstallError::file("make", &path))?;
        }
        Ok(staging)
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.parent.join(&self.id)
    }

    /// The places of an install that will be at a path.
    pub(crate) fn places(&self, destination: &Path) -> Places {
        let directory = self.directory();
        Places {
            tree: directory.join("tree"),
            work: directory.join("work"),
            final_tree: destination.join("tree"),
            final_work: destination.join("work"),
            directory,
        }
    }

    /// Lets go of a directory that has been put into place.
    pub(crate) fn release(self) {
        // A lock that nothing lies beside does no harm.
        let _ = fs::remove_file(&self.lock_path);
    }

    /// Removes the directory; says why where it cannot.
    pub(crate) async fn discard(self, trees: &Trees) -> Result<(), InstallError> {
        remove(trees, &self.parent, &self.id, REMOVAL).await?;
        blocking(move || {
            self.release();
            Ok(())
        })
        .await
    }
}

/// Removes what belongs to nobody any more. One directory that cannot be removed stops no other, and no install.
pub(crate) async fn sweep(trees: &Trees, parent: &Path, warn: &(dyn Fn(&str) + Sync)) {
    let listing = parent.to_path_buf();
    let locks = blocking(move || leftovers(&listing)).await.unwrap_or_else(|error| {
        warn_once(parent, &error, warn);
        Vec::new()
    });
    let deadline = Instant::now() + REMOVAL;
    for path in locks {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if let Err(error) = remove_leftover(trees, parent, &path, left).await {
            warn_once(&path, &error, warn);
        }
    }
}

/// The locks in a directory.
fn leftovers(parent: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let failed = || InstallError::file("list", parent);
    let entries = fs::read_dir(parent).map_err(failed())?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed())?.path())).collect::<Result<Vec<_>, _>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == LOCK)).collect())
}

async fn remove_leftover(trees: &Trees, parent: &Path, lock_path: &Path, time: Duration) -> Result<(), InstallError> {
    let path = lock_path.to_path_buf();
    // Held while it is removed, so that nobody takes the name meanwhile.
    let Some(lock) = blocking(move || take_lock(&path)).await? else { return Ok(()) };
    let Some(name) = lock_path.file_stem().and_then(|name| name.to_str()) else { return Ok(()) };
    remove(trees, parent, name, time).await?;
    let path = lock_path.to_path_buf();
    blocking(move || {
        let removed = fs::remove_file(&path).map_err(InstallError::file("remove", &path));
        drop(lock);
        removed
    })
    .await
}

/// Says what could not be removed, the first time.
fn warn_once(path: &Path, error: &InstallError, warn: &(dyn Fn(&str) + Sync)) {
    static SAID: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    // A lock whose holder panicked still guards consistent data.
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = said.len() < MOST_SAID && said.insert(path.to_path_buf());
    drop(said);
    if is_new {
        warn(&format!("what an earlier install left is still there and is tried again later: {error}"));
    }
}

/// Removes a directory of the store with all that is in it, whatever foreign code made of it.
pub(crate) async fn remove(trees: &Trees, parent: &Path, name: &str, time: Duration) -> Result<(), InstallError> {
    let path = parent.join(name);
    let bounds = Bounds { time, ..Bounds::default() };
    let mut session = trees.open(parent, bounds).await.map_err(failed("remove", &path))?;
    session.remove(Path::new(name)).await.map_err(failed("remove", &path))
}

/// Takes the lock of a new name. Whoever sweeps may have found it a moment earlier than it was taken, and lets go of it.
fn take_own_lock(path: &Path) -> Result<File, InstallError> {
    for _ in 0..OWN_LOCK_ATTEMPTS {
        if let Some(lock) = take_lock(path)? {
            return Ok(lock);
        }
        std::thread::sleep(OWN_LOCK_PAUSE);
    }
    let source = std::io::Error::other("somebody else has it");
    Err(InstallError::File { what: "take", path: path.to_path_buf(), source })
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

#[cfg(test)]
#[path = "staging_tests.rs"]
mod tests;
