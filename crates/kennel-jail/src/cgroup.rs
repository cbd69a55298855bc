//! The box's cgroup, of version 2 where the controllers are delegated, of version 1 where the host has that.

use crate::error::{InStage, Stage, StageError};
use crate::spec::{Hold, Limits};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every cgroup made by any Kennel starts with this.
const PREFIX: &str = "kennel-";
const CPU_PERIOD_MICROS: u64 = 100_000;

/// A resource that a cgroup can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Controller {
    /// Memory.
    Memory,
    /// Number of processes and threads.
    Pids,
    /// Processor time.
    Cpu,
}

impl Controller {
    const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }
}

/// The interface that a controller is reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One directory per controller.
    V1,
    /// One directory for all.
    V2,
}

/// Where boxes' cgroups can be made, per controller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Delegation {
    places: Vec<(Controller, Version, PathBuf)>,
}

impl Delegation {
    /// Finds for each controller a cgroup under which this process may make others.
    ///
    /// On version 2 this may move the calling process and its parent into a leaf of their own cgroup, where that
    /// cgroup is theirs alone: the kernel delegates controllers only from a cgroup without processes.
    pub(crate) fn find() -> Self {
        let (Ok(mounts), Ok(own)) =
            (fs::read_to_string("/proc/self/mountinfo"), fs::read_to_string("/proc/self/cgroup"))
        else {
            return Self::default();
        };
        let mut places = Vec::new();
        // A process is in one cgroup of version 2, so all its controllers are handed down from the same place.
        let v2 = v2_directory(&mounts, &own).and_then(|(root, own)| v2_parent(&root, &own));
        for controller in Controller::ALL {
            if let Some((parent, _)) = v2.as_ref().filter(|(_, handed_down)| handed_down.contains(&controller)) {
                places.push((controller, Version::V2, parent.clone()));
            } else if let Some(parent) = v1_directory(&mounts, &own, controller).filter(|path| writable(path)) {
                places.push((controller, Version::V1, parent));
            }
        }
        Self { places }
    }

    /// The interface that limits a resource, if any does.
    pub(crate) fn version(&self, controller: Controller) -> Option<Version> {
        self.places.iter().find(|place| place.0 == controller).map(|place| place.1)
    }

    /// What holds the limit of a resource, if a cgroup does.
    pub(crate) fn hold(&self, controller: Controller) -> Option<Hold> {
        self.version(controller).map(|version| match version {
            Version::V1 => Hold::CgroupV1,
            Version::V2 => Hold::CgroupV2,
        })
    }

    /// Makes a cgroup for one box. Whatever was made is removed again where a part fails.
    pub(crate) fn create(&self, name: &str, limits: &Limits) -> Result<BoxCgroup, StageError> {
        let directories =
            self.places.iter().map(|(_, version, parent)| (parent.join(name), *version)).collect::<BTreeMap<_, _>>();
        let mut made = BoxCgroup { directories: Vec::new(), v2: None, v1: Vec::new(), events: Events::default() };
        for (directory, version) in directories {
            fs::create_dir(&directory).in_stage(Stage::Cgroup, directory.display())?;
            made.directories.push(directory.clone());
            let open = |path: &Path, flags| openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty());
            match version {
                Version::V1 => {
                    let tasks =
                        open(&directory.join("tasks"), OFlags::WRONLY).in_stage(Stage::Cgroup, directory.display())?;
                    made.v1.push(tasks.into());
                }
                Version::V2 => {
                    made.v2 = Some(
                        open(&directory, OFlags::PATH | OFlags::DIRECTORY)
                            .in_stage(Stage::Cgroup, directory.display())?,
                    );
                }
            }
        }
        for (controller, version, parent) in &self.places {
            let directory = parent.join(name);
            for (file, value, required) in settings(*controller, *version, limits) {
                let path = directory.join(file);
                match fs::write(&path, value) {
                    Err(error) if !required && error.kind() == io::ErrorKind::NotFound => {}
                    other => other.in_stage(Stage::Cgroup, path.display())?,
                }
            }
            if let Some(file) = events_file(*controller, *version) {
                let path = directory.join(file);
                let counter = Some(File::open(&path).in_stage(Stage::Cgroup, path.display())?);
                match controller {
                    Controller::Memory => made.events.memory = counter,
                    Controller::Pids => made.events.pids = counter,
                    Controller::Cpu => {}
                }
            }
        }
        Ok(made)
    }

    /// Removes the empty cgroups of Kennels that are gone and returns how many those were.
    pub(crate) fn remove_leftovers(&self) -> usize {
        let parents = self.places.iter().map(|(_, _, parent)| parent).collect::<BTreeSet<_>>();
        let entries = parents.into_iter().filter_map(|parent| fs::read_dir(parent).ok()).flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_str().and_then(owner_of).is_some_and(|owner| !owner.alive()))
            .filter(|entry| fs::remove_dir(entry.path()).is_ok())
            .count()
    }
}

