//! What a box may touch and use, as users and platforms write it, and the plan that comes of it.

use crate::engine::{Command, EngineKind};
use crate::environment::{self, HostView};
use crate::error::BoxError;
use crate::mounts::{CheckedPath, MountRules};
use crate::profile::Profile;
use crate::size::Size;
use crate::toolchain;
use kennel_jail::{Access, Grant, INNER_HOME, Isolation, JailSpec, Limits, Network, ProcessSpec, Wall};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
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
const MOST_CPUS: f64 = 1024.0;
/// The most of a limit that any kernel takes.
const MOST_PIDS: u32 = 4_194_304;

/// A checked spec, ready for an engine. The granted paths stay open, so that they stay what was checked.
#[derive(Debug, Clone)]
pub struct BoxPlan {
    /// What makes the box.
    pub engine: EngineKind,
    /// The paths the box sees beside its base.
    pub grants: Vec<Grant>,
    /// What the box may use up.
    pub limits: Limits,
    /// What it sees of the network.
    pub network: Network,
    /// Whether its root can be written.
    pub writable_root: bool,
    /// Walls that may be missing.
    pub accept_missing: Vec<Wall>,
    /// Variables for every process.
    pub env: Vec<(OsString, OsString)>,
    /// Where processes start.
    pub cwd: PathBuf,
    /// The longest a process may run.
    pub deadline: Option<Duration>,
    _handles: Arc<Vec<CheckedPath>>,
}

