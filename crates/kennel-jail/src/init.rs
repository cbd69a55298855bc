//! The first process of a box: it builds the walls around itself, then starts, signals and reaps what runs inside.
//!
//! It lives as long as its channel to Kennel. When Kennel closes the channel, or dies, the init ends, and the kernel
//! ends every other process of the box with it.

use crate::cgroup::{BoxCgroup, Events};
use crate::error::{InStage, Stage, StageError};
use crate::process::{self, Fence};
use crate::report::{ExitCause, ExitReport, ExitStatus};
use crate::root::{self, Node};
use crate::seccomp::Filter;
use crate::spec::{Hold, INNER_ID, Isolation, JailSpec, Limits, Network, ProcessSpec, Walls};
use crate::wire::{self, Event, Request, Stdio};
use crate::{census, fence, sys, walls};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus};
use rustix::thread::{Gid, Uid, UnshareFlags};
use std::time::{Duration, Instant};

/// How often the watchdog looks, where no cgroup holds the memory limit.
const WATCHDOG_INTERVAL: Duration = Duration::from_millis(100);

/// The helper's word that the init is mapped and limited, and may go on.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) enum Word {
    Go,
}

/// What a freshly cloned init has to build.
pub(crate) struct Init<'a> {
    pub(crate) wait: OwnedFd,
    pub(crate) base: Vec<Node>,
    pub(crate) grants: Vec<Node>,
    pub(crate) walls: Walls,
    pub(crate) filter: &'a Filter,
    pub(crate) spec: &'a JailSpec,
    pub(crate) cgroup: &'a BoxCgroup,
    pub(crate) becomes_user: bool,
}

/// Builds the box around the calling process and serves it until Kennel lets go.
pub(crate) fn run_confined(channel: &OwnedFd, init: Init<'_>) -> ! {
    let events = &init.cgroup.events;
    let limits = init.spec.limits;
    let ready = build(channel, init);
    serve(channel, ready, Some((events, limits)))
}

/// Serves processes without any wall around them, but still ends them all when Kennel lets go.
pub(crate) fn run_unconfined(channel: &OwnedFd) -> ! {
    let ready = sys::close_others(&[channel.as_raw_fd()])
        .and_then(|()| rustix::process::set_child_subreaper(Some(rustix::process::getpid())))
        .and_then(|()| sys::child_signals())
        .in_stage(Stage::Clone, "")
        .map(|signals| {
            let walls = Walls {
                isolation: Isolation::None,
                memory: Hold::Nothing,
                pids: Hold::Nothing,
                cpu: Hold::Nothing,
                landlock: None,
            };
            (signals, walls, None)
        });
    serve(channel, ready, None)
}

type Ready = (OwnedFd, Walls, Option<Fence>);

fn serve(channel: &OwnedFd, ready: Result<Ready, StageError>, limited: Option<(&Events, Limits)>) -> ! {
    match ready {
        Ok((signals, walls, fence)) => {
            // A Kennel that is gone shows at the next look at the channel.
            let _ = wire::send(channel, &Event::Ready(walls.clone()), &[]);
            let mut server = Server { channel, signals, walls, fence, limited, processes: Vec::new(), starved: false };
            // Any failure here means that the channel or the kernel is lost: end, and the box with it.
            while server.turn().unwrap_or(false) {}
            if server.walls.isolation == Isolation::None {
                census::end_descendants();
            }
        }
        Err(error) => {
            let _ = wire::send(channel, &Event::Refused(error), &[]);
        }
    }
    sys::exit_now(0)
}

