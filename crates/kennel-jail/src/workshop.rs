//! Where the helper makes confined boxes: what all of them share, and the clone itself.

use crate::base::Base;
use crate::cgroup::{BoxCgroup, Controller, Delegation};
use crate::error::{InStage, Stage, StageError};
use crate::init::{self, Init, Inside};
use crate::owner::own_prefix;
use crate::root;
use crate::scratch::Scratch;
use crate::seccomp::{Filter, Surroundings};
use crate::shares::Shares;
use crate::spec::{Isolation, JailSpec, Network};
use crate::standing::{self, Standing};
use crate::sys::{self, Cloned};
use crate::{walls, wire};
use rustix::fd::OwnedFd;
use rustix::process::Pid;

/// What all boxes of a helper share.
pub(crate) struct Workshop {
    site: Site,
    delegation: Delegation,
    /// The beginning of the names of this helper's cgroups and scratch directories.
    prefix: String,
}

/// Where boxes are put.
enum Site {
    /// Into namespaces of their own.
    Namespaces { standing: Standing, base: Base, filter: Filter, shares: Shares },
    /// Onto the host's own root, behind fences only: one filter for each network.
    Host { offline: Filter, online: Filter },
}

/// What a box leaves outside of itself; dropping it removes it.
pub(crate) struct Outside {
    pub(crate) cgroup: BoxCgroup,
    scratch: Option<Scratch>,
}

impl Workshop {
    /// Takes the helper into the namespaces from which boxes are made.
    pub(crate) fn with_namespaces() -> Result<Self, StageError> {
        let prefix = own_prefix();
        let standing = Standing::take()?;
        let base = Base::build()?;
        let delegation = Delegation::find();
        let filter = Filter::compile(Surroundings::Namespaces, &beyond_fall_backs(&delegation))?;
        let shares = Shares::of_this_machine();
        Ok(Self { site: Site::Namespaces { standing, base, filter, shares }, delegation, prefix })
    }

    /// Leaves the helper where it is.
    pub(crate) fn on_host() -> Result<Self, StageError> {
        let delegation = Delegation::find();
        let refused = beyond_fall_backs(&delegation);
        let site = Site::Host {
            offline: Filter::compile(Surroundings::Host(Network::Off), &refused)?,
            online: Filter::compile(Surroundings::Host(Network::On), &refused)?,
        };
        Ok(Self { site, delegation, prefix: own_prefix() })
    }

    /// Removes what helpers that are gone have left behind.
    pub(crate) fn end_leftovers(&self) -> usize {
        self.delegation.remove_leftovers() + Scratch::remove_leftovers()
    }

    /// Clones the init of a box and lets it build the rest.
    pub(crate) fn clone_box(
        &self,
        spec: &JailSpec,
        channel: &OwnedFd,
        number: u64,
    ) -> Result<(Pid, Outside), StageError> {
        let name = format!("{}-{number}", self.prefix);
        let mut scratch = None;
        let (isolation, namespaces, inside, filter) = match &self.site {
            Site::Namespaces { standing, base, filter, shares } => {
                let base = base.nodes(spec.network)?;
                let grants = root::open_grants(spec)?;
                let inside = Inside::Root { base, grants, shares: *shares, becomes_user: standing.is_root() };
                (Isolation::Full, namespaces(spec.network), inside, filter)
            }
            Site::Host { offline, online } => {
                let made = Scratch::create(&name)?;
                let becomes_user = standing::can_change_user();
                let inside = Inside::Host { scratch: made.path().to_path_buf(), becomes_user };
                scratch = Some(made);
                let filter = if spec.network == Network::Off { offline } else { online };
                (Isolation::Fenced, 0, inside, filter)
            }
        };
        let walls = walls::choose(spec, isolation, &self.delegation)?;
        let outside = Outside { cgroup: self.delegation.create(&name, &spec.limits)?, scratch };
        let cgroup = &outside.cgroup;
        let (go, wait) = wire::pair().in_stage(Stage::Clone, "")?;
        let mut in_place = cgroup.v2_directory();
        let mut cloned = sys::clone_process(namespaces, in_place);
        if cloned.is_err() && in_place.take().is_some() {
            // A container may hide clone3; then the init is moved into its cgroup, which takes longer.
            cloned = sys::clone_process(namespaces, None);
        }
        let moves = in_place.is_none();
        match cloned.in_stage(Stage::Clone, "")? {
            Cloned::Child => {
                drop(go);
                init::run_confined(channel, Init { wait, inside, walls, filter, spec, cgroup })
            }
            Cloned::Parent(pid) => {
                let prepare = || {
                    if moves {
                        cgroup.move_v2(pid)?;
                    }
                    self.settle_users(pid, &inside, outside.scratch.as_ref())?;
                    wire::send(&go, &init::Word::Go, &[]).in_stage(Stage::Clone, "")
                };
                // Without the word the init ends by itself, and it must be gone before its cgroup can be.
                match prepare() {
                    Ok(()) => Ok((pid, outside)),
                    Err(error) => {
                        drop(go);
                        sys::reap(pid);
                        Err(error)
                    }
                }
            }
        }
    }
}

impl Workshop {
    /// Decides who the box is outside, and what belongs to it there, now that its init has a number.
    fn settle_users(&self, init: Pid, inside: &Inside, scratch: Option<&Scratch>) -> Result<(), StageError> {
        match (&self.site, inside, scratch) {
            (Site::Namespaces { standing, .. }, Inside::Root { grants, .. }, _) => {
                standing.map_ids(init)?;
                root::map_owners(grants, standing, init)
            }
            (_, Inside::Host { becomes_user: true, .. }, Some(scratch)) => scratch.give_to(standing::outer_id(init)),
            _ => Ok(()),
        }
    }
}

/// The calls by which a box would get around limits that no cgroup holds: unpinning itself from its processors, and
/// memory that belongs to no process.
fn beyond_fall_backs(delegation: &Delegation) -> Vec<i64> {
    let calls: [(Controller, &[i64]); 2] = [
        (Controller::Cpu, &[libc::SYS_sched_setaffinity]),
        (Controller::Memory, &[libc::SYS_memfd_create, libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget]),
    ];
    let unheld = calls.into_iter().filter(|(controller, _)| delegation.hold(*controller).is_none());
    unheld.flat_map(|(_, calls)| calls.iter().copied()).collect()
}

fn namespaces(network: Network) -> libc::c_int {
    let always = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    match network {
        Network::Off => always | libc::CLONE_NEWNET,
        Network::On => always,
    }
}
