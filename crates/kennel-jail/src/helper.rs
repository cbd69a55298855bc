//! The helper: a tiny, single-threaded process that clones boxes on request and buries them.
//!
//! Kennel itself never forks: a clone of a big process is slow, and of one with threads unsafe. The helper is started
//! once, by executing Kennel's own program again, and stays small. It ends with Kennel, and takes all boxes along.

use crate::cgroup::{self, BoxCgroup, Delegation};
use crate::error::{InStage, Stage, StageError};
use crate::init::{self, Init};
use crate::root;
use crate::seccomp::Filter;
use crate::spec::{Hold, Isolation, JailSpec, Network};
use crate::standing::Standing;
use crate::sys::{self, Cloned};
use crate::walls;
use crate::wire::{self, Event, HelperRequest, Tombstone};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};

/// Boxes one helper holds at most; more would exhaust its descriptors long before the machine is exhausted.
const MAX_BOXES: usize = 1024;

/// Serves requests from standard input until Kennel is gone, then ends every box and returns.
pub(crate) fn run() -> Result<(), Errno> {
    let control = sys::take_stdin();
    // Out of the terminal's reach: Ctrl-C is for Kennel to pass on, not for the helper to die of.
    rustix::process::setsid()?;
    let mut helper = Helper { prefix: cgroup::own_prefix(), boxes: Vec::new(), made: 0, workshop: None };
    while helper.serve(&control)? {}
    helper.end_all();
    Ok(())
}

struct Helper {
    prefix: String,
    boxes: Vec<LivingBox>,
    made: u64,
    /// What all confined boxes share, made when the first one is asked for.
    workshop: Option<Workshop>,
}

struct Workshop {
    standing: Standing,
    delegation: Delegation,
    /// The filters for boxes that are pinned to processors, and for those that are not.
    filters: [Filter; 2],
}

/// A box as the helper sees it: a process to wait for and a grave to dig.
struct LivingBox {
    pid: Pid,
    handle: OwnedFd,
    slot: u8,
    cgroup: Option<BoxCgroup>,
    tombstone: OwnedFd,
}

impl Helper {
    /// Waits for one request or one death; false when Kennel is gone.
    fn serve(&mut self, control: &OwnedFd) -> Result<bool, Errno> {
        let mut watched = vec![PollFd::new(control, PollFlags::IN)];
        watched.extend(self.boxes.iter().map(|living| PollFd::new(&living.handle, PollFlags::IN)));
        match poll(&mut watched, None) {
            Err(Errno::INTR) => return Ok(true),
            other => other?,
        };
        let events = watched.iter().map(|entry| !entry.revents().is_empty()).collect::<Vec<_>>();
        for index in (0..self.boxes.len()).rev().filter(|index| events[index + 1]) {
            self.boxes.remove(index).bury();
        }
        if events[0] {
            return match wire::receive::<HelperRequest>(control)? {
                Some((HelperRequest::CreateBox, descriptors)) => {
                    self.create(descriptors);
                    Ok(true)
                }
                Some((HelperRequest::EndLeftovers, descriptors)) => {
                    for answer in descriptors {
                        // Whoever asked may be gone.
                        let _ = wire::send(&answer, &Delegation::find().remove_leftovers(), &[]);
                    }
                    Ok(true)
                }
                None => Ok(false),
            };
        }
        Ok(true)
    }

    fn create(&mut self, descriptors: Vec<OwnedFd>) {
        let Ok([spec, channel, tombstone]) = <[OwnedFd; 3]>::try_from(descriptors) else { return };
        let result = wire::load::<JailSpec>(spec)
            .in_stage(Stage::Spec, "")
            .and_then(|spec| self.clone_box(&spec, &channel, tombstone));
        if let Err(error) = result {
            // Kennel may be gone already; then nobody is left to tell.
            let _ = wire::send(&channel, &Event::Refused(error), &[]);
        }
    }

