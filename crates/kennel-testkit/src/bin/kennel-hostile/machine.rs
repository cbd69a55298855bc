//! Attempts to change the whole machine: its kernel, clock, name, swap, ports. None can succeed:
//! each has an argument that no kernel accepts, and the error tells how far the call came.

use std::ffi::CStr;

use crate::Runner;
use crate::finding::{Verdict, gate};
use crate::scene::Scene;
use crate::system::Argument::{Bytes, FillWords, Null, Number, Text, Words};
use crate::system::call;

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("kexec_load", kexec_load),
    ("kexec_file_load", kexec_file_load),
    ("init_module", init_module),
    ("finit_module", finit_module),
    ("delete_module", delete_module),
    ("iopl", iopl),
    ("ioperm", ioperm),
    ("swapon", swapon),
    ("swapoff", swapoff),
    ("reboot", reboot),
    ("acct", acct),
    ("quotactl", quotactl),
    ("settimeofday", settimeofday),
    ("clock_adjtime", clock_adjtime),
    ("sethostname", |_| set_name(libc::SYS_sethostname)),
    ("setdomainname", |_| set_name(libc::SYS_setdomainname)),
];

const NOTHING: &CStr = c"/kennel-hostile-nothing";

/// Far more segments than there may be.
fn kexec_load(_: &Scene) -> Verdict {
    let arguments = [Number(0), Number(1 << 20), Null, Number(0)];
    gate(call(libc::SYS_kexec_load, arguments), &[libc::EINVAL])
}

/// A flag that does not exist.
fn kexec_file_load(_: &Scene) -> Verdict {
    let arguments = [Number(-1), Number(-1), Number(0), Null, Number(1 << 30)];
    gate(call(libc::SYS_kexec_file_load, arguments), &[libc::EINVAL])
}

/// Four bytes that are no module.
fn init_module(_: &Scene) -> Verdict {
    let arguments = [Bytes(b"none"), Number(4), Text(c"")];
    gate(call(libc::SYS_init_module, arguments), &[libc::ENOEXEC])
}

fn finit_module(_: &Scene) -> Verdict {
    let arguments = [Number(-1), Text(c""), Number(0)];
    gate(call(libc::SYS_finit_module, arguments), &[libc::EBADF])
}

fn delete_module(_: &Scene) -> Verdict {
    let arguments = [Text(c"kennel_hostile_nothing"), Number(libc::O_NONBLOCK.into())];
    gate(call(libc::SYS_delete_module, arguments), &[libc::ENOENT])
}

/// For this process only; no port is touched.
#[cfg(target_arch = "x86_64")]
fn iopl(_: &Scene) -> Verdict {
    gate(call(libc::SYS_iopl, [Number(3)]), &[])
}

/// The port of the power-on self test; it is not touched.
#[cfg(target_arch = "x86_64")]
fn ioperm(_: &Scene) -> Verdict {
    gate(call(libc::SYS_ioperm, [Number(0x80), Number(1), Number(1)]), &[])
}

#[cfg(not(target_arch = "x86_64"))]
fn iopl(_: &Scene) -> Verdict {
    Ok(crate::finding::not_possible("only x86-64 has this call"))
}

#[cfg(not(target_arch = "x86_64"))]
fn ioperm(_: &Scene) -> Verdict {
    Ok(crate::finding::not_possible("only x86-64 has this call"))
}

fn swapon(_: &Scene) -> Verdict {
    gate(call(libc::SYS_swapon, [Text(NOTHING), Number(0)]), &[libc::ENOENT])
}

fn swapoff(_: &Scene) -> Verdict {
    gate(call(libc::SYS_swapoff, [Text(NOTHING)]), &[libc::ENOENT])
}

/// Neither magic number is right.
fn reboot(_: &Scene) -> Verdict {
    let arguments = [Number(0), Number(0), Number(0), Null];
    gate(call(libc::SYS_reboot, arguments), &[libc::EINVAL])
}

fn acct(_: &Scene) -> Verdict {
    gate(call(libc::SYS_acct, [Text(NOTHING)]), &[libc::ENOENT])
}

/// Asks for the quota of user 0 on a device that does not exist.
fn quotactl(_: &Scene) -> Verdict {
    const GET_QUOTA: i64 = 0x80_0007 << 8;
    let mut quota = [0; 16];
    let arguments = [Number(GET_QUOTA), Text(NOTHING), Number(0), FillWords(&mut quota)];
    gate(call(libc::SYS_quotactl, arguments), &[libc::ENOENT, libc::ENOTBLK])
}

/// No time, and a time zone of more than fifteen hours.
fn settimeofday(_: &Scene) -> Verdict {
    let zone = [10_000];
    gate(call(libc::SYS_settimeofday, [Null, Words(&zone)]), &[libc::EINVAL])
}

/// A tick of no length.
fn clock_adjtime(_: &Scene) -> Verdict {
    const ADJUST_TICK: u64 = 0x4000;
    let mut request = [0_u64; 26];
    request[0] = ADJUST_TICK;
    let arguments = [Number(libc::CLOCK_REALTIME.into()), FillWords(&mut request)];
    gate(call(libc::SYS_clock_adjtime, arguments), &[libc::EINVAL])
}

/// A name of negative length.
fn set_name(number: libc::c_long) -> Verdict {
    gate(call(number, [Null, Number(-1)]), &[libc::EINVAL])
}
