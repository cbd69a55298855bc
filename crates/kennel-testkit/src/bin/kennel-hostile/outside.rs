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