/// The files to write for one controller, with whether each must exist.
fn settings(controller: Controller, version: Version, limits: &Limits) -> Vec<(&'static str, String, bool)> {
    let memory = limits.memory.to_string();
    // The init of the box counts as well and must not use up what was promised to the box.
    let pids = (u64::from(limits.pids) + 1).to_string();
    let quota = u64::from(limits.milli_cpus) * CPU_PERIOD_MICROS / 1000;
    match (controller, version) {
        (Controller::Memory, Version::V2) => {
            vec![("memory.max", memory, true), ("memory.swap.max", "0".into(), false)]
        }
        (Controller::Memory, Version::V1) => {
            vec![("memory.limit_in_bytes", memory.clone(), true), ("memory.memsw.limit_in_bytes", memory, false)]
        }
        (Controller::Pids, _) => vec![("pids.max", pids, true)],
        (Controller::Cpu, Version::V2) => vec![("cpu.max", format!("{quota} {CPU_PERIOD_MICROS}"), true)],
        (Controller::Cpu, Version::V1) => vec![
            ("cpu.cfs_period_us", CPU_PERIOD_MICROS.to_string(), true),
            ("cpu.cfs_quota_us", quota.to_string(), true),
        ],
    }
}

fn events_file(controller: Controller, version: Version) -> Option<&'static str> {
    match (controller, version) {
        (Controller::Memory, Version::V2) => Some("memory.events"),
        (Controller::Memory, Version::V1) => Some("memory.oom_control"),
        (Controller::Pids, _) => Some("pids.events"),
        (Controller::Cpu, _) => None,
    }
}

/// The cgroup of one box; dropping it removes it.
pub(crate) struct BoxCgroup {
    directories: Vec<PathBuf>,
    /// The directory of version 2, into which the init is cloned.
    v2: Option<OwnedFd>,
    /// The files of version 1 by which the init moves itself.
    v1: Vec<File>,
    pub(crate) events: Events,
}

impl BoxCgroup {
    /// The cgroup of version 2, if there is one.
    pub(crate) fn v2_directory(&self) -> Option<BorrowedFd<'_>> {
        self.v2.as_ref().map(AsFd::as_fd)
    }

    /// Moves an init that was not cloned into its cgroup of version 2.
    pub(crate) fn move_v2(&self, pid: Pid) -> Result<(), StageError> {
        let Some(directory) = &self.v2 else { return Ok(()) };
        let file = openat(directory, "cgroup.procs", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        file.and_then(|file| rustix::io::write(&file, pid.as_raw_nonzero().to_string().as_bytes()))
            .in_stage(Stage::Cgroup, "cgroup.procs")?;
        Ok(())
    }

    /// Moves the calling process into the cgroups of version 1.
    ///
    /// A single thread that moves itself takes no lock; moving another process waits for a grace period of the
    /// kernel, which takes longer than everything else about a box.
    pub(crate) fn join_v1(&self) -> Result<(), StageError> {
        for tasks in &self.v1 {
            rustix::io::write(tasks, b"0").in_stage(Stage::Cgroup, "tasks")?;
        }
        Ok(())
    }

    /// The descriptors that the init of the box needs.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.v1.iter().map(AsRawFd::as_raw_fd).chain(self.events.descriptors())
    }
}

impl Drop for BoxCgroup {
    fn drop(&mut self) {
        for directory in &self.directories {
            // The last process is reaped, but the kernel lets go of its cgroup a little later.
            for _ in 0..100 {
                match fs::remove_dir(directory) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// The counters by which a cgroup says that a limit was hit, open so that they can be read from inside the box.
#[derive(Debug, Default)]
pub(crate) struct Events {
    memory: Option<File>,
    pids: Option<File>,
}

impl Events {
    /// How many processes were killed for want of memory.
    pub(crate) fn out_of_memory_kills(&self) -> u64 {
        read_counter(self.memory.as_ref(), "oom_kill")
    }

    /// The descriptors of the counters.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        [&self.memory, &self.pids].into_iter().flatten().map(AsRawFd::as_raw_fd)
    }

    /// How many times a new process was refused.
    pub(crate) fn refused_forks(&self) -> u64 {
        read_counter(self.pids.as_ref(), "max")
    }
}

fn read_counter(file: Option<&File>, key: &str) -> u64 {
    let mut text = [0; 512];
    let length = file.and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
    parse_counter(&String::from_utf8_lossy(&text[..length]), key)
}

fn parse_counter(text: &str, key: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == key)
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}

/// The process that owns a cgroup, told by a name that no later process can have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: u32,
    started: u64,
}

impl Owner {
    /// Whether that very process still runs.
    pub(crate) fn alive(&self) -> bool {
        start_time(self.pid) == Some(self.started)
    }
}

/// The prefix of the names of all cgroups that the calling process makes.
pub(crate) fn own_prefix() -> String {
    let pid = std::process::id();
    format!("{PREFIX}{pid}-{}", start_time(pid).unwrap_or(0))
}

/// The owner that a name was made for.
pub(crate) fn owner_of(name: &str) -> Option<Owner> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    Some(Owner { pid: parts.next()?.parse().ok()?, started: parts.next()?.parse().ok()? })
}

