//! The system calls that no kept crate wraps; every `unsafe` of the jail's making is here.

use crate::report::ExitStatus;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::CString;

/// libc has this one in too narrow a type.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Which side of a clone the caller is on.
pub(crate) enum Cloned {
    /// The caller, with the new process's id.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Duplicates the calling process into the given new namespaces, and into a cgroup of version 2 if one is given.
///
/// The helper and the init are single-threaded, so the child may go on as if nothing had happened:
/// no lock can be held by a thread that the child lacks.
pub(crate) fn clone_process(namespaces: libc::c_int, cgroup: Option<BorrowedFd<'_>>) -> Result<Cloned, Errno> {
    let Some(cgroup) = cgroup else {
        let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
        // SAFETY: without CLONE_VM and with a null stack this is fork; no pointer is passed.
        return cloned(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) });
    };
    // SAFETY: all-zero bytes are valid arguments of clone3.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = u64::from(namespaces.cast_unsigned()) | CLONE_INTO_CGROUP;
    arguments.exit_signal = u64::from(libc::SIGCHLD.cast_unsigned());
    arguments.cgroup = u64::from(cgroup.as_raw_fd().cast_unsigned());
    // SAFETY: as above; the arguments outlive the call, their size is told, and none of them is a pointer.
    cloned(unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>()) })
}

fn cloned(result: libc::c_long) -> Result<Cloned, Errno> {
    if result < 0 {
        return Err(last_errno());
    }
    Ok(i32::try_from(result).ok().and_then(Pid::from_raw).map_or(Cloned::Child, Cloned::Parent))
}

/// Moves the calling process into new namespaces.
pub(crate) fn unshare(flags: rustix::thread::UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the callers are single-threaded and share no descriptor table, so none can be closed behind a thread's back.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Sends a signal to every process of the namespace but its init, which is the caller.
pub(crate) fn signal_all(signal: i32) -> Result<(), Errno> {
    if !rustix::process::getpid().is_init() {
        // Anywhere else this would be every process that the user has.
        return Err(Errno::PERM);
    }
    // SAFETY: takes no pointers.
    check(unsafe { libc::kill(-1, signal) })
}

/// Sends a signal to one process.
pub(crate) fn signal_one(pid: Pid, signal: i32) -> Result<(), Errno> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::kill(pid.as_raw_nonzero().get(), signal) })
}

/// A child that has ended.
pub(crate) struct Ended {
    pub(crate) pid: Pid,
    pub(crate) status: ExitStatus,
    /// The most memory it had at once, in bytes.
    pub(crate) peak_memory: u64,
}

/// Takes note of a child that has ended, if there is one.
pub(crate) fn next_ended() -> Option<Ended> {
    let mut status = 0;
    // SAFETY: all-zero bytes are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers lead to values that outlive the call.
    let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) };
    let pid = Pid::from_raw(pid.max(0))?;
    let status = if libc::WIFEXITED(status) {
        ExitStatus::Code(libc::WEXITSTATUS(status))
    } else {
        ExitStatus::Signal(libc::WTERMSIG(status))
    };
    Some(Ended { pid, status, peak_memory: u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10 })
}

/// Waits for the end of a child.
pub(crate) fn reap(pid: Pid) {
    while let Err(Errno::INTR) = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()) {}
}

/// Changes the attributes of a mount, and of those beneath it when asked.
pub(crate) fn mount_setattr(mount: impl AsFd, recursive: bool, attributes: &libc::mount_attr) -> Result<(), Errno> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string and the attributes outlive the call; their size is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    check(result)
}

/// Closes every descriptor but the standard streams and those given.
pub(crate) fn close_others(keep: &[RawFd]) -> Result<(), Errno> {
    let mut keep = keep.iter().map(|descriptor| descriptor.cast_unsigned()).collect::<Vec<_>>();
    keep.extend([0, 1, 2]);
    keep.sort_unstable();
    keep.push(u32::MAX);
    for gap in keep.windows(2).filter(|gap| gap[0] + 1 < gap[1]) {
        // SAFETY: the caller is a fresh clone that never returns to the code that owns the others.
        check(unsafe { libc::syscall(libc::SYS_close_range, gap[0] + 1, gap[1] - 1, 0) })?;
    }
    Ok(())
}

