//! Which walls a box gets: the best that can be had here, or a refusal.

use crate::cgroup::{Controller, Delegation};
use crate::error::{InStage, Stage, StageError};
use crate::spec::{Hold, Isolation, JailSpec, Limits, Network, PortWall, Wall, Walls};
use crate::sys::landlock_version;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Decides what will hold each limit of a box.
pub(crate) fn choose(spec: &JailSpec, isolation: Isolation, delegation: &Delegation) -> Result<Walls, StageError> {
    let landlock = landlock_version();
    if isolation == Isolation::Fenced && landlock.is_none() {
        // It would be the only wall around files.
        return Err(Errno::OPNOTSUPP).in_stage(Stage::Landlock, "not in this kernel");
    }
    // Without a user namespace the kernel would count all processes of the user.
    let pids = if isolation == Isolation::Full { Hold::Rlimit } else { Hold::Watchdog };
    let whole_processors = spec.limits.milli_cpus.is_multiple_of(1000);
    let cpu = match delegation.hold(Controller::Cpu) {
        Some(hold) => hold,
        None if whole_processors => Hold::Affinity,
        None if spec.accept_missing.contains(&Wall::Cpu) => Hold::Nothing,
        None => {
            let asked = format!("{} cpus", f64::from(spec.limits.milli_cpus) / 1000.0);
            return Err(Errno::OPNOTSUPP).in_stage(Stage::CpuLimit, asked);
        }
    };
    Ok(Walls {
        isolation,
        memory: delegation.hold(Controller::Memory).unwrap_or(Hold::Watchdog),
        pids: delegation.hold(Controller::Pids).unwrap_or(pids),
        cpu,
        landlock,
        open_files: open_files(&spec.limits),
        ports: ports(spec, landlock),
    })
}

/// The first version of Landlock that knows TCP ports.
const LANDLOCK_WITH_PORTS: u32 = 4;

/// What holds a box to the TCP ports that it may connect to.
fn ports(spec: &JailSpec, landlock: Option<u32>) -> PortWall {
    match (spec.network, &spec.connect_ports) {
        (Network::On, Some(_)) if landlock >= Some(LANDLOCK_WITH_PORTS) => PortWall::Landlock,
        (Network::On, Some(_)) => PortWall::Missing,
        _ => PortWall::NotAsked,
    }
}

/// Signals and timers that a box may have pending; the kernel counts them for its user as well.
const MOST_PENDING_SIGNALS: u64 = 1024;
/// Bytes that a process may lock into memory; for shared memory the kernel counts them for its user as well.
const MOST_LOCKED_MEMORY: u64 = 1 << 20;

/// The descriptors that a program may really have open: what it asks for, or what Kennel itself may have.
fn open_files(limits: &Limits) -> u64 {
    rustix::process::getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX).min(limits.open_files)
}

/// Applies to the calling process, which is about to become a program, how many descriptors it may have open.
///
/// Not to the init, which needs some of its own for each program that it starts.
pub(crate) fn limit_open_files(most: u64) -> Result<(), StageError> {
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: Some(most) })
        .in_stage(Stage::Rlimit, "open files")
}

/// Applies to the calling process, and so to all that it starts, the limits that no cgroup holds.
pub(crate) fn apply_rlimits(walls: &Walls, limits: &Limits) -> Result<(), StageError> {
    let lower = |resource: Resource, name: &str, value: u64| {
        let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX).min(value);
        setrlimit(resource, Rlimit { current: Some(ceiling), maximum: Some(ceiling) }).in_stage(Stage::Rlimit, name)
    };
    // Not 0: that keeps the kernel from writing a file, but not from starting the program that it may have been told
    // to give cores to. With this one it does neither, and the filter lets nobody change it.
    lower(Resource::Core, "core size", 1)?;
    lower(Resource::Sigpending, "pending signals", MOST_PENDING_SIGNALS)?;
    lower(Resource::Memlock, "locked memory", MOST_LOCKED_MEMORY)?;
    if walls.memory == Hold::Watchdog {
        // Not the address space: Node reserves far more of that than it uses.
        lower(Resource::Data, "data", limits.memory)?;
    }
    if walls.pids == Hold::Rlimit {
        // Counted per user namespace; the init is one of them.
        lower(Resource::Nproc, "processes", u64::from(limits.pids) + 1)?;
    }
    if walls.cpu == Hold::Affinity {
        pin(limits.milli_cpus / 1000).in_stage(Stage::CpuLimit, "affinity")?;
    }
    Ok(())
}

/// Pins the calling process to so many of the processors it has, starting at one that differs from box to box.
fn pin(count: u32) -> Result<(), Errno> {
    let allowed = sched_getaffinity(None)?;
    let processors = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect::<Vec<_>>();
    let first = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_nsec.unsigned_abs();
    let first = usize::try_from(first / 1000).unwrap_or(0) % processors.len().max(1);
    let mut chosen = CpuSet::new();
    for &cpu in processors.iter().cycle().skip(first).take((count as usize).min(processors.len())) {
        chosen.set(cpu);
    }
    sched_setaffinity(None, &chosen)
}
