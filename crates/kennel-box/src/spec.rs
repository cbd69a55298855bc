//! What a box may touch and use, as users and platforms write it.

use crate::engine::EngineKind;
use crate::environment::{self, HostView};
use crate::error::BoxError;
use crate::mounts::MountRules;
use crate::places::{
    LEAST_SCRATCH, add_grant, check_not_in_system, check_scratch, check_target, is_plain, is_same_place,
};
use crate::plan::BoxPlan;
use crate::planted::Written;
use crate::profile::Profile;
use crate::set_id;
use crate::size::Size;
use crate::toolchain;
use kennel_jail::{Access, Grant, INNER_HOME, Limits, Network, SYSTEM, ScratchPlace, Wall};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The spec of a box. What is left out comes from the profile; a field that is not known is an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoxSpec {
    /// What makes the box.
    pub engine: EngineKind,
    /// Where the defaults come from.
    pub profile: Profile,
    /// The image to run; only container engines have images.
    pub image: Option<String>,
    /// What the box sees of the network.
    pub network: Option<Network>,
    /// The TCP ports that the box may connect to with the network on, and then it may listen on none; all where nothing
    /// is said. A kernel before Linux 6.7 cannot hold a box to that, which the walls of the box say.
    pub connect_ports: Option<Vec<u16>>,
    /// The project of the process, mounted at `mount_path`.
    pub host_path: Option<PathBuf>,
    /// Whether the project can be changed.
    pub mode: Option<AccessMode>,
    /// Where the project is in the box; `/workspace` where nothing is said.
    pub mount_path: Option<PathBuf>,
    /// Further paths.
    pub mounts: Vec<MountSpec>,
    /// Where processes start: absolute, and in the box.
    pub workdir: Option<PathBuf>,
    /// Variables for every process of the box.
    pub env: BTreeMap<String, String>,
    /// Processors the box may use.
    pub cpus: Option<f64>,
    /// Memory the box may use.
    pub memory: Option<Size>,
    /// Processes and threads the box may have.
    pub pids: Option<u32>,
    /// Descriptors a process may have open.
    pub fds: Option<u64>,
    /// What `/tmp`, `/var/tmp` and the home directory may hold, each.
    pub tmp_size: Option<Size>,
    /// Empty directories of the box's own, beside those that every box has.
    pub scratch: Vec<ScratchSpec>,
    /// Whether the root of the box is sealed.
    pub read_only_rootfs: Option<bool>,
    /// Seconds after which a process is ended; the profile's maximum at most.
    pub timeout: Option<f64>,
    /// Walls that may be missing on this machine.
    pub accept_missing: Vec<Wall>,
}

/// A path of the host in the box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MountSpec {
    /// The path outside.
    pub host_path: PathBuf,
    /// The path inside; the same as outside where nothing is said.
    #[serde(default)]
    pub mount_path: Option<PathBuf>,
    /// Whether it can be changed.
    #[serde(default)]
    pub mode: AccessMode,
}

/// An empty, writable directory that is gone with the box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScratchSpec {
    /// The path inside.
    pub path: PathBuf,
    /// What it may hold.
    pub size: Size,
}

/// Whether a mount can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum AccessMode {
    /// No.
    #[default]
    #[serde(rename = "ro")]
    ReadOnly,
    /// Yes.
    #[serde(rename = "rw")]
    ReadWrite,
}

impl From<AccessMode> for Access {
    fn from(mode: AccessMode) -> Self {
        match mode {
            AccessMode::ReadOnly => Self::ReadOnly,
            AccessMode::ReadWrite => Self::ReadWrite,
        }
    }
}

const DEFAULT_MOUNT_PATH: &str = "/workspace";
const DEFAULT_OPEN_FILES: u64 = 1024;
const DEFAULT_SCRATCH: Size = Size::mebibytes(64);
const LEAST_MEMORY: Size = Size::mebibytes(32);
/// The most places of its own that a box has beside those that every box has.
const MOST_SCRATCH_PLACES: usize = 16;
/// The most TCP ports that are named one by one.
const MOST_PORTS: usize = 64;
const MOST_CPUS: f64 = 1024.0;
/// The most of a limit that any kernel takes.
const MOST_PIDS: u32 = 4_194_304;