/// The order matters: first who we are, then what we see, then what we may use, last what we may ask of the kernel.
fn build(channel: &OwnedFd, init: Init<'_>) -> Result<Ready, StageError> {
    let mut keep = vec![channel.as_raw_fd(), init.wait.as_raw_fd()];
    keep.extend(init.base.iter().chain(&init.grants).filter_map(Node::descriptor));
    keep.extend(init.cgroup.descriptors());
    sys::close_others(&keep).in_stage(Stage::Clone, "")?;
    // Standard input was the helper's own channel.
    rustix::stdio::dup2_stdin(rustix::stdio::stdout()).in_stage(Stage::Clone, "")?;
    let signals = sys::child_signals().in_stage(Stage::Clone, "")?;
    if !matches!(wire::receive(&init.wait), Ok(Some((Word::Go, _)))) {
        // The helper has told Kennel why.
        sys::exit_now(1);
    }
    drop(init.wait);
    init.cgroup.join_v1()?;
    if init.becomes_user {
        become_user().in_stage(Stage::Identity, "")?;
    }
    sys::unshare(UnshareFlags::NEWCGROUP).in_stage(Stage::Cgroup, "namespace")?;
    rustix::system::sethostname(b"kennel").in_stage(Stage::Identity, "hostname")?;
    if init.spec.network == Network::Off {
        sys::loopback_up().in_stage(Stage::Network, "")?;
    }
    match sys::leave_session_keyring() {
        Err(Errno::NOSYS) => {}
        other => other.in_stage(Stage::Privileges, "session keyring")?,
    }
    root::enter(init.base, init.grants, &init.spec.limits, init.spec.writable_root)?;
    walls::apply_rlimits(&init.walls, &init.spec.limits)?;
    drop_privileges().in_stage(Stage::Privileges, "")?;
    init.filter.install()?;
    let fence = init.walls.landlock.map(|_| Fence { writable: fence::writable_targets(init.spec) });
    Ok((signals, init.walls, fence))
}

fn become_user() -> Result<(), Errno> {
    let (uid, gid) = (Uid::from_raw(INNER_ID), Gid::from_raw(INNER_ID));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_keep_capabilities(true)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)
}

fn drop_privileges() -> Result<(), Errno> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    use rustix::thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
    };
    sys::drop_bounding_set()?;
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    // Nobody in the box may look into the init or a process that is still the init's image: they hold Kennel's channel.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    set_no_new_privs(true)
}

/// A process started by request.
struct Running {
    process: u32,
    pid: Pid,
    deadline: Option<Instant>,
    /// Set when Kennel's deadline, not the process, made the end.
    overdue: bool,
    kills_before: u64,
    refusals_before: u64,
}

struct Server<'a> {
    channel: &'a OwnedFd,
    signals: OwnedFd,
    walls: Walls,
    fence: Option<Fence>,
    limited: Option<(&'a Events, Limits)>,
    processes: Vec<Running>,
    /// Set when the watchdog killed for want of memory.
    starved: bool,
}

