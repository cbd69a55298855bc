//! The first process of a box: it builds the walls around itself, then serves what runs inside.
//!
//! It lives as long as its channel to Kennel. When Kennel closes the channel, or dies, the init ends, and the kernel
//! ends every other process of the box with it.

use crate::cgroup::BoxCgroup;
use crate::error::{InStage, Stage, StageError};
use crate::fence::Fence;
use crate::root::{self, Node};
use crate::seccomp::Filter;
use crate::server::{Ready, serve};
use crate::shares::Shares;
use crate::spec::{Hold, INNER_ID, Isolation, JailSpec, Network, PortWall, Walls};
use crate::standing::outer_id;
use crate::{sys, walls, wire};
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{Gid, Uid, UnshareFlags};
use std::path::PathBuf;

/// The helper's word that the init is mapped and limited, and may go on.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) enum Word {
    Go,
}

/// What a freshly cloned init has to build.
pub(crate) struct Init<'a> {
    pub(crate) wait: OwnedFd,
    pub(crate) inside: Inside,
    pub(crate) walls: Walls,
    pub(crate) filter: &'a Filter,
    pub(crate) spec: &'a JailSpec,
    pub(crate) cgroup: &'a BoxCgroup,
}

/// What the box is to be inside.
pub(crate) enum Inside {
    /// A root of its own, made of what all boxes share and what this one was granted.
    Root { base: Vec<Node>, grants: Vec<Node>, shares: Shares, becomes_user: bool },
    /// The host's root, with a directory for home and scratch, as another user where that can be had.
    Host { scratch: PathBuf, becomes_user: bool },
}

impl Inside {
    fn descriptors(&self) -> Vec<RawFd> {
        match self {
            Self::Root { base, grants, .. } => base.iter().chain(grants).filter_map(Node::descriptor).collect(),
            Self::Host { .. } => Vec::new(),
        }
    }
}

/// Builds the box around the calling process and serves it until Kennel lets go.
pub(crate) fn run_confined(channel: &OwnedFd, init: Init<'_>) -> ! {
    let limited = Some((&init.cgroup.events, init.spec.limits));
    let ready = build(channel, init);
    serve(channel, ready, limited)
}

/// Serves processes without any wall around them, but still ends them all when Kennel lets go.
pub(crate) fn run_unconfined(channel: &OwnedFd) -> ! {
    let ready = settle(&[channel.as_raw_fd()]).and_then(|signals| {
        reap_descendants()?;
        let (memory, pids, cpu) = (Hold::Nothing, Hold::Nothing, Hold::Nothing);
        // What it inherits, it keeps.
        let open_files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let ports = PortWall::NotAsked;
        let walls = Walls { isolation: Isolation::None, memory, pids, cpu, landlock: None, open_files, ports };
        Ok(Ready { signals, walls, fence: None, scratch: None })
    });
    serve(channel, ready, None)
}

/// Lets go of all that the helper had open, and of its signals.
fn settle(keep: &[RawFd]) -> Result<OwnedFd, StageError> {
    let settled = rustix::thread::set_name(c"kennel-init")
        .and_then(|()| sys::close_others(keep))
        // Standard input was the helper's own channel.
        .and_then(|()| rustix::stdio::dup2_stdin(rustix::stdio::stdout()))
        .and_then(|()| sys::child_signals());
    settled.in_stage(Stage::Clone, "")
}

/// Makes the calling process the parent of all its orphaned descendants, as it has no PID namespace to do that.
fn reap_descendants() -> Result<(), StageError> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).in_stage(Stage::Clone, "")
}

/// The order matters: first who we are, then what we see, then what we may use, last what we may ask of the kernel.
fn build(channel: &OwnedFd, init: Init<'_>) -> Result<Ready, StageError> {
    let mut keep = vec![channel.as_raw_fd(), init.wait.as_raw_fd()];
    keep.extend(init.inside.descriptors());
    keep.extend(init.cgroup.descriptors());
    let signals = settle(&keep)?;
    if !matches!(wire::receive(&init.wait), Ok(Some((Word::Go, _)))) {
        // The helper has told Kennel why.
        sys::exit_now(1);
    }
    drop(init.wait);
    init.cgroup.join_v1()?;
    let (fence, scratch) = match init.inside {
        Inside::Root { base, grants, shares, becomes_user } => {
            if becomes_user {
                become_user(INNER_ID).in_stage(Stage::Identity, "")?;
            }
            enter_namespaces(init.spec.network)?;
            root::enter(base, grants, init.spec)?;
            // The last namespace is made, and the capabilities are still there.
            shares.hold()?;
            (init.walls.landlock.map(|_| Fence::around_root(init.spec)), None)
        }
        Inside::Host { scratch, becomes_user } => {
            reap_descendants()?;
            if becomes_user {
                become_user(outer_id(rustix::process::getpid())).in_stage(Stage::Identity, "")?;
            }
            (Some(Fence::on_host(init.spec, &scratch)), Some(scratch))
        }
    };
    match sys::leave_session_keyring() {
        // Not in this kernel, or refused by the container around us, which then refuses it to the box as well.
        Err(Errno::NOSYS | Errno::PERM) => {}
        other => other.in_stage(Stage::Privileges, "session keyring")?,
    }
    walls::apply_rlimits(&init.walls, &init.spec.limits)?;
    drop_privileges().in_stage(Stage::Privileges, "")?;
    init.filter.install()?;
    Ok(Ready { signals, walls: init.walls, fence, scratch })
}

/// Makes the namespaces that the clone has given the box its own.
fn enter_namespaces(network: Network) -> Result<(), StageError> {
    sys::unshare(UnshareFlags::NEWCGROUP).in_stage(Stage::Cgroup, "namespace")?;
    rustix::system::sethostname(b"kennel").in_stage(Stage::Identity, "hostname")?;
    match network {
        Network::Off => sys::loopback_up().in_stage(Stage::Network, ""),
        Network::On => Ok(()),
    }
}

fn become_user(id: u32) -> Result<(), Errno> {
    let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_keep_capabilities(true)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)
}

fn drop_privileges() -> Result<(), Errno> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
    };
    match sys::drop_bounding_set() {
        // An ordinary user outside of a namespace of its own may not, and has nothing to regain.
        Err(Errno::PERM) if capabilities(None)?.permitted.is_empty() => {}
        other => other?,
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    // Nobody in the box may look into the init or a process that is still the init's image: they hold Kennel's channel.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    set_no_new_privs(true)
}