impl BoxSpec {
    /// Checks every field against the rules and this machine.
    ///
    /// `programs` are the commands that will run in the box: an interpreter that one of them is a link to is shown
    /// read-only, as those found on `PATH` are.
    pub fn plan(&self, host: &HostView, rules: &MountRules, programs: &[&Path]) -> Result<BoxPlan, BoxError> {
        self.profile.check_locks(self)?;
        if self.image.is_some() {
            return Err(BoxError::field("image", "is only for container engines; remove it"));
        }
        let values = self.profile.values();
        let limits = self.limits()?;
        let mut handles = Vec::new();
        let mut grants = Vec::new();
        let mut notices = Vec::new();
        let written = if self.engine == EngineKind::Host { Written::default() } else { Written::by(self) };
        let toolchains = toolchain::find(host, programs, &written);
        for root in &toolchains.roots {
            // A toolchain that may not be shown is as good as not installed.
            if let Ok(checked) = rules.check(root, Access::ReadOnly) {
                add_grant(&mut grants, checked.grant(root.clone(), Access::ReadOnly, false))?;
                handles.push(checked);
            }
        }
        for mount in self.all_mounts(values.mode) {
            written.check(&mount.host_path)?;
            let access = mount.mode.into();
            let checked = rules.check(&mount.host_path, access)?;
            let target = match mount.mount_path {
                Some(path) => path,
                None => checked.path().to_path_buf(),
            };
            check_target(&target)?;
            if access == Access::ReadWrite && self.engine != EngineKind::Host {
                notices.extend(set_id::check(checked.path())?);
            }
            check_not_in_system(&target, checked.path())?;
            add_grant(&mut grants, checked.grant(target, access, true))?;
            handles.push(checked);
        }
        let cwd = self.working_directory(host, &grants)?;
        Written::note(self);
        Ok(BoxPlan {
            engine: self.engine,
            env: environment::build(self.engine, host, &toolchains, &self.env)?,
            bare_cwd: self.bare_directory(&cwd, &grants),
            cwd,
            scratch: self.scratch_places(&grants)?,
            grants,
            limits,
            network: self.network.unwrap_or(values.network),
            connect_ports: self.connect_ports()?,
            notices,
            writable_root: !self.read_only_rootfs.unwrap_or(values.read_only_rootfs),
            accept_missing: self.accept_missing.clone(),
            deadline: self.deadline(values.longest)?,
            handles: Arc::new(handles),
        })
    }

    fn all_mounts(&self, mode: AccessMode) -> Vec<MountSpec> {
        let project = self.host_path.iter().map(|host_path| MountSpec {
            host_path: host_path.clone(),
            mount_path: Some(self.mount_path.clone().unwrap_or_else(|| DEFAULT_MOUNT_PATH.into())),
            mode: self.mode.unwrap_or(mode),
        });
        project.chain(self.mounts.iter().cloned()).collect()
    }

    fn connect_ports(&self) -> Result<Option<Vec<u16>>, BoxError> {
        let Some(ports) = &self.connect_ports else { return Ok(None) };
        if ports.len() > MOST_PORTS || ports.contains(&0) {
            let problem = format!("has {} ports, but must have {MOST_PORTS} at most, and none that is 0", ports.len());
            return Err(BoxError::field("connect_ports", problem));
        }
        Ok(Some(ports.clone()))
    }

    fn scratch_places(&self, grants: &[Grant]) -> Result<Vec<ScratchPlace>, BoxError> {
        if self.scratch.len() > MOST_SCRATCH_PLACES {
            let problem = format!("has {} places, but a box has {MOST_SCRATCH_PLACES} at most", self.scratch.len());
            return Err(BoxError::field("scratch", problem));
        }
        let mut places: Vec<ScratchPlace> = Vec::new();
        for ScratchSpec { path, size } in &self.scratch {
            check_scratch(path, *size, grants)?;
            if places.iter().any(|place| place.path == *path) {
                return Err(BoxError::field("scratch", format!("has `{}` twice", path.display())));
            }
            places.push(ScratchPlace { path: path.clone(), size: size.bytes() });
        }
        Ok(places)
    }

