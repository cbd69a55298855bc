//! The system calls a boxed program may make: an allow-list, in the spirit of the container engines' default.
//!
//! The filter is a search tree over the calls' numbers. The kernel runs a new filter once for every call that there
//! is, so a list that is searched from its beginning costs more than all else that makes a box.

use crate::assembler::{assemble, finish, jump, load_argument, load_upper_argument, refuse};
use crate::error::{InStage, Stage, StageError};
use crate::spec::Network;
use crate::sys;
use libc::sock_filter as Instruction;
use rustix::io::Errno;
use std::collections::BTreeMap;

/// A compiled filter.
pub(crate) struct Filter(Vec<Instruction>);

/// What surrounds the processes behind a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// Namespaces of their own: other processes, their memory and their sockets are out of sight.
    Namespaces,
    /// The host's, with all that the user runs.
    Host(Network),
}

impl Surroundings {
    fn sockets(self) -> &'static [u32] {
        match self {
            Self::Namespaces => SOCKETS,
            Self::Host(Network::On) => SOCKETS_OF_THE_HOST,
            Self::Host(Network::Off) => NO_SOCKETS,
        }
    }
}

impl Filter {
    /// Compiles the filter for these surroundings, without calls that a box may not make on this machine.
    pub(crate) fn compile(surroundings: Surroundings, refused: &[i64]) -> Result<Self, StageError> {
        let mut verdicts = verdicts();
        verdicts.insert(libc::SYS_socket, Verdict::AllowOnly { argument: 0, values: surroundings.sockets() });
        if surroundings != Surroundings::Namespaces {
            verdicts.retain(|call, _| !SYSTEM_V.contains(call) && !ON_OTHERS.contains(call));
            verdicts.extend(ON_ONESELF.map(|call| (call, Verdict::AllowOnly { argument: 0, values: &[0] })));
            verdicts.insert(libc::SYS_prlimit64, Verdict::AllowLimits { oneself: true });
        }
        verdicts.retain(|call, _| !refused.contains(call));
        assemble(&verdicts, Verdict::Refuse(Errno::PERM), decide)
            .ok_or(Errno::INVAL)
            .in_stage(Stage::Seccomp, "")
            .map(Self)
    }

    /// Puts the calling process and all its children behind the filter for good.
    pub(crate) fn install(&self) -> Result<(), StageError> {
        sys::install_filter(&self.0).in_stage(Stage::Seccomp, "")
    }
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allow,
    Refuse(Errno),
    /// Allow if an argument is one of these.
    AllowOnly {
        argument: u32,
        values: &'static [u32],
    },
    /// Refuse if an argument is one of these.
    AllowBut {
        argument: u32,
        values: &'static [u32],
    },
    /// Refuse if an argument has any of these bits.
    AllowWithout {
        argument: u32,
        bits: u32,
    },
    /// Pretend to set the limit on core dumps; where asked for, refuse to look at or set limits of others.
    AllowLimits {
        oneself: bool,
    },
    /// Pretend to set the limit that is named in the first argument.
    PretendToSet {
        limit: u32,
    },
    /// Refuse to create a file whose mode has any of these bits; the mode counts only where something is created.
    AllowOpening {
        flags: u32,
        mode: u32,
        bits: u32,
    },
}

