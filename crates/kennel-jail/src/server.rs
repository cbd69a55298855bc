//! What the init does for the rest of its life: starts, signals and reaps programs, and reports how each ended.

use crate::census;
use crate::cgroup::Events;
use crate::error::{InStage, Stage, StageError};
use crate::fence::Fence;
use crate::process::{self, Handed};
use crate::report::{ExitCause, ExitReport, ExitStatus};
use crate::spec::{Hold, Limits, ProcessSpec, Walls};
use crate::sys::{self, Ended};
use crate::wire::{self, Event, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::Pid;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the watchdog looks, where no cgroup holds a limit.
const WATCHDOG_INTERVAL: Duration = Duration::from_millis(100);

/// What an init has when its box stands.
pub(crate) struct Ready {
    /// Readable when a child has ended.
    pub(crate) signals: OwnedFd,
    pub(crate) walls: Walls,
    /// What every program is fenced with.
    pub(crate) fence: Option<Fence>,
    /// Where home and scratch are, if not where they are in a root of the box's own.
    pub(crate) scratch: Option<PathBuf>,
}

/// Serves the box until Kennel lets go, or says why there is none.
pub(crate) fn serve(channel: &OwnedFd, ready: Result<Ready, StageError>, limited: Option<(&Events, Limits)>) -> ! {
    match ready {
        Ok(ready) => {
            // A Kennel that is gone shows at the next look at the channel.
            let _ = wire::send(channel, &Event::Ready(ready.walls.clone()), &[]);
            let mut server =
                Server { channel, ready, limited, processes: Vec::new(), next_watch: Instant::now(), verdict: None };
            // Any failure here means that the channel or the kernel is lost: end, and the box with it.
            while server.turn().unwrap_or(false) {}
        }
        Err(error) => {
            let _ = wire::send(channel, &Event::Refused(error), &[]);
        }
    }
    census::end_box()
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
    /// When the watchdog looks again, however much happens until then.
    next_watch: Instant,
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
            Some((Request::Start { process, stdio, channel }, descriptors)) => {
                self.start(process, Handed { stdio, channel, descriptors: descriptors.into_iter() })?;
            }
            Some((Request::Signal { process, signal }, _)) => self.signal(process, signal),
            None => return Ok(false),
        }
        Ok(true)
    }

    fn start(&mut self, process: u32, handed: Handed) -> Result<(), Errno> {
        self.verdict = None;
        // Counted before it runs: a quick one may be at its limits before anybody looks.
        let count = |counter: fn(&Events) -> u64| self.limited.map_or(0, |(events, _)| counter(events));
        let (kills_before, refusals_before) = (count(Events::out_of_memory_kills), count(Events::refused_forks));
        let started = self.try_start(handed);
        match started {
            Ok((started, spec)) => {
                let terminal = started.terminal.as_ref().map(AsFd::as_fd);
                self.processes.push(Running {
                    process,
                    pid: started.pid,
                    deadline: spec.deadline_ms.and_then(|wait| Instant::now().checked_add(Duration::from_millis(wait))),
                    overdue: false,
                    kills_before,
                    refusals_before,
                });
                wire::send(self.channel, &Event::Started { process }, terminal.as_slice())
            }
            Err(error) => wire::send(self.channel, &Event::NotStarted { process, error }, &[]),
        }
    }

    fn try_start(&self, mut handed: Handed) -> Result<(process::Started, ProcessSpec), StageError> {
        let spec = handed.descriptors.next().ok_or(Errno::BADF).in_stage(Stage::Spec, "")?;
        let mut spec: ProcessSpec = wire::load(spec).in_stage(Stage::Spec, "")?;
        if let Some(scratch) = &self.ready.scratch {
            spec.live_in(scratch);
        }
        let started = process::start(&spec, handed, &self.ready, self.channel)?;
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
        let watchdog = self.watches().then_some(self.next_watch);
        let next = [deadline, watchdog].into_iter().flatten().min()?;
        Some(next.saturating_duration_since(Instant::now()))
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
        let now = Instant::now();
        let Some((_, limits)) = self.limited.filter(|_| self.watches() && self.next_watch <= now) else { return };
        self.next_watch = now + WATCHDOG_INTERVAL;
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
        let walls = &self.ready.walls;
        !self.processes.is_empty() && [walls.memory, walls.pids].contains(&Hold::Watchdog)
    }
}
