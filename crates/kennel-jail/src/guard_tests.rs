use super::*;
use crate::assembler::ARCHITECTURE;
use crate::assembler::tests::run;

const FD: u64 = CHANNEL as u64;
const OTHER: u64 = 5;

fn allows(number: i64, arguments: &[u64]) -> bool {
    let guard = Guard::compile().unwrap();
    match run(&guard.0, ARCHITECTURE, u32::try_from(number).unwrap(), arguments) {
        libc::SECCOMP_RET_ALLOW => true,
        other => {
            assert_eq!(other, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(), "system call {number}");
            false
        }
    }
}

#[test]
fn only_calls_of_the_table_are_refused_on_the_channel() {
    let verdicts = verdicts();
    for number in 0..1000 {
        let expected = !verdicts.contains_key(&number);
        // The third argument has not the bit by which a range is only marked.
        assert_eq!(allows(number, &[FD, FD, FD, 0]), expected, "system call {number}");
        assert!(allows(number, &[OTHER, OTHER, OTHER, 0]), "system call {number} on another descriptor");
    }
    assert!(allows(libc::SYS_sendmsg, &[FD, 0, 0]) && allows(libc::SYS_recvmsg, &[FD, 0, 0]));
}

#[test]
fn the_channel_is_known_by_the_bits_that_the_kernel_looks_at() {
    assert!(!allows(libc::SYS_write, &[FD | 1 << 32, 0, 0]));
    assert!(!allows(libc::SYS_dup3, &[5, FD | 7 << 40, 0]));
}

#[test]
fn a_copy_is_refused_in_either_direction() {
    for call in [libc::SYS_dup3, libc::SYS_tee, libc::SYS_sendfile] {
        assert!(!allows(call, &[FD, 5, 0]) && !allows(call, &[5, FD, 0]) && allows(call, &[5, 6, FD]), "{call}");
    }
    for call in [libc::SYS_splice, libc::SYS_copy_file_range] {
        assert!(!allows(call, &[FD, 0, 5]) && !allows(call, &[5, 0, FD]) && allows(call, &[5, FD, 6]), "{call}");
    }
}

#[test]
fn the_flags_may_be_asked_for_and_no_copy_made() {
    for (command, allowed) in [
        (libc::F_GETFD, true),
        (libc::F_SETFD, true),
        (libc::F_GETFL, true),
        (libc::F_SETFL, false),
        (libc::F_DUPFD, false),
        (libc::F_DUPFD_CLOEXEC, false),
        (libc::F_SETOWN, false),
    ] {
        let command = u64::try_from(command).unwrap();
        assert_eq!(allows(libc::SYS_fcntl, &[FD, command, 0]), allowed, "command {command}");
        assert!(allows(libc::SYS_fcntl, &[OTHER, command, 0]), "command {command} on another descriptor");
    }
}

#[test]
fn a_range_is_closed_beside_the_channel_and_marked_over_it() {
    let last = u64::from(u32::MAX);
    for (first, end, allowed) in
        [(0, FD - 1, true), (FD + 1, last, true), (FD, FD, false), (FD, last, false), (3, FD, false), (0, last, false)]
    {
        assert_eq!(allows(libc::SYS_close_range, &[first, end, 0]), allowed, "{first} to {end}");
        assert!(allows(libc::SYS_close_range, &[first, end, 4]), "marking {first} to {end}");
        assert_eq!(allows(libc::SYS_close_range, &[first, end, 2]), allowed, "unsharing {first} to {end}");
    }
}
