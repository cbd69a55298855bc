//! Which paths of the host may be granted to a box, decided on what they really are.

use crate::error::BoxError;
use crate::locations::{MountTable, Way};
use crate::own::{Granted, Own, OwnThings};
use kennel_jail::{Access, FileIdentity, Grant, SYSTEM};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

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

/// How what is Kennel's own is found.
type Finding = Box<dyn FnOnce() -> OwnThings + Send + Sync>;

/// The rules for one user.
#[derive(Debug, Clone)]
pub struct MountRules {
    allowed_roots: Vec<PathBuf>,
    home: PathBuf,
    /// What is Kennel's own, looked for when there is something to decide.
    own: Arc<LazyLock<OwnThings, Finding>>,
    /// What of it a box may read all the same.
    installed: Vec<PathBuf>,
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
        let allowed_roots = allowed_roots.into_iter().map(real).collect();
        let own: Finding = Box::new(OwnThings::default);
        let own = Arc::new(LazyLock::new(own));
        Self { allowed_roots, home: real(home.to_path_buf()), own, installed: Vec::new() }
    }

    /// The same rules, under which these things of Kennel's own are granted to nobody. They are asked for, and looked for,
    /// with the first path that is checked.
    #[must_use]
    pub fn protecting(self, own: impl FnOnce() -> Vec<Own> + Send + Sync + 'static) -> Self {
        // Without a table of mounts everything is still known by its path; no grant is made without one.
        let find: Finding = Box::new(|| OwnThings::find(own(), &MountTable::current().unwrap_or_default()));
        Self { own: Arc::new(LazyLock::new(find)), ..self }
    }

    /// The same rules for a box that Kennel itself shows what it has installed for it, read-only.
    #[must_use]
    pub fn showing(self, installed: &[PathBuf]) -> Self {
        let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
        Self { installed: installed.iter().filter_map(real).collect(), ..self }
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
        let mounts = MountTable::current().map_err(|error| refuse(error.to_string()))?;
        if let Some((kind, place)) = mounts.kind_beneath(&KERNEL_FILE_SYSTEMS, &real) {
            let place = place.display();
            return Err(refuse(format!("`{kind}` is mounted in it at `{place}`; grant what is needed beside that")));
        }
        let identity = FileIdentity { device: stat.st_dev, inode: stat.st_ino };
        let is_shown = access == Access::ReadOnly && self.installed.iter().any(|shown| real.starts_with(shown));
        if !is_shown {
            let granted = Granted { identity, is_directory: kind.is_dir(), places: &mounts.granted(&real) };
            self.own.decide(&granted, access).map_err(refuse)?;
        }
        Ok(CheckedPath { asked: path.to_owned(), path: real, identity, access, handle })
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

/// A path that may be granted, held open.
#[derive(Debug)]
pub struct CheckedPath {
    /// As it was asked for.
    asked: PathBuf,
    path: PathBuf,
    identity: FileIdentity,
    access: Access,
    /// Keeps the inode from being given to another file before the box is made.
    handle: OwnedFd,
}

impl CheckedPath {
    /// The path without symlinks.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be changed in the box.
    pub(crate) fn is_writable(&self) -> bool {
        self.access == Access::ReadWrite
    }

    /// Whether the path that was asked for still leads here.
    pub(crate) fn is_current(&self) -> bool {
        let found = std::fs::metadata(&self.asked);
        let is_same =
            |found: std::fs::Metadata| (found.dev(), found.ino()) == (self.identity.device, self.identity.inode);
        found.is_ok_and(is_same) && std::fs::canonicalize(&self.asked).is_ok_and(|path| path == self.path)
    }

    /// Whether it is still what the rules allow, and leads here.
    pub(crate) fn is_allowed(&self, rules: &MountRules) -> bool {
        let again = rules.check(&self.asked, self.access);
        again.is_ok_and(|again| again.identity == self.identity && again.path == self.path)
    }

    /// Whether whoever can write here, wherever this has been moved to since, can change what a path leads to.
    pub(crate) fn reaches(&self, way: &Way, mounts: &MountTable) -> bool {
        let Ok(now) = std::fs::read_link(format!("/proc/self/fd/{}", self.handle.as_raw_fd())) else { return false };
        reaches(&now, way, mounts)
    }

    pub(crate) fn grant(&self, target: PathBuf, access: Access, as_owner: bool) -> Grant {
        Grant { source: self.path.clone(), identity: self.identity, target, access, as_owner }
    }
}

/// Whether whoever can write a path without symlinks can change what another leads to.
fn reaches(written: &Path, way: &Way, mounts: &MountTable) -> bool {
    let granted = mounts.granted(written);
    let on_the_way = way.directories.iter().chain([&way.end]).filter_map(|path| mounts.look(path));
    let (this, end) = (mounts.look(written), mounts.look(&way.end));
    let is_it = this.as_ref().zip(end.as_ref()).is_some_and(|(this, end)| this.identity == end.identity);
    // Another name of the file may be anywhere on its file system.
    let may_be_in_it = this.zip(end).is_some_and(|(this, end)| {
        end.kind.is_file() && end.names > 1 && this.kind.is_dir() && this.identity.device == end.identity.device
    });
    is_it || may_be_in_it || on_the_way.into_iter().any(|place| granted.iter().any(|tree| tree.holds(&place.location)))
}

/// Whether a box that may write a directory or file can change what another path leads to, be it by a symlink, by a
/// parent directory or by another mount. Both paths are absolute; a path that leads nowhere reaches nothing.
#[must_use]
pub fn can_redirect(written: &Path, path: &Path) -> bool {
    let (Ok(written), Ok(mounts)) = (std::fs::canonicalize(written), MountTable::current()) else { return false };
    reaches(&written, &Way::follow(path), &mounts)
}

#[cfg(test)]
#[path = "mounts_tests.rs"]
mod tests;
