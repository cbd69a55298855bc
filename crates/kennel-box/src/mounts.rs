//! Which paths of the host may be granted to a box, decided on what they really are.

use crate::error::BoxError;
use kennel_jail::{Access, FileIdentity, Grant, SYSTEM};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Trees of the system that no box sees any part of.
const DENIED_TREES: [&str; 12] = [
    "/boot",
    "/dev",
    "/etc",
    "/proc",
    "/root",
    "/run",
    "/sys",
    "/var/lib/containerd",
    "/var/lib/containers",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/run",
];

/// Directories that are too wide to be granted themselves; what is in them may be.
const DENIED_ITSELF: [&str; 4] = ["/", "/home", "/mnt", "/var"];

/// What holds keys and tokens in a home directory.
const DENIED_IN_HOME: [&str; 16] = [
    ".aws",
    ".azure",
    ".cargo/credentials.toml",
    ".config/containers",
    ".config/gcloud",
    ".config/gh",
    ".config/kennel",
    ".docker",
    ".gnupg",
    ".kube",
    ".local/share/kennel/state",
    ".local/share/keyrings",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".ssh",
];

/// The rules for one user.
#[derive(Debug, Clone)]
pub struct MountRules {
    allowed_roots: Vec<PathBuf>,
    home: PathBuf,
}

impl MountRules {
    /// Rules under which anything but the deny-list may be granted, for a person who says so on the command line.
    #[must_use]
    pub fn for_user(home: &Path) -> Self {
        Self::under_roots(home, vec![PathBuf::from("/")])
    }

    /// Rules under which only what is in the given directories may be granted, and nothing on the deny-list.
    #[must_use]
    pub fn under_roots(home: &Path, allowed_roots: Vec<PathBuf>) -> Self {
        let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
        Self { allowed_roots: allowed_roots.into_iter().map(real).collect(), home: real(home.to_path_buf()) }
    }

    /// Opens a path, finds out what it really is, and decides on that.
    pub fn check(&self, path: &Path, access: Access) -> Result<CheckedPath, BoxError> {
        let refuse = |problem: String| BoxError::Mount { path: path.to_path_buf(), problem };
        if !path.is_absolute() {
            return Err(refuse("it must be absolute".into()));
        }
        let handle = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| refuse(std::io::Error::from(errno).to_string()))?;
        // The kernel's own name for what was opened: free of symlinks, whatever happens to the path from now on.
        let real = std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()))
            .map_err(|error| refuse(error.to_string()))?;
        let stat = fstat(&handle).map_err(|errno| refuse(std::io::Error::from(errno).to_string()))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !kind.is_dir() && !kind.is_file() {
            return Err(refuse(
                "only directories and regular files can be granted, no sockets, pipes or devices".into(),
            ));
        }
        self.decide(&real, access).map_err(refuse)?;
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").map_err(|error| refuse(error.to_string()))?;
        if let Some((kind, place)) = kernel_mount_beneath(&mounts, &real) {
            return Err(refuse(format!("`{kind}` is mounted in it at `{place}`; grant what is needed beside that")));
        }
        let identity = FileIdentity { device: stat.st_dev, inode: stat.st_ino };
        Ok(CheckedPath { path: real, identity, _handle: handle })
    }

    /// The rules themselves, on a path free of symlinks.
    fn decide(&self, real: &Path, access: Access) -> Result<(), String> {
        if !self.allowed_roots.iter().any(|root| real.starts_with(root)) {
            return Err(format!("`{}` is not under an allowed root", real.display()));
        }
        let homes = [Some(self.home.clone()), others_home(real)].into_iter().flatten().collect::<Vec<_>>();
        if DENIED_ITSELF.iter().any(|denied| real == Path::new(denied))
            || homes.iter().any(|home| home.starts_with(real))
        {
            return Err(format!("`{}` is too wide; grant the directory that is needed", real.display()));
        }
        let system_trees = DENIED_TREES.iter().map(PathBuf::from).filter(|denied| !self.home.starts_with(denied));
        let secrets = homes.iter().flat_map(|home| DENIED_IN_HOME.iter().map(|name| home.join(name)));
        for denied in system_trees.chain(secrets) {
            if real.starts_with(&denied) {
                return Err(format!("nothing under `{}` is ever granted", denied.display()));
            }
            if denied.starts_with(real) && denied.exists() {
                return Err(format!(
                    "it holds `{}`, which is never granted; grant what is needed beside it",
                    denied.display()
                ));
            }
        }
        if access == Access::ReadWrite && SYSTEM.iter().any(|system| real.starts_with(system)) {
            return Err("the base system is never writable in a box; grant it with --read or not at all".into());
        }
        Ok(())
    }
}

/// The home directory that a path lies in, whosever it is: root may look into all of them.
fn others_home(path: &Path) -> Option<PathBuf> {
    let name = path.strip_prefix("/home").ok()?.components().next()?;
    Some(Path::new("/home").join(name))
}

/// File systems by which the kernel shows itself; a grant brings along what is mounted in it.
const KERNEL_FILE_SYSTEMS: [&str; 11] =
    ["bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "proc", "securityfs", "sysfs", "tracefs"];

/// The first of those that is mounted in a directory, with its place.
fn kernel_mount_beneath<'a>(mounts: &'a str, directory: &Path) -> Option<(&'a str, &'a str)> {
    mounts.lines().find_map(|line| {
        let (place, source) = line.split_once(" - ")?;
        let (kind, place) = (source.split(' ').next()?, place.split(' ').nth(4)?);
        (KERNEL_FILE_SYSTEMS.contains(&kind) && Path::new(place).starts_with(directory)).then_some((kind, place))
    })
}

/// A path that may be granted, held open.
#[derive(Debug)]
pub struct CheckedPath {
    path: PathBuf,
    identity: FileIdentity,
    /// Keeps the inode from being given to another file before the box is made.
    _handle: OwnedFd,
}

impl CheckedPath {
    /// The path without symlinks.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn grant(&self, target: PathBuf, access: Access, as_owner: bool) -> Grant {
        Grant { source: self.path.clone(), identity: self.identity, target, access, as_owner }
    }
}

#[cfg(test)]
#[path = "mounts_tests.rs"]
mod tests;