/// Every call that is not simply refused.
fn verdicts() -> BTreeMap<i64, Verdict> {
    let mut verdicts: BTreeMap<i64, Verdict> = ALLOWED.iter().map(|&call| (call, Verdict::Allow)).collect();
    verdicts.extend([
        (libc::SYS_clone, Verdict::AllowWithout { argument: 0, bits: NAMESPACE_FLAGS }),
        // clone3 hides its flags in memory that a filter cannot read: programs are told that it does not exist
        // and fall back to clone.
        (libc::SYS_clone3, Verdict::Refuse(Errno::NOSYS)),
        // openat2 hides the mode of what it creates in the same way, and every user of it can do without.
        (libc::SYS_openat2, Verdict::Refuse(Errno::NOSYS)),
        (libc::SYS_openat, Verdict::AllowOpening { flags: 2, mode: 3, bits: SET_ID_BITS }),
        (libc::SYS_ioctl, Verdict::AllowBut { argument: 1, values: &REFUSED_IOCTLS }),
        (libc::SYS_prlimit64, Verdict::AllowLimits { oneself: false }),
        (libc::SYS_setrlimit, Verdict::PretendToSet { limit: libc::RLIMIT_CORE }),
        (libc::SYS_personality, Verdict::AllowOnly { argument: 0, values: &PERSONALITIES }),
    ]);
    let modes = [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (libc::SYS_fchmodat2, 2),
        (libc::SYS_mkdirat, 2),
        (libc::SYS_mknodat, 2),
    ];
    verdicts.extend(SCARCE.iter().map(|&call| (call, Verdict::Refuse(Errno::NOSYS))));
    verdicts.extend(modes.map(|(call, argument)| (call, Verdict::AllowWithout { argument, bits: SET_ID_BITS })));
    verdicts.extend(legacy_verdicts());
    verdicts
}

/// What the kernel has few of for all, or counts per user and not per box. Programs that know these calls can do
/// without: they ask whether the kernel has them.
const SCARCE: &[i64] = &[
    libc::SYS_io_setup,
    libc::SYS_io_destroy,
    libc::SYS_io_submit,
    libc::SYS_io_cancel,
    libc::SYS_io_getevents,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
];

/// System V IPC, which knows users but no paths, so that only a namespace keeps boxes and others apart.
const SYSTEM_V: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmdt,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
];

/// Calls that can mean all processes of a user at once.
const ON_OTHERS: &[i64] = &[libc::SYS_setpriority, libc::SYS_ioprio_set];

/// Calls whose first argument is a process, of which a box without a PID namespace may only mean itself.
const ON_ONESELF: [i64; 4] =
    [libc::SYS_sched_setaffinity, libc::SYS_sched_setparam, libc::SYS_sched_setscheduler, libc::SYS_sched_setattr];

/// The flags with which opening makes a file; the second shares a bit with the one that asks for a directory.
const CREATING: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;

/// A box leaves no program behind that would run as the owner of a directory granted for writing: outside, where
/// that means something, anybody could run it.
const SET_ID_BITS: u32 = libc::S_ISUID | libc::S_ISGID;

/// The sockets of a box with namespaces. Vsock, packet, alg and the rest reach past the network namespace or are
/// seldom-used kernel code.
const SOCKETS: &[u32] = &[libc::AF_UNIX as u32, libc::AF_INET as u32, libc::AF_INET6 as u32, libc::AF_NETLINK as u32];

/// The sockets of a box on the host's own network and root, where a Unix socket could be anybody's.
const SOCKETS_OF_THE_HOST: &[u32] = &[libc::AF_INET as u32, libc::AF_INET6 as u32, libc::AF_NETLINK as u32];

/// The sockets of a box that is to have no network but no network namespace either.
const NO_SOCKETS: &[u32] = &[libc::AF_NETLINK as u32];

/// Terminals may be used, but nobody types into them for the user, or gives them another line discipline.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes these numbers in 32 bits")]
const REFUSED_IOCTLS: [u32; 3] = [libc::TIOCSTI as u32, libc::TIOCLINUX as u32, libc::TIOCSETD as u32];

/// Those that container engines allow: Linux, 32-bit Linux, each without address randomisation, and asking.
const PERSONALITIES: [u32; 5] = [0, 0x0008, 0x0002_0000, 0x0002_0008, 0xffff_ffff];

