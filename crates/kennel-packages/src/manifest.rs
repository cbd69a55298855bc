//! What is written down of an install: which packages, in which versions, with which digests.

use crate::command::Request;
use crate::error::InstallError;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The format that this Kennel writes and reads.
const FORMAT: u32 = 1;

/// The largest manifest that is read.
const LARGEST: u64 = 16 << 20;

/// What is written down of an install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// What was asked for.
    pub request: Request,
    /// The first package's version.
    pub version: String,
    /// The digest that the registry gave for the first package, or that of its list of files.
    pub integrity: String,
    /// The Python outside of the install that its virtualenv was made with. Written down before code of the packages
    /// ran; what the virtualenv says later counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<PathBuf>,
    /// All packages that were installed.
    pub packages: Vec<PinnedPackage>,
    /// The digest of the list of all installed files, which lies beside the manifest.
    pub files: String,
    /// When it was installed, in seconds since 1970.
    pub installed_at: u64,
}

/// A package as it was installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PinnedPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its digest.
    pub integrity: String,
}

/// What an installer installed.
pub(crate) struct Contents {
    pub(crate) packages: Vec<PinnedPackage>,
    /// As [`Manifest::interpreter`].
    pub(crate) interpreter: Option<PathBuf>,
}

impl Manifest {
    /// The manifest of a finished install.
    pub(crate) fn new(request: &Request, main: &PinnedPackage, contents: Contents, files: String) -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self {
            format: FORMAT,
            request: request.clone(),
            version: main.version.clone(),
            integrity: main.integrity.clone(),
            interpreter: contents.interpreter,
            packages: contents.packages,
            files,
            installed_at: since.as_secs(),
        }
    }

    /// Reads the manifest of an install.
    pub(crate) fn read(path: &Path) -> Result<Self, InstallError> {
        let broken = |problem: String| InstallError::Broken { path: path.to_path_buf(), problem };
        let manifest: Self = read_json(path)?;
        if manifest.format != FORMAT {
            return Err(broken(format!("its format is {}, and this Kennel knows {FORMAT}", manifest.format)));
        }
        Ok(manifest)
    }
}

/// Reads a small file of JSON that Kennel itself wrote.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, InstallError> {
    let size = fs::metadata(path).map_err(InstallError::file("read", path))?.len();
    if size > LARGEST {
        return Err(InstallError::Broken { path: path.to_path_buf(), problem: format!("it has {size} bytes") });
    }
    let text = fs::read(path).map_err(InstallError::file("read", path))?;
    serde_json::from_slice(&text)
        .map_err(|error| InstallError::Broken { path: path.to_path_buf(), problem: error.to_string() })
}

/// Writes a file as a whole or not at all, and durably.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), InstallError> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("new-{}-{write}", std::process::id()));
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&new, path)).map_err(|source| {
        // Nothing points to it; what cannot be removed does no harm.
        let _ = fs::remove_file(&new);
        InstallError::File { what: "write", path: path.to_path_buf(), source }
    })
}

/// A value as text that people can read.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, InstallError> {
    serde_json::to_vec_pretty(value).map_err(|error| InstallError::File {
        what: "describe",
        path: "an install".into(),
        source: error.into(),
    })
}