/// When a process started, in clock ticks since boot; one that has ended and only waits to be reaped has not.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold spaces; the fields after it may not. The start time is the 22nd field.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// The mount point of the version 2 hierarchy, and this process's cgroup in it.
fn v2_directory(mounts: &str, own: &str) -> Option<(PathBuf, PathBuf)> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, point) = cgroup_mount(mounts, "cgroup2", |_| true)?;
    let directory = point.join(Path::new(path).strip_prefix(&root).ok()?);
    Some((point, directory))
}

/// This process's cgroup in the version 1 hierarchy of a controller.
fn v1_directory(mounts: &str, own: &str, controller: Controller) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller.name()).then_some(path)
    })?;
    let (root, point) =
        cgroup_mount(mounts, "cgroup", |options| options.split(',').any(|option| option == controller.name()))?;
    Some(point.join(Path::new(path).strip_prefix(&root).ok()?))
}

/// The root and the mount point of the first cgroup mount of the given type and options.
fn cgroup_mount(mounts: &str, kind: &str, options: impl Fn(&str) -> bool) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (place, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        if source.next()? != kind || !options(source.nth(1)?) {
            return None;
        }
        let mut place = place.split(' ').skip(3);
        Some((PathBuf::from(place.next()?), PathBuf::from(place.next()?)))
    })
}

/// The cgroup, from this process's own upwards, that can hand down the most controllers, and those.
fn v2_parent(root: &Path, own: &Path) -> Option<(PathBuf, Vec<Controller>)> {
    let offered = |path: &Path| {
        let list = path.join("cgroup.controllers");
        Controller::ALL.into_iter().filter(|controller| lists(&list, *controller)).collect::<Vec<_>>()
    };
    let mut candidates = own
        .ancestors()
        .take_while(|path| path.starts_with(root))
        .filter(|path| writable(path))
        .map(|path| (path, offered(path)))
        .filter(|(_, controllers)| !controllers.is_empty())
        .collect::<Vec<_>>();
    // The nearest first where several offer the same.
    candidates.sort_by_key(|(_, controllers)| std::cmp::Reverse(controllers.len()));
    let chosen = candidates.into_iter().find(|(path, controllers)| enable(path, own == *path, controllers))?;
    Some((chosen.0.to_path_buf(), chosen.1))
}

/// Hands controllers down to the children of a cgroup, clearing the cgroup of our own processes where it must be.
fn enable(path: &Path, is_own: bool, controllers: &[Controller]) -> bool {
    let control = path.join("cgroup.subtree_control");
    let missing = controllers.iter().filter(|controller| !lists(&control, **controller));
    let missing = missing.map(|controller| format!("+{}", controller.name())).collect::<Vec<_>>().join(" ");
    if missing.is_empty() {
        return !is_threaded(path);
    }
    // Of a cgroup with processes the kernel would hand down some controllers, for threads alone: no box could enter.
    (is_free(path) || (is_own && move_into_leaf(path))) && fs::write(&control, missing).is_ok()
}

/// Whether a cgroup may have children with all controllers: it is empty, or the root of all.
fn is_free(path: &Path) -> bool {
    !path.join("cgroup.type").exists()
        || (!is_threaded(path) && fs::read_to_string(path.join("cgroup.procs")).is_ok_and(|list| list.is_empty()))
}

fn is_threaded(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.type")).is_ok_and(|kind| kind.trim() != "domain")
}

fn move_into_leaf(path: &Path) -> bool {
    let ours = [std::process::id(), std::os::unix::process::parent_id()];
    let Ok(present) = fs::read_to_string(path.join("cgroup.procs")) else { return false };
    if !present.lines().all(|line| line.parse().is_ok_and(|pid| ours.contains(&pid))) {
        return false;
    }
    let leaf = path.join("kennel");
    let made = fs::create_dir(&leaf).is_ok() || leaf.is_dir();
    made && ours.iter().all(|pid| fs::write(leaf.join("cgroup.procs"), pid.to_string()).is_ok())
}

fn lists(file: &Path, controller: Controller) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|name| name == controller.name()))
}

/// Whether cgroups can be made here and processes moved into them.
fn writable(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(directory, Access::WRITE_OK).is_ok() && access(directory.join("cgroup.procs"), Access::WRITE_OK).is_ok()
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
