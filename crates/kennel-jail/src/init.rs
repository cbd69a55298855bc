//! The first process of a box: it builds the walls around itself, then starts, signals and reaps what runs inside.
//!
//! It lives as long as its channel to Kennel. When Kennel closes the channel, or dies, the init ends, and the kernel
//! ends every other process of the box with it.

use crate::cgroup::{BoxCgroup, Events};
use crate::error::{InStage, Stage, StageError};
use crate::fence::Fence;
use crate::process;
use crate::report::{ExitCause, ExitReport, ExitStatus};
use crate::root::{self, Node};
use crate::seccomp::Filter;
use crate::spec::{Hold, INNER_ID, Isolation, JailSpec, Limits, Network, ProcessSpec, Walls};
use crate::sys::{self, Ended};
use crate::wire::{self, Event, Request, Stdio};
use crate::{census, walls};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{Gid, Uid, UnshareFlags};
use std::path::PathBuf;
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
    pub(crate) inside: Inside,
    pub(crate) walls: Walls,
    pub(crate) filter: &'a Filter,
    pub(crate) spec: &'a JailSpec,
    pub(crate) cgroup: &'a BoxCgroup,
}

/// What the box is to be inside.
pub(crate) enum Inside {
    /// A root of its own, made of what all boxes share and what this one was granted.
    Root { base: Vec<Node>, grants: Vec<Node>, becomes_user: bool },
    /// The host's root, with a directory for home and scratch, as another user where that can be had.
    Host { scratch: PathBuf, becomes_user: Option<u32> },
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
        let walls = Walls { isolation: Isolation::None, memory, pids, cpu, landlock: None };
        Ok(Ready { signals, walls, fence: None, scratch: None })
    });
    serve(channel, ready, None)
}

/// What an init has when its box stands.
struct Ready {
    signals: OwnedFd,
    walls: Walls,
    fence: Option<Fence>,
    scratch: Option<PathBuf>,
}

fn serve(channel: &OwnedFd, ready: Result<Ready, StageError>, limited: Option<(&Events, Limits)>) -> ! {
    match ready {
        Ok(ready) => {
            // A Kennel that is gone shows at the next look at the channel.
            let _ = wire::send(channel, &Event::Ready(ready.walls.clone()), &[]);
            let mut server = Server { channel, ready, limited, processes: Vec::new(), verdict: None };
            // Any failure here means that the channel or the kernel is lost: end, and the box with it.
            while server.turn().unwrap_or(false) {}
            if server.ready.walls.isolation != Isolation::Full {
                census::end_descendants();
            }
        }
        Err(error) => {
            let _ = wire::send(channel, &Event::Refused(error), &[]);
        }
    }
    sys::exit_now(0)
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
        Inside::Root { base, grants, becomes_user } => {
            if becomes_user {
                become_user(INNER_ID).in_stage(Stage::Identity, "")?;
            }
            enter_namespaces(init.spec.network)?;
            root::enter(base, grants, &init.spec.limits, init.spec.writable_root)?;
            (init.walls.landlock.map(|_| Fence::around_root(init.spec)), None)
        }
        Inside::Host { scratch, becomes_user } => {
            reap_descendants()?;
            if let Some(id) = becomes_user {
                become_user(id).in_stage(Stage::Identity, "")?;
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
    ready: Ready,
    limited: Option<(&'a Events, Limits)>,
    processes: Vec<Running>,
    /// Why the watchdog ended all that ran.
    verdict: Option<ExitCause>,
}

impl Server<'_> {
    /// Handles what has happened since the last turn; false when Kennel has let go.
    fn turn(&mut self) -> Result<bool, Errno> {
        let timeout = self.next_look().and_then(|wait| Timespec::try_from(wait).ok());
        let mut watched = [PollFd::new(self.channel, PollFlags::IN), PollFd::new(&self.ready.signals, PollFlags::IN)];
        match poll(&mut watched, timeout.as_ref()) {
            Err(Errno::INTR) => return Ok(true),
            other => other?,
        };
        let [requested, child] = watched.map(|entry| !entry.revents().is_empty());
        self.end_overdue();
        self.watch();
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
        self.verdict = None;
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
        let mut spec: ProcessSpec = wire::load(spec).in_stage(Stage::Spec, "")?;
        if let Some(scratch) = &self.ready.scratch {
            spec.live_in(scratch);
        }
        let started = process::start(&spec, stdio, descriptors, self.ready.fence.as_ref(), self.channel)?;
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
            None => census::signal_all(signal),
        }
    }

    /// Reaps every process that has ended, the box's orphans included, and reports those that were asked for.
    fn reap(&mut self) -> Result<(), Errno> {
        // Which signals arrived is of no interest, only that the descriptor is not readable any more.
        let mut discarded = [0; 512];
        while rustix::io::read(&self.ready.signals, &mut discarded).is_ok_and(|length| length > 0) {}
        while let Some(ended) = sys::next_ended() {
            let Some(index) = self.processes.iter().position(|running| running.pid == ended.pid) else { continue };
            let running = self.processes.swap_remove(index);
            let report = self.report(&running, &ended);
            wire::send(self.channel, &Event::Exited { process: running.process, report }, &[])?;
        }
        Ok(())
    }

    fn report(&self, running: &Running, ended: &Ended) -> ExitReport {
        let status = ended.status;
        let count = |counter: fn(&Events) -> u64| self.limited.map_or(0, |(events, _)| counter(events));
        // Where the limit is one per process as well, a program that runs into it fails by itself.
        let refused = self.limited.is_some_and(|(_, limits)| ended.peak_memory >= limits.memory);
        let starved = count(Events::out_of_memory_kills) > running.kills_before
            || (self.ready.walls.memory == Hold::Watchdog && refused);
        let crowded = count(Events::refused_forks) > running.refusals_before;
        let cause = match status {
            _ if running.overdue => ExitCause::Deadline,
            ExitStatus::Code(0) => ExitCause::Exited,
            _ if self.verdict.is_some() => self.verdict.unwrap_or(ExitCause::Signalled),
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
        self.ready.walls.pids == Hold::Rlimit && census::threads() + 1 >= limit as usize
    }

    fn next_look(&self) -> Option<Duration> {
        let deadline =
            self.processes.iter().filter(|running| !running.overdue).filter_map(|running| running.deadline).min();
        let deadline = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let watchdog = (self.watches() && !self.processes.is_empty()).then_some(WATCHDOG_INTERVAL);
        [deadline, watchdog].into_iter().flatten().min()
    }

    fn end_overdue(&mut self) {
        let now = Instant::now();
        for running in self.processes.iter_mut().filter(|running| running.deadline.is_some_and(|at| at <= now)) {
            running.overdue = true;
            let _ = sys::signal_one(running.pid, libc::SIGKILL);
        }
    }

    /// Ends all that runs when it uses more than it may and only the init is there to see it.
    fn watch(&mut self) {
        let Some((_, limits)) = self.limited.filter(|_| self.watches() && !self.processes.is_empty()) else { return };
        let walls = &self.ready.walls;
        if walls.memory == Hold::Watchdog && census::exceeds(limits.memory) {
            self.verdict = Some(ExitCause::OutOfMemory);
        } else if walls.pids == Hold::Watchdog && census::threads() > limits.pids as usize {
            self.verdict = Some(ExitCause::PidsLimit);
        } else {
            return;
        }
        census::signal_all(libc::SIGKILL);
    }

    fn watches(&self) -> bool {
        [self.ready.walls.memory, self.ready.walls.pids].contains(&Hold::Watchdog)
    }
}
