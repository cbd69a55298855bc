use super::*;
use crate::assembler::ARCHITECTURE;
use crate::assembler::tests::run;

fn outcome(number: i64, arguments: &[u64]) -> Result<(), Errno> {
    let filter = Filter::compile(Surroundings::Namespaces, &[]).unwrap();
    match run(&filter.0, ARCHITECTURE, u32::try_from(number).unwrap(), arguments) {
        libc::SECCOMP_RET_ALLOW => Ok(()),
        other => Err(Errno::from_raw_os_error((other & 0xffff).cast_signed())),
    }
}

#[test]
fn every_call_gets_the_verdict_of_the_table() {
    let (filter, mut verdicts) = (Filter::compile(Surroundings::Namespaces, &[]).unwrap(), verdicts());
    verdicts.insert(libc::SYS_socket, Verdict::AllowOnly { argument: 0, values: SOCKETS });
    for number in 0..1000_u32 {
        let expected = match verdicts.get(&i64::from(number)) {
            // These allow arguments of 0.
            Some(
                Verdict::Allow
                | Verdict::AllowWithout { .. }
                | Verdict::AllowBut { .. }
                | Verdict::AllowOpening { .. }
                | Verdict::AllowLimits { .. }
                | Verdict::PretendToSet { .. },
            ) => libc::SECCOMP_RET_ALLOW,
            Some(Verdict::AllowOnly { values, .. }) if values.contains(&0) => libc::SECCOMP_RET_ALLOW,
            Some(Verdict::Refuse(errno)) => libc::SECCOMP_RET_ERRNO | errno.raw_os_error().cast_unsigned(),
            Some(Verdict::AllowOnly { .. }) | None => libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(),
        };
        assert_eq!(run(&filter.0, ARCHITECTURE, number, &[0; 2]), expected, "system call {number}");
    }
}

#[test]
fn dangerous_calls_are_refused() {
    for call in [
        libc::SYS_mount,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_ptrace,
        libc::SYS_bpf,
        libc::SYS_keyctl,
        libc::SYS_io_uring_setup,
        libc::SYS_userfaultfd,
        libc::SYS_perf_event_open,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_process_vm_readv,
        libc::SYS_pidfd_getfd,
        libc::SYS_open_by_handle_at,
    ] {
        assert_eq!(outcome(call, &[0; 2]), Err(Errno::PERM), "system call {call}");
    }
}

#[test]
fn arguments_are_judged_by_the_bits_that_the_kernel_looks_at() {
    let upper = 1 << 32;
    assert_eq!(outcome(libc::SYS_clone, &[libc::SIGCHLD as u64, 0]), Ok(()));
    assert_eq!(outcome(libc::SYS_clone, &[libc::CLONE_NEWUSER as u64 | upper, 0]), Err(Errno::PERM));
    assert_eq!(outcome(libc::SYS_ioctl, &[0, libc::TIOCGWINSZ]), Ok(()));
    assert_eq!(outcome(libc::SYS_ioctl, &[0, libc::TIOCSTI | upper]), Err(Errno::PERM));
    assert_eq!(outcome(libc::SYS_socket, &[libc::AF_INET6 as u64, 0]), Ok(()));
    assert_eq!(outcome(libc::SYS_socket, &[libc::AF_VSOCK as u64, 0]), Err(Errno::PERM));
    assert_eq!(outcome(libc::SYS_clone3, &[0; 2]), Err(Errno::NOSYS));
}

#[test]
fn a_call_that_a_fall_back_cannot_hold_is_refused() {
    let number = u32::try_from(libc::SYS_sched_setaffinity).unwrap();
    let verdict = |refused: &[i64]| {
        run(&Filter::compile(Surroundings::Namespaces, refused).unwrap().0, ARCHITECTURE, number, &[0; 2])
    };
    assert_eq!(verdict(&[]), libc::SECCOMP_RET_ALLOW);
    assert_ne!(verdict(&[libc::SYS_sched_setaffinity]), libc::SECCOMP_RET_ALLOW);
}

#[test]
fn another_architecture_is_killed() {
    let filter = Filter::compile(Surroundings::Namespaces, &[]).unwrap();
    assert_eq!(run(&filter.0, 0x4000_0003, 1, &[0; 2]), libc::SECCOMP_RET_KILL_PROCESS);
    let x32 = 0x4000_0000 | u32::try_from(libc::SYS_read).unwrap();
    assert_eq!(run(&filter.0, ARCHITECTURE, x32, &[0; 2]), libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned());
}

