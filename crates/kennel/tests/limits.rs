//! What a box may use up, and what is said when it has: as root, where cgroups hold the limits, and as an ordinary
//! user, where the fall-backs do.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "limits/scarce.rs"]
mod scarce;
mod support;

use kennel_testkit::{Caller, Outcome, Report};
use support::caller::callers;
use support::ground::Ground;
use support::running::{Ran, run};
use support::{alone, announce};

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSYS: i32 = 31;

/// Runs a test for each caller that the tests can act as, and looks for what was left behind.
#[track_caller]
fn for_each_caller(body: impl Fn(&Ground, Caller)) {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        body(&ground, caller);
        ground.assert_clean();
    }
}

fn assert_explained(ran: &Ran, caller: Caller, code: i32, words: &str) {
    assert_eq!(ran.code, Some(code), "as {caller:?}: {ran:?}");
    let explained = ran.err().lines().any(|line| line.starts_with("kennel: ") && line.contains(words));
    assert!(explained, "as {caller:?} nothing says `{words}`: {ran:?}");
}

/// The report of a bomb, which must have been stopped.
fn bomb(ground: &Ground, flags: &[&str], arguments: &[&str]) -> Report {
    let caller = ground.caller();
    let ran = run(ground.exec_hostile(flags, arguments));
    let report = Report::parse(&ran.out()).unwrap_or_else(|error| panic!("as {caller:?}: {error}: {ran:?}"));
    assert_eq!(report.outcome, Outcome::Blocked, "as {caller:?}: {report:?}");
    report
}

#[test]
fn a_program_that_takes_too_much_memory_is_out_of_memory() {
    for_each_caller(|ground, caller| {
        let ran = run(ground.exec_hostile(&["--memory", "64M"], &["--act", "hold_memory", "200"]));
        // The kernel and the watchdog kill; a program that is only refused more memory aborts by itself.
        let aborts = caller == Caller::User && ran.code == Some(128 + SIGABRT);
        assert_explained(&ran, caller, if aborts { 128 + SIGABRT } else { 128 + SIGKILL }, "out of memory");
    });
}

#[test]
fn programs_that_together_take_too_much_memory_are_out_of_memory() {
    for_each_caller(|ground, caller| {
        let hostile = ground.hostile();
        let hold = format!("{} --act hold_memory 40", hostile.display());
        let script = format!("{hold} & {hold} & {hold} & wait; exit 1");
        let ran = run(ground.exec(&["--read", &ground.text("bin"), "--memory", "64M"], &["sh", "-c", &script]));
        // The kernel kills a child, and the shell goes on to its exit; the watchdog kills the shell as well.
        assert!(matches!(ran.code, Some(1 | 137)), "as {caller:?}: {ran:?}");
        assert_explained(&ran, caller, ran.code.unwrap(), "out of memory");
    });
}

#[test]
fn a_box_within_its_memory_is_left_alone() {
    for_each_caller(|ground, caller| {
        let script = format!("{} --act hold_memory 40 & sleep 1; kill $!; exit 7", ground.hostile().display());
        let ran = run(ground.exec(&["--read", &ground.text("bin"), "--memory", "96M"], &["sh", "-c", &script]));
        assert_eq!(ran.code, Some(7), "as {caller:?}: {ran:?}");
        assert!(!ran.err().contains("out of memory"), "as {caller:?}: {ran:?}");
    });
}

#[test]
fn forks_fail_at_the_process_limit() {
    for_each_caller(|ground, caller| {
        for name in ["fork_bomb", "thread_bomb"] {
            // The hostile program and the child that makes the attempt are two of the twenty.
            let report = bomb(ground, &["--pids", "20"], &[name, "100"]);
            assert_eq!(report.reached, Some(18), "as {caller:?}: {report:?}");
            assert!(report.detail.contains("EAGAIN"), "as {caller:?}: {report:?}");
        }
    });
}

#[test]
fn a_program_that_fails_at_the_process_limit_is_told_so() {
    for_each_caller(|ground, caller| {
        let script = "n=0; while [ $n -lt 40 ]; do sleep 20 & n=$((n + 1)); done; wait";
        let ran = run(ground.exec(&["--pids", "20"], &["sh", "-c", script]));
        assert_explained(&ran, caller, 2, "process limit");
    });
}

