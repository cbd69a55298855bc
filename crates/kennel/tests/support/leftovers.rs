//! What boxes could leave behind beside processes: mounts and cgroups.

use crate::support::processes::start_of;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The mounts of this namespace.
pub(crate) fn mounts() -> BTreeSet<String> {
    mounts_with("").into_iter().collect()
}

/// The mounts of this namespace that contain the mark.
pub(crate) fn mounts_with(mark: &str) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().filter(|line| line.contains(mark)).map(str::to_owned).collect()
}

/// Kennel's cgroups in every hierarchy.
fn cgroups() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    collect_cgroups(Path::new("/sys/fs/cgroup"), &mut found);
    found
}

/// Those whose maker is gone: other Kennels of this machine may be at work.
pub(crate) fn ownerless_cgroups() -> BTreeSet<PathBuf> {
    let owner_lives = |path: &PathBuf| owner(path).is_some_and(|(pid, start)| start_of(pid) == Some(start));
    cgroups().into_iter().filter(|path| !owner_lives(path)).collect()
}

/// The cgroups that this process made.
pub(crate) fn cgroups_of(pid: u32) -> BTreeSet<PathBuf> {
    cgroups().into_iter().filter(|path| owner(path).is_some_and(|(owner, _)| owner == pid)).collect()
}

fn collect_cgroups(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name().to_string_lossy().starts_with("kennel-") {
                found.insert(entry.path());
            }
            collect_cgroups(&entry.path(), found);
        }
    }
}

/// The number and the start of the process that a cgroup is named after.
fn owner(cgroup: &Path) -> Option<(u32, String)> {
    let mut parts = cgroup.file_name()?.to_str()?.strip_prefix("kennel-")?.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.to_owned()))
}