#[test]
fn no_program_is_left_that_runs_as_another() {
    let (set_user, creating) = (u64::from(libc::S_ISUID) | 0o755, libc::O_CREAT as u64 | libc::O_WRONLY as u64);
    assert_eq!(outcome(libc::SYS_fchmod, &[3, set_user]), Err(Errno::PERM));
    assert_eq!(outcome(libc::SYS_fchmodat, &[3, 0, u64::from(libc::S_ISGID)]), Err(Errno::PERM));
    assert_eq!(outcome(libc::SYS_fchmod, &[3, 0o1777]), Ok(()), "the sticky bit is harmless");
    assert_eq!(outcome(libc::SYS_openat, &[3, 0, creating, set_user]), Err(Errno::PERM));
    assert_eq!(outcome(libc::SYS_openat, &[3, 0, creating, 0o644]), Ok(()));
    assert_eq!(outcome(libc::SYS_openat, &[3, 0, libc::O_TMPFILE as u64, set_user]), Err(Errno::PERM));
    let directory = libc::O_DIRECTORY as u64;
    assert_eq!(
        outcome(libc::SYS_openat, &[3, 0, directory, set_user]),
        Ok(()),
        "nothing is created, the mode is noise"
    );
    assert_eq!(outcome(libc::SYS_openat2, &[0; 2]), Err(Errno::NOSYS));
}

#[test]
fn what_the_machine_has_few_of_is_not_there() {
    for call in [libc::SYS_io_setup, libc::SYS_io_submit, libc::SYS_mq_open] {
        assert_eq!(outcome(call, &[0; 4]), Err(Errno::NOSYS), "system call {call}");
    }
}

/// What a filter on the host answers.
fn on_host(number: i64, arguments: &[u64]) -> u32 {
    let filter = Filter::compile(Surroundings::Host(Network::Off), &[]).unwrap();
    run(&filter.0, ARCHITECTURE, u32::try_from(number).unwrap(), arguments)
}

#[test]
fn without_namespaces_nothing_of_others_can_be_meant() {
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
    for call in SYSTEM_V.iter().chain(ON_OTHERS) {
        assert_eq!(on_host(*call, &[0; 4]), refused, "system call {call}");
        assert_eq!(outcome(*call, &[0; 4]), Ok(()), "system call {call}");
    }
    for call in ON_ONESELF.into_iter().chain([libc::SYS_prlimit64]) {
        assert_eq!(on_host(call, &[0; 4]), libc::SECCOMP_RET_ALLOW, "system call {call}");
        assert_eq!(on_host(call, &[4711, 0, 0, 0]), refused, "system call {call}");
        assert_eq!(outcome(call, &[4711, 0, 0, 0]), Ok(()), "system call {call}");
    }
}

#[test]
fn nobody_changes_the_limit_on_core_dumps() {
    let (allowed, pretended) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ERRNO);
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
    let (core, files) = (u64::from(libc::RLIMIT_CORE), u64::from(libc::RLIMIT_NOFILE));
    let upper = 1 << 32;
    let filter = Filter::compile(Surroundings::Namespaces, &[]).unwrap();
    let answer =
        |number: i64, arguments: &[u64]| run(&filter.0, ARCHITECTURE, u32::try_from(number).unwrap(), arguments);
    assert_eq!(answer(libc::SYS_setrlimit, &[core, 1]), pretended);
    assert_eq!(answer(libc::SYS_setrlimit, &[files, 1]), allowed);
    assert_eq!(answer(libc::SYS_prlimit64, &[0, core, 0, 1]), allowed, "it may be looked at");
    for new in [1, upper] {
        assert_eq!(answer(libc::SYS_prlimit64, &[0, core, new, 0]), pretended);
        assert_eq!(answer(libc::SYS_prlimit64, &[0, files, new, 1]), allowed);
        for old in [1, upper] {
            assert_eq!(answer(libc::SYS_prlimit64, &[0, core, new, old]), refused);
        }
    }
    // The kernel takes the number of the limit in 32 bits.
    assert_eq!(answer(libc::SYS_prlimit64, &[0, core | upper, 1, 0]), pretended);
}
