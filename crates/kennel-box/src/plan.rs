//! What comes of a spec: a box that is checked and ready to be made.

use crate::engine::{Command, EngineKind};
use crate::error::BoxError;
use crate::locations::{MountTable, Way};
use crate::mounts::{CheckedPath, MountRules};
use kennel_jail::{Grant, Isolation, JailSpec, Limits, Network, ProcessSpec, ScratchPlace, Wall};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A checked spec, ready for an engine. The granted paths stay open, so that they stay what was checked.
#[derive(Debug, Clone)]
pub struct BoxPlan {
    /// What makes the box.
    pub engine: EngineKind,
    /// The paths the box sees beside its base.
    pub grants: Vec<Grant>,
    /// Empty places beside those that every box has.
    pub scratch: Vec<ScratchPlace>,
    /// What the box may use up.
    pub limits: Limits,
    /// What it sees of the network.
    pub network: Network,
    /// The TCP ports of the host's network that it may connect to, if not all.
    pub connect_ports: Option<Vec<u16>>,
    /// What could not be made sure of, in words for the user.
    pub notices: Vec<String>,
    /// Whether its root can be written.
    pub writable_root: bool,
    /// Walls that may be missing.
    pub accept_missing: Vec<Wall>,
    /// Variables for every process.
    pub env: Vec<(OsString, OsString)>,
    /// Where processes start.
    pub cwd: PathBuf,
    /// Where processes start, if nothing in it was granted: an empty directory.
    pub bare_cwd: Option<PathBuf>,
    /// The longest a process may run.
    pub deadline: Option<Duration>,
    /// Keeps every granted path what it was when it was checked.
    pub(crate) handles: Arc<Vec<CheckedPath>>,
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
        if let Some(place) = self.scratch.first().filter(|_| isolation != Isolation::Full) {
            let place = place.path.display();
            return Err(BoxError::field(
                "scratch",
                format!("has `{place}`, but only a box with namespaces has places of its own"),
            ));
        }
        let moved = self.grants.iter().find(|grant| grant.source != grant.target);
        match moved {
            Some(grant) if isolation == Isolation::Fenced => {
                let place = grant.target.display();
                Err(BoxError::field(
                    "mount_path",
                    format!("is `{place}`, but without namespaces a path stays where it is outside"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Whether every granted path still leads to what was checked. What can be written is judged by the rules again, for
    /// something of Kennel's own may have come to lie in it.
    #[must_use]
    pub fn is_current(&self, rules: impl FnOnce() -> MountRules) -> bool {
        if !self.handles.iter().all(CheckedPath::is_current) {
            return false;
        }
        let mut written = self.handles.iter().filter(|handle| handle.is_writable()).peekable();
        written.peek().is_none() || {
            let rules = rules();
            written.all(|handle| handle.is_allowed(&rules))
        }
    }

    /// What boxes of this plan may write, as long as the plan is kept.
    #[must_use]
    pub fn write_grants(&self) -> WriteGrants {
        WriteGrants(Arc::downgrade(&self.handles))
    }

    /// The box in the words of the jail.
    #[must_use]
    pub fn jail_spec(&self) -> JailSpec {
        JailSpec {
            network: self.network,
            connect_ports: self.connect_ports.clone(),
            grants: self.grants.clone(),
            directories: self.bare_cwd.iter().cloned().collect(),
            scratch: self.scratch.clone(),
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

/// What the boxes of a plan may write, known wherever it is moved to.
#[derive(Debug, Clone)]
pub struct WriteGrants(Weak<Vec<CheckedPath>>);

impl WriteGrants {
    /// Whether nobody keeps the plan any more.
    #[must_use]
    pub fn are_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// The path that was granted for writing and by which a box can change what this path leads to, if there is one.
    #[must_use]
    pub fn redirecting(&self, path: &Path) -> Option<PathBuf> {
        let handles = self.0.upgrade()?;
        let (way, mounts) = (Way::follow(path), MountTable::current().ok()?);
        let mut written = handles.iter().filter(|handle| handle.is_writable());
        written.find(|handle| handle.reaches(&way, &mounts)).map(|handle| handle.path().to_owned())
    }
}
