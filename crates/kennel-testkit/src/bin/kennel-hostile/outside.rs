//! Attempts on a process given by its number.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::Runner;
use crate::finding::{Verdict, escaped, gate};
use crate::procfs::readable_address;
use crate::scene::Scene;
use crate::system::{Argument, address_of, call, call_for_descriptor};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("trace_outside", |scene| trace(scene.number(0)?)),
    ("vm_read_outside", |scene| vm_read(scene.number(0)?)),
    ("probe_outside", |scene| signal(scene, 0)),
    ("terminate_outside", |scene| signal(scene, libc::SIGTERM)),
    ("limit_outside", limit_outside),
    ("change_limit_outside", change_limit_outside),
    ("renice_outside", renice_outside),
    ("pin_outside", pin_outside),
    ("reschedule_outside", reschedule_outside),
    ("io_priority_outside", io_priority_outside),
    ("take_descriptor_of_outside", |scene| take_descriptor(scene.number(0)?)),
    ("advise_outside", advise_outside),
    ("enter_outside_network", enter_outside_network),
];

/// Seizes without stopping; the tracee goes on untouched when this process ends.
pub(crate) fn trace(process: u32) -> Verdict {
    let arguments =
        [Argument::Number(libc::PTRACE_SEIZE.into()), Argument::Number(process.into()), Argument::Null, Argument::Null];
    call(libc::SYS_ptrace, arguments)?;
    Ok(escaped(format!("traces process {process}")))
}

/// Where the address is wrong, the error tells that the permission was there.
pub(crate) fn vm_read(process: u32) -> Verdict {
    let mut buffer = [0; 16];
    let local = [address_of(&mut buffer), 16];
    let remote = [readable_address(process).unwrap_or(0x1000), 16];
    let arguments = [
        Argument::Number(process.into()),
        Argument::Words(&local),
        Argument::Number(1),
        Argument::Words(&remote),
        Argument::Number(1),
        Argument::Number(0),
    ];
    gate(call(libc::SYS_process_vm_readv, arguments), &[libc::EFAULT])
}

fn signal(scene: &Scene, number: i32) -> Verdict {
    let process: u32 = scene.number(0)?;
    call(libc::SYS_kill, [Argument::Number(process.into()), Argument::Number(number.into())])?;
    Ok(escaped(format!("sent signal {number} to process {process}")))
}

/// To the limit that it has already: the same permission, no damage.
fn change_limit_outside(scene: &Scene) -> Verdict {
    let process: u32 = scene.number(0)?;
    let mut limit = [0; 2];
    // Where the limit cannot be read, one that can only be a rise is tried.
    let arguments = [
        Argument::Number(process.into()),
        Argument::Number(libc::RLIMIT_NOFILE.into()),
        Argument::Null,
        Argument::FillWords(&mut limit),
    ];
    if call(libc::SYS_prlimit64, arguments).is_err() {
        limit = [1 << 20; 2];
    }
    let arguments = [
        Argument::Number(process.into()),
        Argument::Number(libc::RLIMIT_NOFILE.into()),
        Argument::Words(&limit),
        Argument::Null,
    ];
    gate(call(libc::SYS_prlimit64, arguments), &[])
}

/// To the lowest priority: the outside process does nothing anyway.
fn renice_outside(scene: &Scene) -> Verdict {
    let process: u32 = scene.number(0)?;
    let which = i64::from(libc::PRIO_PROCESS);
    gate(
        call(libc::SYS_setpriority, [Argument::Number(which), Argument::Number(process.into()), Argument::Number(19)]),
        &[],
    )
}

/// To all processors that there may be: the kernel takes those that there are.
fn pin_outside(scene: &Scene) -> Verdict {
    let process: u32 = scene.number(0)?;
    let all = [u64::MAX; 16];
    let arguments = [Argument::Number(process.into()), Argument::Number(128), Argument::Words(&all)];
    gate(call(libc::SYS_sched_setaffinity, arguments), &[])
}

/// To the policy for processes that want little.
fn reschedule_outside(scene: &Scene) -> Verdict {
    let process: u32 = scene.number(0)?;
    let policy = i64::from(libc::SCHED_BATCH);
    let priority = [0];
    gate(
        call(
            libc::SYS_sched_setscheduler,
            [Argument::Number(process.into()), Argument::Number(policy), Argument::Words(&priority)],
        ),
        &[],
    )
}

/// To the best-effort class in its lowest place.
fn io_priority_outside(scene: &Scene) -> Verdict {
    const WHO_PROCESS: i64 = 1;
    const BEST_EFFORT_LAST: i64 = 2 << 13 | 7;
    let process: u32 = scene.number(0)?;
    let arguments =
        [Argument::Number(WHO_PROCESS), Argument::Number(process.into()), Argument::Number(BEST_EFFORT_LAST)];
    gate(call(libc::SYS_ioprio_set, arguments), &[])
}

fn limit_outside(scene: &Scene) -> Verdict {
    let process: u32 = scene.number(0)?;
    let mut limit = [0; 2];
    let arguments = [
        Argument::Number(process.into()),
        Argument::Number(libc::RLIMIT_NOFILE.into()),
        Argument::Null,
        Argument::FillWords(&mut limit),
    ];
    call(libc::SYS_prlimit64, arguments)?;
    Ok(escaped(format!("read a limit of process {process}")))
}

fn process_descriptor(process: u32) -> std::io::Result<OwnedFd> {
    call_for_descriptor(libc::SYS_pidfd_open, [Argument::Number(process.into()), Argument::Number(0)])
}

/// Descriptor 0 may be closed over there: that is found out after the permission check.
pub(crate) fn take_descriptor(process: u32) -> Verdict {
    let target = process_descriptor(process)?;
    let arguments = [Argument::Number(target.as_raw_fd().into()), Argument::Number(0), Argument::Number(0)];
    gate(call(libc::SYS_pidfd_getfd, arguments), &[libc::EBADF])
}

/// No range at all is advised on, but who asks is checked all the same.
fn advise_outside(scene: &Scene) -> Verdict {
    let target = process_descriptor(scene.number(0)?)?;
    let arguments = [
        Argument::Number(target.as_raw_fd().into()),
        Argument::Null,
        Argument::Number(0),
        Argument::Number(libc::MADV_COLD.into()),
        Argument::Number(0),
    ];
    gate(call(libc::SYS_process_madvise, arguments), &[])
}

fn enter_outside_network(scene: &Scene) -> Verdict {
    let target = process_descriptor(scene.number(0)?)?;
    let arguments = [Argument::Number(target.as_raw_fd().into()), Argument::Number(libc::CLONE_NEWNET.into())];
    gate(call(libc::SYS_setns, arguments), &[])
}
