//! A directory with a tree to look at, and something beside it that must not be touched.

use kennel_tree::{Bounds, Session, TreeError, Trees};
use std::fs;
use std::future::Future;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is beside the tree.
const SECRET: &str = "what is outside";

/// A place for one test; `tree` in it is the tree.
pub(crate) struct Scene {
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    _directory: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::under(&std::env::temp_dir())
    }

    /// One in memory where there is such a place: some disks take milliseconds for every directory that is removed.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::under(memory) } else { Self::new() }
    }

    fn under(parent: &Path) -> Self {
        let directory = tempfile::Builder::new().prefix("kennel-test-").tempdir_in(parent).unwrap();
        let path = directory.path().canonicalize().unwrap();
        let (root, outside) = (path.join("root"), path.join("outside"));
        fs::create_dir_all(root.join("tree")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), SECRET).unwrap();
        Self { root, outside, _directory: directory }
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    pub(crate) async fn open(&self, bounds: Bounds) -> Session {
        Trees::default().open(&self.root, bounds).await.unwrap()
    }

    pub(crate) fn remove(&self) -> Result<(), TreeError> {
        block_on(async { self.open(generous()).await.remove(Path::new("tree")).await })
    }

    /// Removes the tree, and asserts that it is gone and all else is there.
    #[track_caller]
    pub(crate) fn assert_removable(&self) {
        self.remove().unwrap();
        assert!(self.tree().symlink_metadata().is_err(), "the tree is still there");
        self.assert_untouched();
    }

    /// Asserts that what lies beside the tree is as it was.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        let secret = self.outside.join("secret");
        assert_eq!(fs::read_to_string(&secret).unwrap(), SECRET);
        assert_eq!(fs::read_dir(&self.outside).unwrap().count(), 1);
        assert_eq!(fs::metadata(&self.outside).unwrap().mode() & 0o777, 0o755, "its mode was changed");
    }
}

/// Bounds that no test of a tree's shape reaches by its time, even on a busy machine.
pub(crate) fn generous() -> Bounds {
    Bounds { time: Duration::from_mins(2), ..Bounds::default() }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
