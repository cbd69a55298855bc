//! The helper: a tiny, single-threaded process that clones boxes on request and buries them.
//!
//! Kennel itself never forks: a clone of a big process is slow, and of one with threads unsafe. The helper is started
//! once, by executing Kennel's own program again, and stays small. It ends with Kennel, and takes all boxes along.

use crate::error::{InStage, Stage, StageError};
use crate::init;
use crate::open_files;
use crate::spec::{Isolation, JailSpec};
use crate::sys::{self, Cloned};
use crate::wire::{self, Event, HelperRequest, Tombstone};
use crate::workshop::{Outside, Workshop};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Boxes one helper holds at most; more would exhaust its descriptors long before the machine is exhausted.
const MAX_BOXES: usize = 1024;

/// Serves requests from standard input until Kennel is gone, then ends every box and returns.
pub(crate) fn run(isolation: Isolation, inherited: Option<u64>) -> Result<(), Errno> {
    let control = sys::take_stdin();
    // Out of the terminal's reach: Ctrl-C is for Kennel to pass on, not for the helper to die of.
    rustix::process::setsid()?;
    rustix::thread::set_name(c"kennel-helper")?;
    if let (Isolation::None, Some(inherited)) = (isolation, inherited) {
        open_files::restore(inherited);
    }
    let workshop = match isolation {
        Isolation::Full => Some(Workshop::with_namespaces()),
        Isolation::Fenced => Some(Workshop::on_host()),
        Isolation::None => None,
    };
    let mut helper = Helper { isolation, workshop, boxes: Vec::new(), made: 0 };
    while helper.serve(&control)? {}
    helper.end_all();
    Ok(())
}

struct Helper {
    isolation: Isolation,
    /// Where confined boxes are made, or why they cannot be; absent where none are wanted.
    workshop: Option<Result<Workshop, StageError>>,
    boxes: Vec<LivingBox>,
    made: u64,
}

/// A box as the helper sees it: a process to wait for and a grave to dig.
struct LivingBox {
    pid: Pid,
    handle: OwnedFd,
    outside: Option<Outside>,
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
                    if self.made == 1 {
                        self.end_leftovers();
                    }
                    Ok(true)
                }
                Some((HelperRequest::EndLeftovers, descriptors)) => {
                    let removed = self.end_leftovers();
                    for answer in descriptors {
                        // Whoever asked may be gone.
                        let _ = wire::send(&answer, &removed, &[]);
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
        let (pid, outside) = match &self.workshop {
            None => (clone_unconfined(channel)?, None),
            Some(Err(error)) => return Err(error.clone()),
            Some(Ok(workshop)) => {
                let (pid, outside) = workshop.clone_box(spec, channel, self.made)?;
                (pid, Some(outside))
            }
        };
        let handle = pidfd_open(pid, PidfdFlags::empty()).in_stage(Stage::Clone, "")?;
        self.boxes.push(LivingBox { pid, handle, outside, tombstone });
        Ok(())
    }

    fn end_leftovers(&self) -> usize {
        match &self.workshop {
            Some(Ok(workshop)) => workshop.end_leftovers(),
            _ => 0,
        }
    }

    /// Ends every box. Kennel is gone, and with it the channel by which each init lives; where a PID namespace ends
    /// with its init, the init is killed all the same, in case it hangs. Elsewhere it must be let to end the others.
    fn end_all(&mut self) {
        for living in self.boxes.iter().filter(|_| self.isolation == Isolation::Full) {
            // One that has ended already is buried below all the same.
            let _ = pidfd_send_signal(living.handle.as_fd(), Signal::KILL);
        }
        for living in self.boxes.drain(..) {
            living.bury();
        }
    }
}

fn clone_unconfined(channel: &OwnedFd) -> Result<Pid, StageError> {
    match sys::clone_process(0, None).in_stage(Stage::Clone, "")? {
        Cloned::Child => init::run_unconfined(channel),
        Cloned::Parent(pid) => Ok(pid),
    }
}

impl LivingBox {
    /// Waits for the init, which is the last process of its box to go, and removes what the box left outside.
    fn bury(self) {
        sys::reap(self.pid);
        let killed = self.outside.as_ref().is_some_and(|outside| outside.cgroup.events.out_of_memory_kills() > 0);
        drop(self.outside);
        // Whoever waited may be gone.
        let _ = wire::send(&self.tombstone, &Tombstone { out_of_memory: killed }, &[]);
    }
}