impl BoxSpec {
    /// Checks every field against the rules and this machine.
    ///
    /// `programs` are the commands that will run in the box: an interpreter that one of them is a link to is shown
    /// read-only, as those found on `PATH` are.
    pub fn plan(&self, host: &HostView, rules: &MountRules, programs: &[&Path]) -> Result<BoxPlan, BoxError> {
        self.profile.check_locks(self)?;
        if self.image.is_some() {
            return Err(field("image", "is only for container engines; remove it"));
        }
        let values = self.profile.values();
        let limits = self.limits()?;
        let mut handles = Vec::new();
        let mut grants = Vec::new();
        let toolchains = toolchain::find(host, programs);
        for root in &toolchains.roots {
            // A toolchain that may not be shown is as good as not installed.
            if let Ok(checked) = rules.check(root, Access::ReadOnly) {
                add_grant(&mut grants, checked.grant(root.clone(), Access::ReadOnly, false))?;
                handles.push(checked);
            }
        }
        for mount in self.all_mounts(values.mode) {
            let access = mount.mode.into();
            let checked = rules.check(&mount.host_path, access)?;
            let target = match mount.mount_path {
                Some(path) => path,
                None => checked.path().to_path_buf(),
            };
            check_target(&target)?;
            check_not_in_system(&target, checked.path())?;
            add_grant(&mut grants, checked.grant(target, access, true))?;
            handles.push(checked);
        }
        Ok(BoxPlan {
            engine: self.engine,
            env: environment::build(self.engine, host, &toolchains, &self.env)?,
            cwd: self.working_directory(host, &grants)?,
            grants,
            limits,
            network: self.network.unwrap_or(values.network),
            writable_root: !self.read_only_rootfs.unwrap_or(values.read_only_rootfs),
            accept_missing: self.accept_missing.clone(),
            deadline: self.deadline(values.longest)?,
            _handles: Arc::new(handles),
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

    fn limits(&self) -> Result<Limits, BoxError> {
        let values = self.profile.values();
        let memory = self.memory.unwrap_or(values.memory);
        if memory < LEAST_MEMORY {
            return Err(field("memory", format!("is {memory}, but a box needs at least {LEAST_MEMORY}")));
        }
        let milli_cpus = match self.cpus {
            None => values.milli_cpus,
            // Bounded above and below, so the cast cannot lose anything that counts.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(cpus) if (0.01..=MOST_CPUS).contains(&cpus) => (cpus * 1000.0).round() as u32,
            Some(cpus) => return Err(field("cpus", format!("is {cpus}, but must be between 0.01 and {MOST_CPUS}"))),
        };
        let pids = self.pids.unwrap_or(values.pids);
        if !(1..=MOST_PIDS).contains(&pids) {
            return Err(field("pids", format!("is {pids}, but must be between 1 and {MOST_PIDS}")));
        }
        let open_files = self.fds.unwrap_or(DEFAULT_OPEN_FILES);
        if open_files < 16 {
            return Err(field("fds", format!("is {open_files}, but a program needs at least 16")));
        }
        let scratch = self.tmp_size.unwrap_or(DEFAULT_SCRATCH);
        if scratch.bytes() < 4096 {
            return Err(field("tmp_size", format!("is {scratch}, but must be at least 4K")));
        }
        Ok(Limits { memory: memory.bytes(), pids, milli_cpus, open_files, scratch: scratch.bytes() })
    }

    fn deadline(&self, longest: Duration) -> Result<Option<Duration>, BoxError> {
        let Some(seconds) = self.timeout else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(timeout) if timeout > Duration::ZERO => Ok(Some(timeout.min(longest))),
            _ => Err(field("timeout", format!("is {seconds}, but must be more than 0 seconds"))),
        }
    }

    fn working_directory(&self, host: &HostView, grants: &[Grant]) -> Result<PathBuf, BoxError> {
        if self.engine == EngineKind::Host {
            return Ok(self.workdir.clone().unwrap_or_else(|| host.cwd.clone()));
        }
        let visible = |path: &Path| {
            grants.iter().any(|grant| path.starts_with(&grant.target))
                || ["/tmp", INNER_HOME, "/usr"].iter().any(|own| path.starts_with(own))
        };
        match &self.workdir {
            Some(path) if !is_plain(path) => {
                Err(field("workdir", format!("is `{}`, but must be absolute and without `..`", path.display())))
            }
            Some(path) if path == Path::new("/") || visible(path) => Ok(path.clone()),
            Some(path) => Err(field(
                "workdir",
                format!("is `{}`, which is not in the box; grant it with --read or --write", path.display()),
            )),
            None if self.host_path.is_some() => {
                Ok(self.mount_path.clone().unwrap_or_else(|| DEFAULT_MOUNT_PATH.into()))
            }
            None if is_same_place(&host.cwd, grants) => Ok(host.cwd.clone()),
            None => Ok(INNER_HOME.into()),
        }
    }
}

impl BoxPlan {
    /// The ways to make this box, the best first; the next one is for a machine that cannot do the one before.
    #[must_use]
    pub fn isolations(&self) -> &'static [Isolation] {
        match self.engine {
            EngineKind::Host => &[Isolation::None],
            EngineKind::Native if self.accept_missing.contains(&Wall::Namespaces) => {
                &[Isolation::Full, Isolation::Fenced]
            }
            EngineKind::Native => &[Isolation::Full],
        }
    }

    /// Refuses a way to make the box in which it would not be what the plan says.
    pub fn check_isolation(&self, isolation: Isolation) -> Result<(), BoxError> {
        let moved = self.grants.iter().find(|grant| grant.source != grant.target);
        match moved {
            Some(grant) if isolation == Isolation::Fenced => {
                let place = grant.target.display();
                Err(field(
                    "mount_path",
                    format!("is `{place}`, but without namespaces a path stays where it is outside"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// The box in the words of the jail.
    #[must_use]
    pub fn jail_spec(&self) -> JailSpec {
        JailSpec {
            network: self.network,
            grants: self.grants.clone(),
            limits: self.limits,
            writable_root: self.writable_root,
            accept_missing: self.accept_missing.clone(),
        }
    }

    /// A command in the words of the jail, with what the plan gives to every process.
    #[must_use]
    pub fn process_spec(&self, command: &Command) -> ProcessSpec {
        let mut env = self.env.clone();
        env.retain(|(name, _)| !command.env.iter().any(|(other, _)| name == other));
        env.extend(command.env.iter().cloned());
        let deadline = [command.deadline, self.deadline].into_iter().flatten().min();
        ProcessSpec {
            argv: [&command.program].into_iter().chain(&command.args).cloned().collect(),
            env,
            cwd: command.cwd.clone().unwrap_or_else(|| self.cwd.clone()),
            deadline_ms: deadline.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            terminal: None,
        }
    }
}

fn field(field: &'static str, problem: impl Into<String>) -> BoxError {
    BoxError::Field { field, problem: problem.into() }
}

/// Whether a path of the host is in the box what it is outside.
fn is_same_place(path: &Path, grants: &[Grant]) -> bool {
    let over = grants.iter().filter(|grant| path.starts_with(&grant.target));
    match over.max_by_key(|grant| grant.target.components().count()) {
        Some(grant) => grant.source == grant.target,
        None => path.starts_with("/usr"),
    }
}

/// Adds a grant; the same path granted twice gets the wider access, two paths at one place are an error.
fn add_grant(grants: &mut Vec<Grant>, grant: Grant) -> Result<(), BoxError> {
    let Some(present) = grants.iter_mut().find(|present| present.target == grant.target) else {
        grants.push(grant);
        return Ok(());
    };
    if present.identity != grant.identity {
        return Err(BoxError::Mount {
            problem: format!("`{}` is already at `{}` in the box", present.source.display(), grant.target.display()),
            path: grant.source,
        });
    }
    if grant.access == Access::ReadWrite {
        present.access = Access::ReadWrite;
    }
    present.as_owner |= grant.as_owner;
    Ok(())
}

/// Places in a box that belong to the box.
const OWN_PLACES: [&str; 6] = ["/", "/proc", "/dev", "/etc", "/sys", "/home"];

fn check_target(target: &Path) -> Result<(), BoxError> {
    let taken = OWN_PLACES.iter().any(|own| target == Path::new(own))
        || ["/proc", "/dev", "/etc", "/sys"].iter().any(|own| target.starts_with(own));
    if !is_plain(target) || taken {
        let problem = format!(
            "is `{}`, but must be absolute, without `..`, and outside of /proc, /dev, /etc and /sys",
            target.display()
        );
        return Err(field("mount_path", problem));
    }
    Ok(())
}

/// Nothing can be put into the base system, which is the host's; what it holds can be shown again at its own place.
fn check_not_in_system(target: &Path, source: &Path) -> Result<(), BoxError> {
    if target != source && crate::mounts::SYSTEM.iter().any(|system| target.starts_with(system)) {
        let problem =
            format!("is `{}`, but nothing can be added to the base system; choose another place", target.display());
        return Err(field("mount_path", problem));
    }
    Ok(())
}

/// Whether a path is absolute and says where it leads without detours.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
