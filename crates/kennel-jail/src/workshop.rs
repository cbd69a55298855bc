//! Where the helper makes confined boxes: what all of them share, and the clone itself.

use crate::base::Base;
use crate::cgroup::{self, BoxCgroup, Delegation};
use crate::error::{InStage, Stage, StageError};
use crate::init::{self, Init};
use crate::seccomp::Filter;
use crate::spec::{JailSpec, Network};
use crate::standing::Standing;
use crate::sys::{self, Cloned};
use crate::{root, walls, wire};
use rustix::fd::OwnedFd;
use rustix::process::Pid;

/// What all boxes of a helper share.
pub(crate) struct Workshop {
    standing: Standing,
    delegation: Delegation,
    base: Base,
    filter: Filter,
    /// The beginning of the names of this helper's cgroups.
    prefix: String,
}

impl Workshop {
    /// Takes the helper into the namespaces from which boxes are made, and finds what can limit them.
    pub(crate) fn open() -> Result<Self, StageError> {
        let prefix = cgroup::own_prefix();
        let standing = Standing::take()?;
        let base = Base::build()?;
        let delegation = Delegation::find();
        let filter = Filter::compile(delegation.hold(cgroup::Controller::Cpu).is_none())?;
        Ok(Self { standing, delegation, base, filter, prefix })
    }

    /// Removes what helpers that are gone have left behind.
    pub(crate) fn end_leftovers(&self) -> usize {
        self.delegation.remove_leftovers()
    }

    /// Clones the init of a box and lets it build the rest.
    pub(crate) fn clone_box(
        &self,
        spec: &JailSpec,
        channel: &OwnedFd,
        number: u64,
        slot: u8,
    ) -> Result<(Pid, BoxCgroup), StageError> {
        let walls = walls::choose(spec, &self.delegation)?;
        let base = self.base.nodes(spec.network)?;
        let grants = root::open_grants(spec, &mut |uid, gid| self.standing.owner_namespace(uid, gid, slot))?;
        let cgroup = self.delegation.create(&format!("{}-{number}", self.prefix), &spec.limits)?;
        let (go, wait) = wire::pair().in_stage(Stage::Clone, "")?;
        let mut namespaces =
            libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
        if spec.network == Network::Off {
            namespaces |= libc::CLONE_NEWNET;
        }
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
                let becomes_user = self.standing.is_root();
                let filter = &self.filter;
                init::run_confined(
                    channel,
                    Init { wait, base, grants, walls, filter, spec, cgroup: &cgroup, becomes_user },
                )
            }
            Cloned::Parent(pid) => {
                let prepare = || {
                    self.standing.map_ids(pid, slot)?;
                    if moves { cgroup.move_v2(pid) } else { Ok(()) }
                };
                // Without the word the init ends by itself, and it must be gone before its cgroup can be.
                match prepare().and_then(|()| wire::send(&go, &init::Word::Go, &[]).in_stage(Stage::Clone, "")) {
                    Ok(()) => Ok((pid, cgroup)),
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
