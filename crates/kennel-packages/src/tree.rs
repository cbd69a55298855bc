//! The files of an install: read with care, because foreign code wrote them, and listed so that changes are found.

use crate::error::InstallError;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What an install's file list says of one file: its kind and the digest of its content.
pub(crate) type FileList = BTreeMap<String, String>;

/// How an installed file differs from what was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is another.
    Changed(String),
    /// It is gone.
    Missing(String),
    /// It was not there.
    Added(String),
}

/// Reads a file of an install, if it really lies there and is not too large.
pub(crate) fn read_inside(tree: &Path, path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let real = real_inside(tree, path)?;
    // Looked at before it is opened: opening a pipe would wait for its other end.
    let metadata = real.metadata()?;
    if !metadata.is_file() || metadata.len() > largest {
        return Err(io::Error::other("it is no regular file of a reasonable size"));
    }
    let mut content = Vec::new();
    File::open(&real)?.take(largest).read_to_end(&mut content)?;
    Ok(content)
}

/// Where a path of an install really leads, which must be in the install.
pub(crate) fn real_inside(tree: &Path, path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(tree.join(path))?;
    if real.starts_with(fs::canonicalize(tree)?) {
        Ok(real)
    } else {
        Err(io::Error::other("it leads out of the install"))
    }
}

/// Lists all files of a directory, following no link.
pub(crate) fn list(root: &Path) -> Result<FileList, InstallError> {
    let mut files = FileList::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let failed = || InstallError::file("list", &directory);
        for entry in fs::read_dir(&directory).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let path = entry.path();
            let kind = entry.file_type().map_err(InstallError::file("look at", &path))?;
            if kind.is_dir() {
                directories.push(path);
                continue;
            }
            let name = escaped(path.strip_prefix(root).unwrap_or(&path));
            let what = if kind.is_symlink() {
                let target = fs::read_link(&path).map_err(InstallError::file("read", &path))?;
                format!("link:{}", escaped(&target))
            } else if kind.is_file() {
                file_digest(&path).map_err(InstallError::file("read", &path))?
            } else {
                "special:".to_owned()
            };
            files.insert(name, what);
        }
    }
    Ok(files)
}

fn file_digest(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let executable = file.metadata()?.permissions().mode() & 0o111 != 0;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => digest.update(&buffer[..count]),
        }
    }
    let kind = if executable { "program" } else { "file" };
    Ok(format!("{kind}:{}", hex(&digest.finalize())))
}

/// The list as text, one file per line.
pub(crate) fn to_text(files: &FileList) -> String {
    files.iter().fold(String::new(), |mut text, (name, what)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what} {name}");
        text
    })
}

/// The list from its text.
pub(crate) fn from_text(text: &str) -> FileList {
    let pair = |line: &str| line.split_once(' ').map(|(what, name)| (name.to_owned(), what.to_owned()));
    text.lines().filter_map(pair).collect()
}

/// How one list differs from another.
pub(crate) fn compare(installed: &FileList, found: &FileList) -> Vec<Change> {
    let changed = installed.iter().filter_map(|(name, what)| match found.get(name) {
        None => Some(Change::Missing(name.clone())),
        Some(other) if other != what => Some(Change::Changed(name.clone())),
        Some(_) => None,
    });
    let added = found.keys().filter(|name| !installed.contains_key(*name)).cloned().map(Change::Added);
    changed.chain(added).collect()
}

/// The digest of a text.
pub(crate) fn text_digest(text: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(text.as_bytes())))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A path in letters that stay on one line, reversible and so the same for no two paths.
fn escaped(path: &Path) -> String {
    path.as_os_str().as_bytes().iter().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_graphic() && *byte != b'%' {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
        text
    })
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
