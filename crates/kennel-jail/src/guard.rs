//! What keeps the channel of a process where it is: a second, small filter that leaves its descriptor to two calls.
//!
//! Code that writes to, reads from, closes or copies descriptors without knowing whose they are does no harm to the
//! channel. A program that goes after it can: it may use `sendmsg` and `recvmsg` itself, and pass the descriptor to
//! itself by them. What it says then is for Kennel to judge.

use crate::assembler::{assemble, finish, jump, load_argument, refuse};
use crate::error::{InStage, Stage, StageError};
use crate::sys;
use libc::sock_filter as Instruction;
use rustix::io::Errno;
use std::collections::BTreeMap;

/// The descriptor of a process's channel.
///
/// Far from those that programs get for what they open: the guard holds for programs that the process executes too,
/// and one of those could neither read nor close what it opened under the number of the channel.
pub const CHANNEL: u32 = 1000;

/// A compiled guard.
pub(crate) struct Guard(Vec<Instruction>);

impl Guard {
    /// Compiles the guard.
    pub(crate) fn compile() -> Result<Self, StageError> {
        assemble(&verdicts(), Verdict::Allow, decide).ok_or(Errno::INVAL).in_stage(Stage::Seccomp, "channel").map(Self)
    }

    /// Puts the calling process and all its children behind the guard for good.
    pub(crate) fn install(&self) -> Result<(), StageError> {
        sys::install_filter(&self.0).in_stage(Stage::Seccomp, "channel")
    }
}

/// What happens to a call. The kernel takes descriptors and commands in 32 bits, so no more are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allow,
    /// Refuse if the first or this other argument is the channel.
    Spare {
        also: u32,
    },
    /// Refuse if the first argument is the channel and the second is none of these.
    SpareBut {
        commands: &'static [u32],
    },
    /// Refuse if the channel is between the first and the second argument, unless it is only marked.
    SpareRange,
}

/// Asking for the flags, and what becomes of the descriptor when another program is executed.
const HARMLESS_COMMANDS: [u32; 3] = [libc::F_GETFD as u32, libc::F_SETFD as u32, libc::F_GETFL as u32];

/// Every call that is not simply allowed.
fn verdicts() -> BTreeMap<i64, Verdict> {
    let first = ON_THE_FIRST.iter().map(|call| (*call, Verdict::Spare { also: 0 }));
    let second = [libc::SYS_dup3, libc::SYS_tee, libc::SYS_sendfile].map(|call| (call, Verdict::Spare { also: 1 }));
    let third = [libc::SYS_splice, libc::SYS_copy_file_range].map(|call| (call, Verdict::Spare { also: 2 }));
    let mut verdicts = first.chain(second).chain(third).collect::<BTreeMap<_, _>>();
    #[cfg(target_arch = "x86_64")]
    verdicts.insert(libc::SYS_dup2, Verdict::Spare { also: 1 });
    verdicts.insert(libc::SYS_fcntl, Verdict::SpareBut { commands: &HARMLESS_COMMANDS });
    verdicts.insert(libc::SYS_close_range, Verdict::SpareRange);
    verdicts
}

/// Calls whose first argument is the one descriptor that they use.
#[rustfmt::skip]
const ON_THE_FIRST: &[i64] = &[
    libc::SYS_read, libc::SYS_readv, libc::SYS_pread64, libc::SYS_preadv, libc::SYS_preadv2,
    libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64, libc::SYS_pwritev, libc::SYS_pwritev2,
    libc::SYS_recvfrom, libc::SYS_recvmmsg, libc::SYS_sendto, libc::SYS_sendmmsg,
    libc::SYS_shutdown, libc::SYS_setsockopt, libc::SYS_vmsplice, libc::SYS_dup, libc::SYS_close,
];

fn decide(verdict: Verdict) -> Option<Vec<Instruction>> {
    let (allow, deny) = (finish(libc::SECCOMP_RET_ALLOW), refuse(Errno::PERM));
    Some(match verdict {
        Verdict::Allow => vec![allow],
        Verdict::Spare { also: 0 } => vec![load_argument(0), jump(libc::BPF_JEQ, CHANNEL, 1, 0), allow, deny],
        Verdict::Spare { also } => vec![
            load_argument(0),
            jump(libc::BPF_JEQ, CHANNEL, 3, 0),
            load_argument(also),
            jump(libc::BPF_JEQ, CHANNEL, 1, 0),
            allow,
            deny,
        ],
        Verdict::SpareBut { commands } => {
            let count = u8::try_from(commands.len()).ok()?;
            let mut program = vec![load_argument(0), jump(libc::BPF_JEQ, CHANNEL, 1, 0), allow, load_argument(1)];
            for (command, left) in commands.iter().zip((1..=count).rev()) {
                program.push(jump(libc::BPF_JEQ, *command, left, 0));
            }
            program.extend([deny, allow]);
            program
        }
        Verdict::SpareRange => vec![
            load_argument(0),
            jump(libc::BPF_JGE, CHANNEL + 1, 4, 0),
            load_argument(1),
            jump(libc::BPF_JGE, CHANNEL, 0, 2),
            load_argument(2),
            jump(libc::BPF_JSET, libc::CLOSE_RANGE_CLOEXEC, 0, 1),
            allow,
            deny,
        ],
    })
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
