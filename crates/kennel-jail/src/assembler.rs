//! Filters of system calls in the form that the kernel runs: from a verdict for each call to instructions.

use libc::sock_filter as Instruction;
use rustix::io::Errno;
use std::collections::BTreeMap;

/// Turns verdicts into a program: the architecture, then a binary search, then what decides on the call.
pub(crate) fn assemble<V: Copy + PartialEq>(
    verdicts: &BTreeMap<i64, V>,
    otherwise: V,
    decide: impl Fn(V) -> Option<Vec<Instruction>> + Copy,
) -> Option<Vec<Instruction>> {
    let mut program = vec![
        load(ARCHITECTURE_OFFSET),
        jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
        finish(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER_OFFSET),
    ];
    program.extend(search(&intervals(verdicts, otherwise)?, decide)?);
    Some(program)
}

/// The numbers from which on a verdict holds, ascending from 0; neighbours differ.
fn intervals<V: Copy + PartialEq>(verdicts: &BTreeMap<i64, V>, otherwise: V) -> Option<Vec<(u32, V)>> {
    let mut intervals = vec![(0, otherwise)];
    for (&number, &verdict) in verdicts {
        let number = u32::try_from(number).ok()?;
        intervals.retain(|(start, _)| *start != number);
        if intervals.last().is_none_or(|(_, before)| *before != verdict) {
            intervals.push((number, verdict));
        }
        intervals.push((number + 1, otherwise));
    }
    intervals.dedup_by_key(|(_, verdict)| *verdict);
    Some(intervals)
}

/// Finds the interval of the loaded number. A jump reaches 255 instructions, which halves the program and more.
fn search<V: Copy>(
    intervals: &[(u32, V)],
    decide: impl Fn(V) -> Option<Vec<Instruction>> + Copy,
) -> Option<Vec<Instruction>> {
    if let [(_, verdict)] = intervals {
        return decide(*verdict);
    }
    let (left, right) = intervals.split_at(intervals.len() / 2);
    let (left, right, start) = (search(left, decide)?, search(right, decide)?, right.first()?.0);
    let mut program = vec![jump(libc::BPF_JGE, start, u8::try_from(left.len()).ok()?, 0)];
    program.extend(left);
    program.extend(right);
    Some(program)
}

/// Where the kernel puts what a filter may look at; arguments have 64 bits, the lower half first on these machines.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

#[cfg(target_arch = "x86_64")]
pub(crate) const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCHITECTURE: u32 = 0xc000_00b7;

fn load(offset: u32) -> Instruction {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, [0, 0], offset)
}

/// Loads the lower half of an argument.
pub(crate) fn load_argument(argument: u32) -> Instruction {
    load(ARGUMENTS_OFFSET + 8 * argument)
}

/// Loads the upper half of an argument.
pub(crate) fn load_upper_argument(argument: u32) -> Instruction {
    load(ARGUMENTS_OFFSET + 8 * argument + 4)
}

/// Compares what is loaded and leaves out so many instructions on a hit, and so many on a miss.
pub(crate) fn jump(condition: u32, value: u32, hit: u8, miss: u8) -> Instruction {
    instruction(libc::BPF_JMP | condition | libc::BPF_K, [hit, miss], value)
}

/// Ends the program with what happens to the call.
pub(crate) fn finish(action: u32) -> Instruction {
    instruction(libc::BPF_RET | libc::BPF_K, [0, 0], action)
}

#[expect(clippy::cast_possible_truncation, reason = "no code has more than 8 bits")]
fn instruction(code: u32, [jt, jf]: [u8; 2], k: u32) -> Instruction {
    Instruction { code: code as u16, jt, jf, k }
}

/// Ends the program with an error in place of the call.
pub(crate) fn refuse(errno: Errno) -> Instruction {
    finish(libc::SECCOMP_RET_ERRNO | errno.raw_os_error().cast_unsigned())
}

#[cfg(test)]
#[path = "assembler_tests.rs"]
pub(crate) mod tests;
