//! Looks at installs, which foreign code wrote: always by a helper, within bounds, with errors that name the install.

use crate::error::InstallError;
use kennel_tree::{Bound, Bounds, Session, TreeError, Trees};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a look at an install may take that reads a few files of it.
pub(crate) const LOOK: Duration = Duration::from_secs(30);

/// The most that an install may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallLimits {
    /// Bytes of all its files, by their sizes.
    pub bytes: u64,
    /// Files, directories and links.
    pub files: u64,
}

impl Default for InstallLimits {
    fn default() -> Self {
        let bounds = Bounds::default();
        Self { bytes: bounds.bytes, files: bounds.entries }
    }
}

impl InstallLimits {
    pub(crate) fn bounds(self, time: Duration) -> Bounds {
        Bounds { bytes: self.bytes, entries: self.files, time, ..Bounds::default() }
    }

    /// What may be on the disk while an install is made: archives and caches come to the install itself.
    pub(crate) fn in_the_making(self, time: Duration) -> Bounds {
        let doubled = Self { bytes: self.bytes.saturating_mul(2), files: self.files.saturating_mul(2) };
        doubled.bounds(time)
    }
}

/// A tree that foreign code wrote.
pub(crate) struct Foreign {
    session: Session,
    root: PathBuf,
}

impl Foreign {
    /// Starts looking at the tree of an install, which links in it call by the path where it is or will be.
    pub(crate) async fn open(trees: &Trees, tree: &Path, alias: &Path) -> Result<Self, InstallError> {
        let bounds = Bounds { time: LOOK, ..Bounds::default() };
        let session = trees.open_known_as(tree, Some(alias), bounds).await.map_err(failed("look at", tree))?;
        Ok(Self { session, root: tree.to_path_buf() })
    }

    /// Reads a file as a whole; nothing where there is none.
    pub(crate) async fn read(&mut self, path: &Path, largest: u64) -> Result<Option<Vec<u8>>, InstallError> {
        let failed = failed("read", &self.root.join(path));
        self.session.read(path, largest).await.map_err(failed)
    }

    /// Reads the beginning of a file.
    pub(crate) async fn read_start(&mut self, path: &Path, count: u64) -> Result<Vec<u8>, InstallError> {
        let failed = failed("read", &self.root.join(path));
        Ok(self.session.read_start(path, count).await.map_err(failed)?.unwrap_or_default())
    }

    /// The names in a directory that end so.
    pub(crate) async fn names(&mut self, path: &Path, ending: &str) -> Result<Vec<std::ffi::OsString>, InstallError> {
        let failed = failed("list", &self.root.join(path));
        Ok(self.session.names(path, ending).await.map_err(failed)?.unwrap_or_default())
    }

    /// Where a path leads.
    pub(crate) async fn resolve(&mut self, path: &Path) -> Result<kennel_tree::Place, InstallError> {
        let failed = failed("find", &self.root.join(path));
        self.session.resolve(path).await.map_err(failed)
    }

    /// Writes a file in the place of another.
    pub(crate) async fn replace(&mut self, path: &Path, content: &[u8]) -> Result<(), InstallError> {
        let failed = failed("write", &self.root.join(path));
        self.session.replace(path, content).await.map_err(failed)
    }
}

/// An error of a look at something in the store.
pub(crate) fn failed(what: &'static str, path: &Path) -> impl FnOnce(TreeError) -> InstallError + use<> {
    let path = path.to_path_buf();
    move |source| InstallError::Tree { what, path, source }
}

/// The error of a package that is more than it may be, or takes too long to look at.
pub(crate) fn judged(package: &str, what: &'static str, path: &Path, source: TreeError) -> InstallError {
    match source {
        TreeError::Exceeded { bound: Bound::Time, .. } | TreeError::Timeout { .. } => {
            InstallError::Tree { what, path: path.to_path_buf(), source }
        }
        TreeError::Exceeded { .. } => InstallError::TooLarge { package: package.to_owned(), source },
        source => InstallError::Tree { what, path: path.to_path_buf(), source },
    }
}

/// A name that foreign code chose, for people: one line, no letters that a terminal obeys, not too many.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(300).flat_map(char::escape_debug).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