/// Copies a descriptor to a number, in place of what is there, to be kept when another program is executed.
pub(crate) fn put_at(descriptor: &OwnedFd, number: u32) -> Result<(), Errno> {
    let (from, to) = (descriptor.as_raw_fd(), number.cast_signed());
    if from == to {
        // A copy onto itself would keep its mark to be closed.
        return rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty());
    }
    // SAFETY: the caller is about to execute another program and uses nothing by this number any more.
    check(unsafe { libc::dup2(from, to) })
}

/// Marks every descriptor from `first` on to be closed when another program is executed.
pub(crate) fn close_from_on_exec(first: u32) -> Result<(), Errno> {
    // SAFETY: only sets a flag on descriptors; none is closed now.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) })
}

/// Gives up every capability that the calling process could ever regain by executing a program.
pub(crate) fn drop_bounding_set() -> Result<(), Errno> {
    for capability in 0..64 {
        // SAFETY: takes no pointers.
        match check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }) {
            // The kernel knows no more capabilities.
            Err(Errno::INVAL) => break,
            other => other?,
        }
    }
    Ok(())
}

/// Replaces the session keyring by a fresh one, so that a box holds none of the caller's keys.
pub(crate) fn leave_session_keyring() -> Result<(), Errno> {
    const JOIN_SESSION_KEYRING: libc::c_int = 1;
    // SAFETY: a null name asks for an anonymous keyring; nothing else is read.
    check(unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<libc::c_char>()) })
}

/// Blocks all signals and returns a descriptor that becomes readable when a child ends.
pub(crate) fn child_signals() -> Result<OwnedFd, Errno> {
    let mut all = empty_set();
    // SAFETY: the set is initialised and lives through the calls.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: as above; the old mask is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) })?;
    let mut child = empty_set();
    // SAFETY: the set is initialised and SIGCHLD is a valid signal.
    unsafe { libc::sigaddset(&raw mut child, libc::SIGCHLD) };
    // SAFETY: the set is initialised; -1 asks for a new descriptor.
    let descriptor = unsafe { libc::signalfd(-1, &raw const child, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    check(descriptor)?;
    // SAFETY: the kernel has just returned this descriptor to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Undoes what Rust's runtime and [`child_signals`] did to signals, so that a program finds them as it expects.
pub(crate) fn reset_signals() -> Result<(), Errno> {
    // SAFETY: the default action is valid for this signal.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let none = empty_set();
    // SAFETY: the set is initialised; the old mask is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) })
}

/// Executes a program in place of the caller; returns only the reason why not.
pub(crate) fn execute(program: &CString, argv: &[CString], env: &[CString]) -> Errno {
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: all strings are NUL-terminated and outlive the call; both arrays end with a null pointer.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    last_errno()
}

/// Ends the calling process at once, without running anything of Rust's or libc's.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: ends the process; takes no pointers.
    unsafe { libc::_exit(code) }
}

#[expect(clippy::cast_possible_truncation, reason = "both flags are in the lower 16 bits")]
const LOOPBACK_FLAGS: libc::c_short = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;

/// Brings up the loopback interface of the calling process's network namespace.
pub(crate) fn loopback_up() -> Result<(), Errno> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: all-zero bytes are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = LOOPBACK_FLAGS;
    // SAFETY: the request names an interface and its flags, as SIOCSIFFLAGS wants, and outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) })
}

/// Puts the calling process behind a seccomp filter; it must have given up new privileges before.
pub(crate) fn install_filter(program: &[libc::sock_filter]) -> Result<(), Errno> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program outlives the call, its length is told, and the kernel only reads it.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
}

/// The version of Landlock that this kernel has.
#[must_use]
pub fn landlock_version() -> Option<u32> {
    const VERSION: libc::c_uint = 1;
    let no_attributes = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes no attributes and only returns a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, no_attributes, 0_usize, VERSION) };
    u32::try_from(version).ok().filter(|&version| version > 0)
}

/// Takes over the descriptor that the parent has put in place of standard input.
pub(crate) fn take_stdin() -> OwnedFd {
    // SAFETY: the helper never uses standard input otherwise.
    unsafe { OwnedFd::from_raw_fd(0) }
}

fn empty_set() -> libc::sigset_t {
    // SAFETY: all-zero bytes are a valid, empty signal set on Linux.
    unsafe { std::mem::zeroed() }
}

fn last_errno() -> Errno {
    std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

fn check(result: impl Into<i64>) -> Result<(), Errno> {
    if result.into() < 0 { Err(last_errno()) } else { Ok(()) }
}
