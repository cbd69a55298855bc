//! Attempts to reach parts of the kernel that have often been broken: keys, BPF, counters, rings.
//! What is made lives in this process only, and ends with it.

use std::fs::File;
use std::os::fd::AsRawFd;

use crate::Runner;
use crate::finding::{Setup, Verdict, gate};
use crate::scene::Scene;
use crate::system::Argument::{Bytes, Fill, FillWords, Null, Number, Text, Words};
use crate::system::call;

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("keyctl", keyctl),
    ("add_key", add_key),
    ("request_key", request_key),
    ("bpf", bpf),
    ("perf_event_open", perf_event_open),
    ("io_uring_setup", io_uring_setup),
    ("aio_context", aio_context),
    ("userfaultfd", userfaultfd),
    ("name_to_handle", name_to_handle),
    ("open_by_handle", open_by_handle),
    ("lookup_dcookie", lookup_dcookie),
    ("nfsservctl", nfsservctl),
    ("fanotify", fanotify),
    ("read_kernel_log", read_kernel_log),
];

const PROCESS_KEYRING: i64 = -2;
const SESSION_KEYRING: i64 = -3;

/// Asks for the session keyring's number; that there is none is also an answer.
fn keyctl(_: &Scene) -> Verdict {
    const GET_KEYRING_ID: i64 = 0;
    let arguments = [Number(GET_KEYRING_ID), Number(SESSION_KEYRING), Number(0)];
    gate(call(libc::SYS_keyctl, arguments), &[libc::ENOKEY])
}

fn add_key(_: &Scene) -> Verdict {
    let arguments = [Text(c"user"), Text(c"kennel-hostile"), Bytes(b"x"), Number(1), Number(PROCESS_KEYRING)];
    gate(call(libc::SYS_add_key, arguments), &[libc::EDQUOT])
}

/// Without call-out information the kernel only searches, and starts no program.
fn request_key(_: &Scene) -> Verdict {
    let arguments = [Text(c"user"), Text(c"kennel-hostile-nothing"), Null, Number(PROCESS_KEYRING)];
    gate(call(libc::SYS_request_key, arguments), &[libc::ENOKEY])
}

fn bpf(_: &Scene) -> Verdict {
    const MAP_CREATE: i64 = 0;
    const ARRAY: u64 = 2;
    // Type and key size, value size and entries: an array of one 4-byte value.
    let mut request = [0_u64; 9];
    request[0] = ARRAY | 4 << 32;
    request[1] = 4 | 1 << 32;
    gate(call(libc::SYS_bpf, [Number(MAP_CREATE), Words(&request), Number(72)]), &[])
}

fn perf_event_open(_: &Scene) -> Verdict {
    const SOFTWARE: u64 = 1;
    const DISABLED_AND_USER_ONLY: u64 = 1 | 1 << 5 | 1 << 6;
    // Type and size, clock as the event, then the flags: the first published form of 64 bytes.
    let request = [SOFTWARE | 64 << 32, 0, 0, 0, 0, DISABLED_AND_USER_ONLY, 0, 0];
    let arguments = [Words(&request), Number(0), Number(-1), Number(-1), Number(0)];
    gate(call(libc::SYS_perf_event_open, arguments), &[])
}

fn io_uring_setup(_: &Scene) -> Verdict {
    let mut parameters = [0; 15];
    gate(call(libc::SYS_io_uring_setup, [Number(1), FillWords(&mut parameters)]), &[])
}

/// One event in flight at most; the context ends with the process.
fn aio_context(_: &Scene) -> Verdict {
    let mut context = [0];
    gate(call(libc::SYS_io_setup, [Number(1), FillWords(&mut context)]), &[])
}

fn userfaultfd(_: &Scene) -> Verdict {
    const USER_MODE_ONLY: i64 = 1;
    gate(call(libc::SYS_userfaultfd, [Number(USER_MODE_ONLY)]), &[])
}

/// Length and type in the first word, then room for the largest handle.
type Handle = [u64; 17];
const EMPTY_HANDLE: Handle = {
    let mut handle = [0; 17];
    handle[0] = 128;
    handle
};

fn handle_of_usr(handle: &mut Handle) -> std::io::Result<i64> {
    let mut mount = [0; 8];
    let arguments = [Number(libc::AT_FDCWD.into()), Text(c"/usr"), FillWords(handle), Fill(&mut mount), Number(0)];
    call(libc::SYS_name_to_handle_at, arguments)
}

fn name_to_handle(_: &Scene) -> Verdict {
    gate(handle_of_usr(&mut { EMPTY_HANDLE }), &[])
}

/// Where no handle can be had, an invented one is refused as stale only after the permission check.
fn open_by_handle(_: &Scene) -> Verdict {
    const INVENTED: u64 = 8 | 1 << 32;
    let mut handle = EMPTY_HANDLE;
    if handle_of_usr(&mut handle).is_err() {
        handle = [0; 17];
        handle[0] = INVENTED;
        handle[1] = 2;
    }
    let anchor = File::open("/usr").setup("open /usr")?;
    let arguments = [Number(anchor.as_raw_fd().into()), Words(&handle), Number(0)];
    gate(call(libc::SYS_open_by_handle_at, arguments), &[libc::ESTALE])
}

fn lookup_dcookie(_: &Scene) -> Verdict {
    let mut path = [0; 16];
    let arguments = [Number(0), Fill(&mut path), Number(16)];
    gate(call(libc::SYS_lookup_dcookie, arguments), &[libc::EINVAL, libc::ENOENT])
}

fn nfsservctl(_: &Scene) -> Verdict {
    gate(call(libc::SYS_nfsservctl, [Number(0), Null, Null]), &[libc::EINVAL])
}

/// Plain notification is open to everyone; a group that may decide on accesses is not.
fn fanotify(_: &Scene) -> Verdict {
    let class = i64::from(libc::FAN_CLASS_CONTENT);
    gate(call(libc::SYS_fanotify_init, [Number(class), Number(0)]), &[])
}

/// Reads a few bytes of the log, if it has any, without consuming or printing them.
fn read_kernel_log(_: &Scene) -> Verdict {
    const READ_ALL: i64 = 3;
    let mut text = [0; 64];
    gate(call(libc::SYS_syslog, [Number(READ_ALL), Fill(&mut text), Number(64)]), &[])
}