const NAMESPACE_FLAGS: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// Calls allowed with any arguments on every architecture.
#[rustfmt::skip]
const ALLOWED: &[i64] = &[
    // Files and directories.
    libc::SYS_close, libc::SYS_close_range, libc::SYS_read, libc::SYS_write, libc::SYS_readv,
    libc::SYS_writev, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_preadv2,
    libc::SYS_pwritev2, libc::SYS_lseek, libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_statfs, libc::SYS_fstatfs,
    libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_getdents64, libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir,
    libc::SYS_unlinkat, libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_linkat, libc::SYS_symlinkat,
    libc::SYS_readlinkat, libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_umask,
    libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_utimensat,
    libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync, libc::SYS_syncfs, libc::SYS_sync_file_range, libc::SYS_fadvise64,
    libc::SYS_readahead, libc::SYS_copy_file_range, libc::SYS_sendfile, libc::SYS_splice, libc::SYS_tee, libc::SYS_vmsplice,
    libc::SYS_flock, libc::SYS_fcntl, libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch, libc::SYS_inotify_rm_watch, libc::SYS_memfd_create,
    libc::SYS_getxattr, libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr, libc::SYS_flistxattr,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr,
    // Waiting and timers.
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2, libc::SYS_eventfd2, libc::SYS_signalfd4, libc::SYS_timerfd_create, libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime, libc::SYS_nanosleep, libc::SYS_clock_nanosleep, libc::SYS_clock_gettime, libc::SYS_clock_getres,
    libc::SYS_gettimeofday, libc::SYS_times, libc::SYS_getitimer, libc::SYS_setitimer, libc::SYS_timer_create,
    libc::SYS_timer_settime, libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete,
    // Memory.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise, libc::SYS_mincore,
    libc::SYS_msync, libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock, libc::SYS_mlockall, libc::SYS_munlockall,
    libc::SYS_membarrier, libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect, libc::SYS_remap_file_pages,
    libc::SYS_mseal,
    // Processes and threads.
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4, libc::SYS_waitid, libc::SYS_getpid,
    libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgid, libc::SYS_setpgid, libc::SYS_getsid, libc::SYS_setsid, libc::SYS_kill,
    libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_set_tid_address,
    libc::SYS_set_robust_list, libc::SYS_get_robust_list, libc::SYS_futex, libc::SYS_futex_waitv,
    libc::SYS_rseq,
    libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_setaffinity, libc::SYS_sched_getparam,
    libc::SYS_sched_setparam, libc::SYS_sched_getscheduler, libc::SYS_sched_setscheduler, libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min, libc::SYS_sched_getattr, libc::SYS_sched_setattr, libc::SYS_sched_rr_get_interval,
    libc::SYS_getpriority, libc::SYS_setpriority, libc::SYS_ioprio_get, libc::SYS_ioprio_set, libc::SYS_getcpu,
    libc::SYS_prctl, libc::SYS_getrlimit, libc::SYS_getrusage, libc::SYS_sysinfo,
    libc::SYS_uname, libc::SYS_getrandom, libc::SYS_capget, libc::SYS_capset, libc::SYS_seccomp, libc::SYS_restart_syscall,
    // Users: inside the box there is one, and no way to become another.
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getresuid, libc::SYS_getresgid,
    libc::SYS_getgroups, libc::SYS_setuid, libc::SYS_setgid, libc::SYS_setreuid, libc::SYS_setregid, libc::SYS_setresuid,
    libc::SYS_setresgid, libc::SYS_setfsuid, libc::SYS_setfsgid, libc::SYS_setgroups,
    // Signals.
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigpending, libc::SYS_rt_sigsuspend, libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_rt_sigreturn, libc::SYS_sigaltstack,
    // Sockets and System V IPC, within the box's namespaces.
    libc::SYS_socketpair, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4, libc::SYS_connect,
    libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_getsockopt, libc::SYS_setsockopt, libc::SYS_shutdown, libc::SYS_sendto,
    libc::SYS_recvfrom, libc::SYS_sendmsg, libc::SYS_recvmsg, libc::SYS_sendmmsg, libc::SYS_recvmmsg,
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmdt, libc::SYS_shmctl, libc::SYS_semget, libc::SYS_semop, libc::SYS_semtimedop,
    libc::SYS_semctl, libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_msgrcv, libc::SYS_msgctl,
    // Landlock only ever takes rights away.
    libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self,
];

