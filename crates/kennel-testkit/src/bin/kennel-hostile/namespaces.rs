//! Attempts to make or to enter namespaces, and to get past the native system call table.

use std::fs::File;
use std::os::fd::AsRawFd;

use crate::Runner;
use crate::contain::{End, in_child, wait};
use crate::errno;
use crate::finding::{Setup, Verdict, blocked, escaped, gate, not_possible};
use crate::scene::Scene;
use crate::system::{Argument, call};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("unshare_user", |_| unshare(libc::CLONE_NEWUSER)),
    ("unshare_mount", |_| unshare(libc::CLONE_NEWNS)),
    ("unshare_network", |_| unshare(libc::CLONE_NEWNET)),
    ("unshare_pid", |_| unshare(libc::CLONE_NEWPID)),
    ("unshare_uts", |_| unshare(libc::CLONE_NEWUTS)),
    ("unshare_ipc", |_| unshare(libc::CLONE_NEWIPC)),
    ("unshare_cgroup", |_| unshare(libc::CLONE_NEWCGROUP)),
    ("clone_user", clone_user),
    ("clone3_user", clone3_user),
    ("enter_init_mount", |_| enter_init("mnt", libc::CLONE_NEWNS)),
    ("enter_init_network", |_| enter_init("net", libc::CLONE_NEWNET)),
    ("enter_init_pid", |_| enter_init("pid", libc::CLONE_NEWPID)),
    ("enter_init_user", |_| enter_init("user", libc::CLONE_NEWUSER)),
    ("i386_system_call", i386_system_call),
    ("x32_system_call", x32_system_call),
];

fn unshare(kind: i32) -> Verdict {
    gate(call(libc::SYS_unshare, [Argument::Number(kind.into())]), &[])
}

fn enter_init(name: &str, kind: i32) -> Verdict {
    let namespace = File::open(format!("/proc/1/ns/{name}"))?;
    let arguments = [Argument::Number(namespace.as_raw_fd().into()), Argument::Number(kind.into())];
    gate(call(libc::SYS_setns, arguments), &[])
}

/// The child of a raw clone goes on in this very code; it leaves at once.
fn judge_clone(result: std::io::Result<i64>) -> Verdict {
    let child = result?;
    if child == 0 {
        // SAFETY: ends the new child at once.
        unsafe { libc::_exit(0) }
    }
    wait(libc::pid_t::try_from(child).unwrap_or_default()).setup("wait for the child")?;
    Ok(escaped("made a process in a new user namespace"))
}

fn clone_user(_: &Scene) -> Verdict {
    let flags = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    judge_clone(call(libc::SYS_clone, [Argument::Number(flags)]))
}

fn clone3_user(_: &Scene) -> Verdict {
    let mut request = [0_u64; 11];
    request[0] = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
    request[4] = u64::from(libc::SIGCHLD.cast_unsigned());
    judge_clone(call(libc::SYS_clone3, [Argument::Words(&request), Argument::Number(88)]))
}

/// A child may die of it, by the filter or because the kernel has no such door.
fn i386_system_call(_: &Scene) -> Verdict {
    if !cfg!(target_arch = "x86_64") {
        return Ok(not_possible("only x86-64 has these calls"));
    }
    let own_number = || i32::from(i386_getpid() != std::process::id().cast_signed());
    Ok(match in_child(own_number).setup("make a child process")? {
        End::Exited(0) => escaped("the 32-bit getpid answered"),
        End::Exited(_) => blocked("the 32-bit getpid was refused"),
        End::Killed { signal, .. } => blocked(format!("killed by {}", errno::signal_name(signal))),
    })
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn i386_getpid() -> i32 {
    let mut result = 20;
    // SAFETY: getpid takes no pointer; the registers that this door may spoil are declared.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("eax") result,
            lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _,
        );
    }
    result
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn i386_getpid() -> i32 {
    -1
}

fn x32_system_call(_: &Scene) -> Verdict {
    const X32_BIT: libc::c_long = 0x4000_0000;
    if !cfg!(target_arch = "x86_64") {
        return Ok(not_possible("only x86-64 has these calls"));
    }
    gate(call(X32_BIT | libc::SYS_getpid, []), &[])
}