impl Server<'_> {
    /// Handles what has happened since the last turn; false when Kennel has let go.
    fn turn(&mut self) -> Result<bool, Errno> {
        let timeout = self.next_look().and_then(|wait| Timespec::try_from(wait).ok());
        let mut watched = [PollFd::new(self.channel, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        match poll(&mut watched, timeout.as_ref()) {
            Err(Errno::INTR) => return Ok(true),
            other => other?,
        };
        let [requested, child] = watched.map(|entry| !entry.revents().is_empty());
        self.end_overdue();
        self.watch_memory();
        if child {
            self.reap()?;
        }
        if !requested {
            return Ok(true);
        }
        match wire::receive(self.channel)? {
            Some((Request::Start { process, stdio }, descriptors)) => self.start(process, stdio, descriptors)?,
            Some((Request::Signal { process, signal }, _)) => self.signal(process, signal),
            None => return Ok(false),
        }
        Ok(true)
    }

    fn start(&mut self, process: u32, stdio: [Stdio; 3], descriptors: Vec<OwnedFd>) -> Result<(), Errno> {
        let started = self.try_start(stdio, descriptors);
        match started {
            Ok((started, spec)) => {
                let terminal = started.terminal.as_ref().map(AsFd::as_fd);
                self.processes.push(Running {
                    process,
                    pid: started.pid,
                    deadline: spec.deadline_ms.and_then(|wait| Instant::now().checked_add(Duration::from_millis(wait))),
                    overdue: false,
                    kills_before: self.limited.map_or(0, |(events, _)| events.out_of_memory_kills()),
                    refusals_before: self.limited.map_or(0, |(events, _)| events.refused_forks()),
                });
                wire::send(self.channel, &Event::Started { process }, terminal.as_slice())
            }
            Err(error) => wire::send(self.channel, &Event::NotStarted { process, error }, &[]),
        }
    }

    fn try_start(
        &self,
        stdio: [Stdio; 3],
        descriptors: Vec<OwnedFd>,
    ) -> Result<(process::Started, ProcessSpec), StageError> {
        let mut descriptors = descriptors.into_iter();
        let spec = descriptors.next().ok_or(Errno::BADF).in_stage(Stage::Spec, "")?;
        let spec: ProcessSpec = wire::load(spec).in_stage(Stage::Spec, "")?;
        let started = process::start(&spec, stdio, descriptors, self.fence.as_ref())?;
        Ok((started, spec))
    }

    fn signal(&self, process: Option<u32>, signal: i32) {
        // Whatever has ended cannot be signalled, and nobody needs to know.
        match process {
            Some(process) => {
                if let Some(running) = self.processes.iter().find(|running| running.process == process) {
                    let _ = sys::signal_one(running.pid, signal);
                }
            }
            None if self.walls.isolation == Isolation::None => census::signal_descendants(signal),
            None => {
                let _ = sys::signal_all(signal);
            }
        }
    }

    /// Reaps every process that has ended, the box's orphans included, and reports those that were asked for.
    fn reap(&mut self) -> Result<(), Errno> {
        // Which signals arrived is of no interest, only that the descriptor is not readable any more.
        let mut discarded = [0; 512];
        while rustix::io::read(&self.signals, &mut discarded).is_ok_and(|length| length > 0) {}
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let Some(index) = self.processes.iter().position(|running| running.pid == pid) else { continue };
            let running = self.processes.swap_remove(index);
            let report = self.report(&running, status);
            wire::send(self.channel, &Event::Exited { process: running.process, report }, &[])?;
        }
        Ok(())
    }

    fn report(&self, running: &Running, status: WaitStatus) -> ExitReport {
        let status = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ExitStatus::Code(code),
            (None, signal) => ExitStatus::Signal(signal.unwrap_or(libc::SIGKILL)),
        };
        let count = |counter: fn(&Events) -> u64| self.limited.map_or(0, |(events, _)| counter(events));
        let starved = self.starved || count(Events::out_of_memory_kills) > running.kills_before;
        let crowded = count(Events::refused_forks) > running.refusals_before;
        let cause = match status {
            _ if running.overdue => ExitCause::Deadline,
            ExitStatus::Code(0) => ExitCause::Exited,
            _ if starved => ExitCause::OutOfMemory,
            ExitStatus::Signal(libc::SIGSYS) => ExitCause::Seccomp,
            _ if crowded || self.crowded() => ExitCause::PidsLimit,
            ExitStatus::Code(_) => ExitCause::Exited,
            ExitStatus::Signal(_) => ExitCause::Signalled,
        };
        ExitReport { status, cause }
    }

    /// Whether the box stands at its limit of processes, where only a rlimit holds it, which keeps no count.
    fn crowded(&self) -> bool {
        let limit = self.limited.map_or(u32::MAX, |(_, limits)| limits.pids);
        self.walls.pids == Hold::Rlimit && census::threads() >= limit as usize
    }

    fn next_look(&self) -> Option<Duration> {
        let deadline =
            self.processes.iter().filter(|running| !running.overdue).filter_map(|running| running.deadline).min();
        let deadline = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let watchdog = (self.walls.memory == Hold::Watchdog && !self.processes.is_empty()).then_some(WATCHDOG_INTERVAL);
        [deadline, watchdog].into_iter().flatten().min()
    }

    fn end_overdue(&mut self) {
        let now = Instant::now();
        for running in self.processes.iter_mut().filter(|running| running.deadline.is_some_and(|at| at <= now)) {
            running.overdue = true;
            let _ = sys::signal_one(running.pid, libc::SIGKILL);
        }
    }

    fn watch_memory(&mut self) {
        let Some((_, limits)) = self.limited.filter(|_| self.walls.memory == Hold::Watchdog) else { return };
        if !self.processes.is_empty() && census::memory() > limits.memory {
            self.starved = true;
            let _ = sys::signal_all(libc::SIGKILL);
        }
    }
}