/// Calls of the first 64-bit x86 kernels that later architectures do without.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
fn legacy_verdicts() -> Vec<(i64, Verdict)> {
    let allowed = [
        libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_poll, libc::SYS_select, libc::SYS_getdents, libc::SYS_rmdir,
        libc::SYS_unlink, libc::SYS_rename, libc::SYS_link, libc::SYS_symlink, libc::SYS_readlink, libc::SYS_chown, libc::SYS_lchown,
        libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_dup2, libc::SYS_pipe, libc::SYS_fork, libc::SYS_vfork,
        libc::SYS_getpgrp, libc::SYS_alarm, libc::SYS_pause, libc::SYS_time, libc::SYS_epoll_create, libc::SYS_epoll_wait,
        libc::SYS_eventfd, libc::SYS_signalfd, libc::SYS_inotify_init, libc::SYS_arch_prctl,
    ];
    let modes = [libc::SYS_chmod, libc::SYS_creat, libc::SYS_mkdir, libc::SYS_mknod];
    let opening = (libc::SYS_open, Verdict::AllowOpening { flags: 1, mode: 2, bits: SET_ID_BITS });
    let allowed = allowed.map(|call| (call, Verdict::Allow));
    let modes = modes.map(|call| (call, Verdict::AllowWithout { argument: 1, bits: SET_ID_BITS }));
    allowed.into_iter().chain(modes).chain([opening]).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn legacy_verdicts() -> Vec<(i64, Verdict)> {
    Vec::new()
}

/// Ends the program with success in place of the call.
///
/// A crash in a box must start no program outside, and the one limit by which the kernel lets that be is not the one by
/// which programs turn off core dumps. They are off already; who turns them off once more is told that they are.
fn pretend() -> Instruction {
    finish(libc::SECCOMP_RET_ERRNO)
}

fn decide(verdict: Verdict) -> Option<Vec<Instruction>> {
    let (allow, deny) = (finish(libc::SECCOMP_RET_ALLOW), refuse(Errno::PERM));
    // Compared in 32 bits because the kernel looks at no more of these arguments; a filter that did could be passed
    // by setting the upper ones.
    let one_of = |argument, values: &[u32], hit, miss| {
        let mut program = vec![load_argument(argument)];
        for (index, value) in values.iter().enumerate() {
            program.push(jump(libc::BPF_JEQ, *value, u8::try_from(values.len() - index).ok()?, 0));
        }
        program.extend([miss, hit]);
        Some(program)
    };
    match verdict {
        Verdict::Allow => Some(vec![allow]),
        Verdict::Refuse(errno) => Some(vec![refuse(errno)]),
        Verdict::AllowOnly { argument, values } => one_of(argument, values, allow, deny),
        Verdict::AllowBut { argument, values } => one_of(argument, values, deny, allow),
        Verdict::AllowWithout { argument, bits } => {
            Some(vec![load_argument(argument), jump(libc::BPF_JSET, bits, 1, 0), allow, deny])
        }
        Verdict::PretendToSet { limit } => {
            Some(vec![load_argument(0), jump(libc::BPF_JEQ, limit, 1, 0), allow, pretend()])
        }
        Verdict::AllowLimits { oneself } => {
            // Whose limits, which one, where the new one is, where the old one is to be put.
            let mut program =
                if oneself { vec![load_argument(0), jump(libc::BPF_JEQ, 0, 1, 0), deny] } else { Vec::new() };
            program.extend([
                load_argument(1),
                jump(libc::BPF_JEQ, libc::RLIMIT_CORE, 1, 0),
                allow,
                load_argument(2),
                jump(libc::BPF_JEQ, 0, 0, 3),
                load_upper_argument(2),
                jump(libc::BPF_JEQ, 0, 0, 1),
                allow,
                // Who also asks for the old one could not be answered.
                load_argument(3),
                jump(libc::BPF_JEQ, 0, 0, 3),
                load_upper_argument(3),
                jump(libc::BPF_JEQ, 0, 0, 1),
                pretend(),
                deny,
            ]);
            Some(program)
        }
        Verdict::AllowOpening { flags, mode, bits } => Some(vec![
            load_argument(flags),
            jump(libc::BPF_JSET, CREATING, 0, 2),
            load_argument(mode),
            jump(libc::BPF_JSET, bits, 1, 0),
            allow,
            deny,
        ]),
    }
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;