    fn clone_box(&mut self, spec: &JailSpec, channel: &OwnedFd, tombstone: OwnedFd) -> Result<(), StageError> {
        if self.boxes.len() >= MAX_BOXES {
            return Err(Errno::MFILE).in_stage(Stage::Clone, format!("{MAX_BOXES} boxes"));
        }
        self.made += 1;
        match spec.isolation {
            Isolation::None => self.clone_unconfined(channel, tombstone),
            Isolation::Full => self.clone_confined(spec, channel, tombstone),
        }
    }

    fn clone_unconfined(&mut self, channel: &OwnedFd, tombstone: OwnedFd) -> Result<(), StageError> {
        match sys::clone_process(0, None).in_stage(Stage::Clone, "")? {
            Cloned::Child => init::run_unconfined(channel),
            Cloned::Parent(pid) => self.adopt(pid, 0, None, tombstone),
        }
    }

    fn clone_confined(&mut self, spec: &JailSpec, channel: &OwnedFd, tombstone: OwnedFd) -> Result<(), StageError> {
        if self.workshop.is_none() {
            let standing = Standing::take()?;
            let delegation = Delegation::find();
            let filters = [Filter::compile(false)?, Filter::compile(true)?];
            self.workshop = Some(Workshop { standing, delegation, filters });
        }
        let slot = self.free_slot();
        let name = format!("{}-{}", self.prefix, self.made);
        let Some(Workshop { standing, delegation, filters }) = self.workshop.as_ref() else {
            return Err(Errno::INVAL).in_stage(Stage::Spec, "");
        };
        let walls = walls::choose(spec, delegation)?;
        let filter = &filters[usize::from(walls.cpu == Hold::Affinity)];
        let nodes = root::open(spec, &mut |uid, gid| standing.owner_namespace(uid, gid, slot))?;
        let cgroup = delegation.create(&name, &spec.limits)?;
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
                init::run_confined(
                    channel,
                    Init { wait, nodes, walls, filter, spec, cgroup: &cgroup, becomes_user: standing.is_root() },
                )
            }
            Cloned::Parent(pid) => {
                let prepared =
                    standing.map_ids(pid, slot).and_then(|()| if moves { cgroup.move_v2(pid) } else { Ok(()) });
                self.adopt(pid, slot, Some(cgroup), tombstone)?;
                // Without the word the init of a box that could not be prepared ends by itself.
                prepared?;
                wire::send(&go, &init::Word::Go, &[]).in_stage(Stage::Clone, "")
            }
        }
    }

    /// The lowest number that no living box has; with more than 256 boxes some share one, and so a user id outside.
    fn free_slot(&self) -> u8 {
        (0..u8::MAX).find(|slot| self.boxes.iter().all(|living| living.slot != *slot)).unwrap_or(u8::MAX)
    }

    fn adopt(&mut self, pid: Pid, slot: u8, cgroup: Option<BoxCgroup>, tombstone: OwnedFd) -> Result<(), StageError> {
        let handle = pidfd_open(pid, PidfdFlags::empty()).in_stage(Stage::Clone, "")?;
        self.boxes.push(LivingBox { pid, handle, slot, cgroup, tombstone });
        Ok(())
    }

    fn end_all(&mut self) {
        for living in &self.boxes {
            // One that has ended already is buried below all the same.
            let _ = pidfd_send_signal(living.handle.as_fd(), Signal::KILL);
        }
        for living in self.boxes.drain(..) {
            living.bury();
        }
    }
}

impl LivingBox {
    /// Waits for the init, which is the last process of its box to go, and removes what the box left outside.
    fn bury(self) {
        while let Err(Errno::INTR) = waitpid(Some(self.pid), WaitOptions::empty()) {}
        let killed = self.cgroup.as_ref().is_some_and(|cgroup| cgroup.events.out_of_memory_kills() > 0);
        drop(self.cgroup);
        // Whoever waited may be gone.
        let _ = wire::send(&self.tombstone, &Tombstone { out_of_memory: killed }, &[]);
    }
}
