//! The box's cgroup, of version 2 where the controllers are delegated, of version 1 where the host has that.

use crate::error::{InStage, Stage, StageError};
use crate::hierarchy;
use crate::owner::owner_of;
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
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    /// The name that the kernel knows it by.
    pub(crate) fn name(self) -> &'static str {
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
        Self { places: hierarchy::find() }
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

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
