//! What boxes could leave behind, as the host sees it: processes, mounts and cgroups.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A process of the host.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// Its arguments, each ended by a blank.
    pub(crate) line: String,
}

/// The processes whose command line or program contains the mark, this one not counted.
pub(crate) fn processes_with(mark: &str) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| *pid != std::process::id()).filter_map(|pid| process_with(pid, mark)).collect()
}

fn process_with(pid: u32, mark: &str) -> Option<Process> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    // The helper and the inits have Kennel's program, but not its path on their command line. A zombie has neither.
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    if !line.contains(mark) && !program.to_string_lossy().contains(mark) {
        return None;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    Some(Process { pid, parent: fields.next()?.parse().ok()?, line })
}

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
pub(crate) fn cgroups() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    collect_cgroups(Path::new("/sys/fs/cgroup"), &mut found);
    found
}

/// Those whose maker is gone: other Kennels of this machine may be at work.
pub(crate) fn ownerless_cgroups() -> BTreeSet<PathBuf> {
    cgroups().into_iter().filter(|path| !owner_lives(path).unwrap_or(false)).collect()
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

fn owner_lives(cgroup: &Path) -> Option<bool> {
    let (pid, started) = owner(cgroup)?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // A zombie waits only for somebody to take note of its end.
    Some(*fields.first()? != "Z" && *fields.get(19)? == started)
}