/// How much processor time two burning threads get in so many milliseconds.
fn burnt(ground: &Ground, flags: &[&str], milliseconds: u64) -> u64 {
    let time = milliseconds.to_string();
    // The bomb may have all; the test judges.
    let report = bomb(ground, flags, &["cpu_bomb", &time, "1000000"]);
    report.reached.expect("a bomb says how far it came")
}

/// Milliseconds to burn for.
const TIME: u64 = 1500;

#[test]
fn a_box_gets_no_more_processor_time_than_its_limit() {
    for_each_caller(|ground, caller| {
        let (cpus, allowed) = match caller {
            Caller::Root => ("0.5", TIME / 2),
            Caller::User => ("1", TIME),
        };
        let got = burnt(ground, &["--cpus", cpus], TIME);
        // A cgroup deals out time in pieces of a tenth of a second, one at the start and one at the end.
        assert!(got <= allowed * 5 / 4 + 50, "as {caller:?}: {got} ms of the {allowed} ms allowed");
        assert!(got >= allowed / 4, "as {caller:?}: only {got} ms of the {allowed} ms allowed");
    });
}

#[test]
fn a_part_of_a_processor_is_refused_where_nothing_can_hold_it() {
    let _alone = alone();
    let caller = Caller::User;
    let ground = Ground::new(caller);
    let held = run(ground.exec(&["--verbose"], &["true"]));
    if !held.err().contains("processors by processor affinity") {
        announce(&format!("SKIPPED: refusing --cpus 0.5: a cgroup holds it here: {}", held.err().trim()));
        return;
    }
    // More than once: the refusal and Kennel's next request cross each other.
    for _ in 0..20 {
        let ran = run(ground.exec(&["--cpus", "0.5"], &["true"]));
        assert_explained(&ran, caller, 125, "limiting processor time `0.5 cpus`");
        assert!(ran.err().contains("--accept-missing cpu"), "{ran:?}");
    }
    let flags = ["--cpus", "0.5", "--accept-missing", "cpu", "--verbose"];
    let ran = run(ground.exec(&flags, &["true"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err().contains("processors by nothing (accepted)"), "{ran:?}");
    ground.assert_clean();
}

#[test]
fn scratch_space_is_full_at_its_size() {
    for_each_caller(|ground, caller| {
        for directory in ["/tmp", "/home/kennel", "/dev/shm"] {
            let report = bomb(ground, &["--tmp-size", "16M"], &["disk_bomb", directory, "64"]);
            assert!(report.detail.contains("ENOSPC"), "as {caller:?} in {directory}: {report:?}");
            assert!(report.reached <= Some(16), "as {caller:?} in {directory}: {report:?}");
        }
    });
}

#[test]
fn descriptors_end_at_their_limit() {
    for_each_caller(|ground, caller| {
        let report = bomb(ground, &[], &["descriptor_bomb", "5000"]);
        assert!(report.detail.contains("EMFILE"), "as {caller:?}: {report:?}");
        assert!(report.reached < Some(1024), "as {caller:?}: {report:?}");
    });
}

#[test]
fn a_program_is_ended_at_its_deadline() {
    for_each_caller(|ground, caller| {
        // In a session of its own and deaf to what can be ignored.
        let script = "trap '' TERM HUP INT; setsid sleep 33 & while :; do sleep 1; done";
        let ran = run(ground.exec(&["--timeout", "0.5"], &["sh", "-c", script]));
        assert_explained(&ran, caller, 128 + SIGKILL, "deadline passed");
    });
}

#[test]
fn a_forbidden_system_call_is_named() {
    for_each_caller(|ground, caller| {
        if !cfg!(target_arch = "x86_64") {
            announce("SKIPPED: forbidden system calls: only x86-64 has those of another architecture");
            return;
        }
        let ran = run(ground.exec_hostile(&[], &["--act", "forbidden_call"]));
        assert_explained(&ran, caller, 128 + SIGSYS, "forbidden system call");
    });
}

#[test]
fn a_program_that_ends_by_itself_is_not_explained() {
    for_each_caller(|ground, caller| {
        for (script, code) in [("exit 3", 3), ("kill -TERM $$", 143), ("exit 0", 0)] {
            let ran = run(ground.exec(&[], &["sh", "-c", script]));
            assert_eq!(ran.code, Some(code), "as {caller:?}: {ran:?}");
            assert_eq!(ran.err(), "", "as {caller:?}: {script}");
        }
    });
}
