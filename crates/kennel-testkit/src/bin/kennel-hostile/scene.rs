//! Owns what an attempt may know of its surroundings: its arguments and the state at the start.

use std::ffi::CString;
use std::fs;
use std::os::fd::RawFd;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::finding::Stop;
use crate::system::{Argument, call};

/// The surroundings of one attempt.
pub(crate) struct Scene {
    arguments: Vec<String>,
    inherited: Vec<(RawFd, String)>,
    parent: u32,
}

impl Scene {
    pub(crate) fn new(arguments: Vec<String>, inherited: Vec<(RawFd, String)>) -> Self {
        Self { arguments, inherited, parent: parent_id() }
    }

    pub(crate) fn count(&self) -> usize {
        self.arguments.len()
    }

    /// The process that started this program, not the one that contains the attempt.
    pub(crate) fn parent(&self) -> u32 {
        self.parent
    }

    /// Descriptors above 2 that were open at the start, with what they are.
    pub(crate) fn inherited(&self) -> &[(RawFd, String)] {
        &self.inherited
    }

    pub(crate) fn text(&self, index: usize) -> Result<&str, Stop> {
        self.arguments
            .get(index)
            .map(String::as_str)
            .ok_or_else(|| Stop::Usage(format!("argument {} is missing", index + 1)))
    }

    pub(crate) fn path(&self, index: usize) -> Result<&Path, Stop> {
        self.text(index).map(Path::new)
    }

    pub(crate) fn c_path(&self, index: usize) -> Result<CString, Stop> {
        c_path(self.path(index)?)
    }

    pub(crate) fn number<T: FromStr>(&self, index: usize) -> Result<T, Stop> {
        let text = self.text(index)?;
        text.parse().map_err(|_| Stop::Usage(format!("`{text}` is not a fitting number")))
    }

    /// A name of this attempt's own in the granted directory of that argument.
    pub(crate) fn own_file(&self, index: usize) -> Result<PathBuf, Stop> {
        Ok(self.path(index)?.join(format!("kennel-hostile-{}", std::process::id())))
    }
}

/// A path for a raw system call.
pub(crate) fn c_path(path: &Path) -> Result<CString, Stop> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| Stop::Usage("a path has a NUL byte".into()))
}

/// The descriptors above 2 that are open now.
pub(crate) fn open_descriptors() -> Vec<(RawFd, String)> {
    let listed: Vec<RawFd> = match fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect(),
        Err(_) => (0..4096).collect(),
    };
    listed
        .into_iter()
        .filter(|descriptor| *descriptor > 2 && is_open(*descriptor))
        .map(|descriptor| (descriptor, describe(descriptor)))
        .collect()
}

/// The listing itself had a descriptor too; it is closed by now.
fn is_open(descriptor: RawFd) -> bool {
    let get_flags = i64::from(libc::F_GETFD);
    call(libc::SYS_fcntl, [Argument::Number(descriptor.into()), Argument::Number(get_flags)]).is_ok()
}

fn describe(descriptor: RawFd) -> String {
    fs::read_link(format!("/proc/self/fd/{descriptor}"))
        .map_or_else(|_| "unknown".into(), |target| target.display().to_string())
}
