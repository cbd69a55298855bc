//! System V and POSIX IPC: attempts on what a process outside shares, and the act that shares it and tells afterwards
//! whether anybody has touched it.

use std::ffi::{CStr, CString};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;

use crate::Runner;
use crate::finding::{Verdict, escaped};
use crate::scene::Scene;
use crate::system::Argument::{Bytes, Fill, Null, Number, Text, Words};
use crate::system::{call, call_for_descriptor};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("attach_outside_memory", attach_outside_memory),
    ("change_outside_semaphore", change_outside_semaphore),
    ("take_outside_message", take_outside_message),
    ("take_outside_posix_message", take_outside_posix_message),
];

/// Open to everyone: only a box keeps others out.
const MODE: i64 = 0o666;
const SIZE: usize = 4096;
const CONTENT: &[u8] = b"not for boxes";
const VALUE: i64 = 5;
/// The type of the message in eight bytes, then its text.
const MESSAGE: &[u8] = b"\x01\0\0\0\0\0\0\0x";

fn attach_outside_memory(scene: &Scene) -> Verdict {
    with_segment(scene.number(0)?, |bytes| bytes[0] = b'!')?;
    Ok(escaped("wrote to the segment"))
}

fn change_outside_semaphore(scene: &Scene) -> Verdict {
    let set: i64 = scene.number(0)?;
    call(libc::SYS_semctl, [Number(set), Number(0), Number(libc::SETVAL.into()), Number(VALUE + 1)])?;
    Ok(escaped("set the semaphore"))
}

fn take_outside_message(scene: &Scene) -> Verdict {
    take_message(scene.number(0)?)?;
    Ok(escaped("took the message"))
}

fn take_outside_posix_message(scene: &Scene) -> Verdict {
    let name = CString::new(scene.text(0)?).unwrap_or_default();
    let arguments = [Text(&name), Number((libc::O_RDWR | libc::O_NONBLOCK).into()), Number(0), Null];
    take_posix_message(&call_for_descriptor(libc::SYS_mq_open, arguments)?)?;
    Ok(escaped("took the message"))
}

/// Makes a POSIX queue of the usual size.
pub(crate) fn make_queue(name: &CStr) -> io::Result<OwnedFd> {
    // Flags, messages, bytes of each, and how many there are.
    let attributes = [0_u64, 10, 8192, 0, 0, 0, 0, 0];
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NONBLOCK;
    let arguments = [Text(name), Number(flags.into()), Number(MODE), Words(&attributes)];
    call_for_descriptor(libc::SYS_mq_open, arguments)
}

pub(crate) fn remove_queue(name: &CStr) -> io::Result<i64> {
    call(libc::SYS_mq_unlink, [Text(name)])
}

/// Attaches a segment for as long as it is looked at.
fn with_segment<T>(segment: i64, look: impl FnOnce(&mut [u8]) -> T) -> io::Result<T> {
    let id = i32::try_from(segment).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: the kernel chooses the place; the segment has the size that `share` gives it.
    let place = unsafe { libc::shmat(id, std::ptr::null(), 0) };
    if place.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: attached above for reading and writing, and taken down only after the last use.
    let seen = look(unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), SIZE) });
    // SAFETY: the address is the one that was attached.
    unsafe { libc::shmdt(place) };
    Ok(seen)
}

fn take_message(queue: i64) -> io::Result<i64> {
    let mut message = [0; 16];
    let flags = i64::from(libc::IPC_NOWAIT);
    call(libc::SYS_msgrcv, [Number(queue), Fill(&mut message), Number(8), Number(0), Number(flags)])
}

fn take_posix_message(queue: &OwnedFd) -> io::Result<i64> {
    let mut message = [0; 8192];
    let arguments = [Number(queue.as_raw_fd().into()), Fill(&mut message), Number(8192), Null, Null];
    call(libc::SYS_mq_timedreceive, arguments)
}

/// What this process shares with whoever may reach it.
struct Shared {
    segment: i64,
    semaphores: i64,
    messages: i64,
    queue: (CString, OwnedFd),
}

impl Shared {
    fn make() -> io::Result<Self> {
        const PRIVATE: i64 = 0;
        let segment = call(libc::SYS_shmget, [Number(PRIVATE), Number(SIZE.cast_signed() as i64), Number(MODE)])?;
        with_segment(segment, |bytes| bytes[..CONTENT.len()].copy_from_slice(CONTENT))?;
        let semaphores = call(libc::SYS_semget, [Number(PRIVATE), Number(1), Number(MODE)])?;
        call(libc::SYS_semctl, [Number(semaphores), Number(0), Number(libc::SETVAL.into()), Number(VALUE)])?;
        let messages = call(libc::SYS_msgget, [Number(PRIVATE), Number(MODE)])?;
        call(libc::SYS_msgsnd, [Number(messages), Bytes(MESSAGE), Number(1), Number(0)])?;
        let name = CString::new(format!("kennel-hostile-{}", std::process::id())).unwrap_or_default();
        // SAFETY: only sets the mask of this process, so that the mode holds as it is said.
        unsafe { libc::umask(0) };
        let queue = make_queue(&name)?;
        let arguments = [Number(queue.as_raw_fd().into()), Bytes(CONTENT), Number(1), Number(0), Null];
        call(libc::SYS_mq_timedsend, arguments)?;
        Ok(Self { segment, semaphores, messages, queue: (name, queue) })
    }

    /// What somebody else has done.
    fn touched(&self) -> Vec<&'static str> {
        let mut touched = Vec::new();
        let whole = with_segment(self.segment, |bytes| bytes.starts_with(CONTENT));
        let value = call(libc::SYS_semctl, [Number(self.semaphores), Number(0), Number(libc::GETVAL.into())]);
        for (what, is_fine) in [
            ("segment", whole.is_ok_and(|whole| whole)),
            ("semaphore", value.is_ok_and(|value| value == VALUE)),
            ("message", take_message(self.messages).is_ok()),
            ("POSIX message", take_posix_message(&self.queue.1).is_ok()),
        ] {
            if !is_fine {
                touched.push(what);
            }
        }
        touched
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nothing is left of it but what somebody else has removed already.
        let remove = Number(libc::IPC_RMID.into());
        let _ = call(libc::SYS_shmctl, [Number(self.segment), remove, Null]);
        let _ = call(libc::SYS_semctl, [Number(self.semaphores), Number(0), Number(libc::IPC_RMID.into())]);
        let _ = call(libc::SYS_msgctl, [Number(self.messages), Number(libc::IPC_RMID.into()), Null]);
        let _ = remove_queue(&self.queue.0);
    }
}

/// Shares, says what, and when its input ends, whether anybody has touched it.
pub(crate) fn share() -> ExitCode {
    let shared = match Shared::make() {
        Ok(shared) => shared,
        Err(error) => return super::usage(&format!("nothing can be shared: {error}")),
    };
    let name = shared.queue.0.to_string_lossy();
    println!("{} {} {} {name}", shared.segment, shared.semaphores, shared.messages);
    // Whoever waits for the line gets it now; the end of the input is all that is waited for.
    let _ = io::stdout().flush();
    let _ = io::stdin().read_to_end(&mut Vec::new());
    let touched = shared.touched();
    println!("touched: {}", if touched.is_empty() { "nothing".to_owned() } else { touched.join(", ") });
    ExitCode::SUCCESS
}