    fn limits(&self) -> Result<Limits, BoxError> {
        let values = self.profile.values();
        let memory = self.memory.unwrap_or(values.memory);
        if memory < LEAST_MEMORY {
            return Err(BoxError::field("memory", format!("is {memory}, but a box needs at least {LEAST_MEMORY}")));
        }
        let milli_cpus = match self.cpus {
            None => values.milli_cpus,
            // Bounded above and below, so the cast cannot lose anything that counts.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(cpus) if (0.01..=MOST_CPUS).contains(&cpus) => (cpus * 1000.0).round() as u32,
            Some(cpus) => {
                return Err(BoxError::field("cpus", format!("is {cpus}, but must be between 0.01 and {MOST_CPUS}")));
            }
        };
        let pids = self.pids.unwrap_or(values.pids);
        if !(1..=MOST_PIDS).contains(&pids) {
            return Err(BoxError::field("pids", format!("is {pids}, but must be between 1 and {MOST_PIDS}")));
        }
        let open_files = self.fds.unwrap_or(DEFAULT_OPEN_FILES);
        if open_files < 16 {
            return Err(BoxError::field("fds", format!("is {open_files}, but a program needs at least 16")));
        }
        let scratch = self.tmp_size.unwrap_or(DEFAULT_SCRATCH);
        if scratch < LEAST_SCRATCH {
            return Err(BoxError::field("tmp_size", format!("is {scratch}, but must be at least {LEAST_SCRATCH}")));
        }
        Ok(Limits { memory: memory.bytes(), pids, milli_cpus, open_files, scratch: scratch.bytes() })
    }

    fn deadline(&self, longest: Duration) -> Result<Option<Duration>, BoxError> {
        let Some(seconds) = self.timeout else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(timeout) if timeout > Duration::ZERO => Ok(Some(timeout.min(longest))),
            _ => Err(BoxError::field("timeout", format!("is {seconds}, but must be more than 0 seconds"))),
        }
    }

    /// The directory to make where processes start, if no grant has it: at the same path, with nothing in it but what was
    /// granted.
    fn bare_directory(&self, cwd: &Path, grants: &[Grant]) -> Option<PathBuf> {
        let is_the_boxs = ["/", "/tmp", "/var/tmp", INNER_HOME].iter().any(|own| cwd == Path::new(own))
            || ["/proc", "/dev", "/etc", "/sys"].into_iter().chain(SYSTEM).any(|own| cwd.starts_with(own))
            || self.scratch.iter().any(|scratch| cwd.starts_with(&scratch.path));
        let is_granted = grants.iter().any(|grant| cwd.starts_with(&grant.target));
        // What is not there outside either is a mistake, which shows when the program is to start there.
        let is_bare = self.engine == EngineKind::Native && !is_the_boxs && !is_granted && cwd.is_dir();
        is_bare.then(|| cwd.to_owned())
    }

    /// Whether a path may be in the box though it is not outside.
    fn has(&self, path: &Path, grants: &[Grant]) -> bool {
        path == Path::new("/")
            || grants.iter().any(|grant| path.starts_with(&grant.target))
            || self.scratch.iter().any(|scratch| path.starts_with(&scratch.path))
            || ["/tmp", INNER_HOME, "/usr"].iter().any(|own| path.starts_with(own))
    }

    fn working_directory(&self, host: &HostView, grants: &[Grant]) -> Result<PathBuf, BoxError> {
        if self.engine == EngineKind::Host {
            return Ok(self.workdir.clone().unwrap_or_else(|| host.cwd.clone()));
        }
        match &self.workdir {
            Some(path) if !is_plain(path) => Err(BoxError::field(
                "workdir",
                format!("is `{}`, but must be absolute and without `..`", path.display()),
            )),
            Some(path) if path.is_dir() || self.has(path, grants) => Ok(path.clone()),
            Some(path) => Err(BoxError::field(
                "workdir",
                format!(
                    "is `{}`, which is neither outside nor in the box; grant it with --read or --write",
                    path.display()
                ),
            )),
            None if self.host_path.is_some() => {
                Ok(self.mount_path.clone().unwrap_or_else(|| DEFAULT_MOUNT_PATH.into()))
            }
            None if is_same_place(&host.cwd, grants) => Ok(host.cwd.clone()),
            None => Ok(INNER_HOME.into()),
        }
    }
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
