//! As whom the helper makes boxes: as root, or as an ordinary user by way of a user namespace.

use crate::error::{InStage, Stage, StageError};
use crate::spec::INNER_ID;
use crate::sys::{self, Cloned};
use crate::wire;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Pid, getegid, geteuid, getpid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use std::fs;

/// Boxes made by root belong outside to users from here on: above all that systems give to people and containers.
const FIRST_OUTER_ID: u32 = 0x7000_0000;
/// Process ids have 22 bits at most.
const LAST_OUTER_ID: u32 = FIRST_OUTER_ID + (1 << 22);

/// What the helper may do, settled once.
pub(crate) enum Standing {
    /// Root over the machine or over a container: boxes get a user of their own outside.
    Root,
    /// Anyone else: boxes belong outside to the same user, whom a namespace lets make mounts.
    User { uid: u32, gid: u32 },
}

impl Standing {
    /// Moves the calling process into the namespaces in which it can prepare boxes.
    pub(crate) fn take() -> Result<Self, StageError> {
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        let standing = if uid == 0 && may_administer() && maps_outer_ids() {
            sys::unshare(UnshareFlags::NEWNS).in_stage(Stage::MountNamespace, "")?;
            Self::Root
        } else {
            sys::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).in_stage(Stage::UserNamespace, "")?;
            write_maps(getpid(), (uid, uid), (gid, gid), Groups::Kept)?;
            Self::User { uid, gid }
        };
        // New mounts of the host still arrive here, and nothing done here goes back.
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
            .in_stage(Stage::MountNamespace, "/")?;
        Ok(standing)
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }

    /// Gives the user namespace of a freshly cloned init its one user and one group.
    pub(crate) fn map_ids(&self, pid: Pid) -> Result<(), StageError> {
        match *self {
            Self::Root => {
                let outer = outer_id(pid);
                write_maps(pid, (INNER_ID, outer), (INNER_ID, outer), Groups::Dropped)
            }
            Self::User { uid, gid } => write_maps(pid, (INNER_ID, uid), (INNER_ID, gid), Groups::Kept),
        }
    }

    /// A user namespace through which a mount shows files of the given owner as files of a box's user.
    ///
    /// Only root can make such mounts; for anyone else the box's user is the owner already, or has no business there.
    pub(crate) fn owner_namespace(&self, owner: Owner, init: Pid) -> Option<OwnedFd> {
        if !self.is_root() {
            return None;
        }
        // A namespace lives as long as a process in it or a descriptor for it; a short-lived child bears it, which
        // waits until this side has closed.
        let (here, there) = wire::pair().ok()?;
        match sys::clone_process(libc::CLONE_NEWUSER, None).ok()? {
            Cloned::Child => {
                drop(here);
                let _ = wire::receive::<()>(&there);
                sys::exit_now(0)
            }
            Cloned::Parent(pid) => {
                let outer = outer_id(init);
                let maps = write_maps(pid, (owner.uid, outer), (owner.gid, outer), Groups::Dropped);
                let namespace = maps.ok().and_then(|()| {
                    let path = format!("/proc/{}/ns/user", pid.as_raw_nonzero());
                    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
                });
                drop(here);
                sys::reap(pid);
                namespace
            }
        }
    }
}

/// Who owns a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// Whether a box without namespaces can be given a user of its own, which only root can do.
pub(crate) fn can_change_user() -> bool {
    has(CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::CHOWN) && maps_outer_ids()
}

/// The id outside of a box made by root: no other living box on this machine has it, as no other init has the number.
pub(crate) fn outer_id(init: Pid) -> u32 {
    FIRST_OUTER_ID + init.as_raw_nonzero().get().unsigned_abs()
}

/// Whether a box keeps the supplementary groups of the user, which only root can take away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Groups {
    Kept,
    Dropped,
}

fn write_maps(pid: Pid, user: (u32, u32), group: (u32, u32), groups: Groups) -> Result<(), StageError> {
    let directory = format!("/proc/{}", pid.as_raw_nonzero());
    let write = |file: &str, text: String| fs::write(format!("{directory}/{file}"), text).in_stage(Stage::IdMap, file);
    if groups == Groups::Kept {
        // The kernel wants this promised before an ordinary user may map a group.
        write("setgroups", "deny".into())?;
    }
    write("uid_map", format!("{} {} 1", user.0, user.1))?;
    write("gid_map", format!("{} {} 1", group.0, group.1))
}

fn may_administer() -> bool {
    has(CapabilitySet::SYS_ADMIN | CapabilitySet::SETUID | CapabilitySet::SETGID)
}

fn has(needed: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Whether the ids that boxes get outside exist in the user namespace that Kennel itself runs in.
fn maps_outer_ids() -> bool {
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| {
        map.lines().any(|line| {
            let mut numbers = line.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
            let (Some(first), Some(_), Some(count)) = (numbers.next(), numbers.next(), numbers.next()) else {
                return false;
            };
            first <= u64::from(FIRST_OUTER_ID) && u64::from(LAST_OUTER_ID) < first + count
        })
    })
}
