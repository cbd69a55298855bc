//! What a box may use up, and what is said when it has: as root, where cgroups hold the limits, and as an ordinary
//! user, where the fall-backs do.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use kennel_testkit::{Caller, Outcome, Report};
use std::ffi::OsString;
use std::process::Stdio;
use support::caller::{callers, needs_root};
use support::ground::Ground;
use support::running::{Ran, Running, run};
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

/// What the machine or the user has few of, and how much of it a hostile program asks for.
const SCARCE: [[&str; 2]; 4] =
    [["inotify_bomb", "64"], ["terminal_bomb", "200"], ["pending_signal_bomb", "4096"], ["message_queue_bomb", "5"]];

#[test]
fn a_box_takes_little_of_what_is_counted_per_user_or_machine() {
    for_each_caller(|ground, caller| {
        for arguments in SCARCE {
            bomb(ground, &[], &arguments);
        }
        bomb(ground, &[], &["aio_context"]);
        let files = "cat /proc/sys/user/max_inotify_watches /proc/sys/user/max_user_namespaces";
        let values = ground.sh(&[], files).fine();
        let values: Vec<u64> = values.lines().map(|line| line.parse().unwrap()).collect();
        let watches = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").unwrap();
        assert!(values[0] <= watches.trim().parse::<u64>().unwrap() / 2, "as {caller:?}: {values:?}");
        assert_eq!(values[1], 0, "as {caller:?}");
    });
}

#[test]
fn a_program_with_few_inotify_instances_and_terminals_runs_as_ever() {
    for_each_caller(|ground, caller| {
        assert_eq!(bomb_reached(ground, &["inotify_bomb", "4"]), Outcome::Escaped, "as {caller:?}");
        assert_eq!(bomb_reached(ground, &["terminal_bomb", "16"]), Outcome::Escaped, "as {caller:?}");
    });
}

fn bomb_reached(ground: &Ground, arguments: &[&str]) -> Outcome {
    let ran = run(ground.exec_hostile(&[], arguments));
    Report::parse(&ran.out()).unwrap_or_else(|error| panic!("{error}: {ran:?}")).outcome
}

/// Holds all that it gets of everything until its input ends.
const GREEDY: &str = "
import ctypes, os, pty, signal, sys
libc = ctypes.CDLL(None)
held = []
def take(get, most):
    for _ in range(most):
        try:
            got = get()
        except OSError:
            return
        if isinstance(got, int) and got < 0:
            return
        held.append(got)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
take(lambda: libc.inotify_init(), 400)
take(lambda: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY), 200)
context = (ctypes.c_ulong * 100)()
take(lambda: libc.syscall(206, 1000, ctypes.byref(context, 8 * len(held))) if len(held) < 99 else -1, 99)
take(lambda: -1 if libc.sigqueue(os.getpid(), 40, None) else 0, 200000)
print('full', flush=True)
sys.stdin.read()
";

#[test]
fn the_user_has_enough_left_beside_boxes_that_take_all_they_can() {
    for_each_caller(|ground, caller| {
        let greedy = |_| {
            let mut command = ground.exec(&[], &["/usr/bin/python3", "-c", GREEDY]);
            command.stdin(Stdio::piped());
            Running::start(command)
        };
        let mut boxes: Vec<_> = (0..4).map(greedy).collect();
        boxes.iter_mut().for_each(|running| running.wait_for("full"));
        // As the same user, outside.
        for arguments in [["inotify_bomb", "16"], ["terminal_bomb", "16"], ["pending_signal_bomb", "2000"]] {
            let hostile = ground.hostile().to_str().unwrap();
            let ran = run(ground.command([hostile, arguments[0], arguments[1]]));
            assert_eq!(Report::parse(&ran.out()).unwrap().outcome, Outcome::Escaped, "as {caller:?}: {ran:?}");
        }
        let ran = run(ground.command([ground.hostile().as_os_str(), "aio_context".as_ref()]));
        assert_eq!(Report::parse(&ran.out()).unwrap().outcome, Outcome::Escaped, "as {caller:?}: {ran:?}");
        drop(boxes);
    });
}

#[test]
fn a_box_starts_with_as_many_open_files_as_the_caller_may_have() {
    for_each_caller(|ground, caller| {
        for allowed in [256, 64] {
            let script = format!("ulimit -n {allowed}; exec \"$@\"");
            let mut words: Vec<OsString> = ["sh", "-c", &script, "sh"].map(Into::into).to_vec();
            words.extend(ground.exec_words(["--verbose"]));
            words.extend(["sh", "-c", "ulimit -n; ulimit -Hn"].map(Into::into));
            let ran = run(ground.command(words));
            assert_eq!(ran.fine(), format!("{allowed}\n{allowed}\n"), "as {caller:?}: {ran:?}");
            let told = format!("{allowed} open files (the hard limit here; 1024 asked for)");
            assert!(ran.err().contains(&told), "as {caller:?}: {ran:?}");
        }
    });
}

/// A user that no other test is, so that its processes can be counted.
const LONELY: u32 = 54_399;

/// The beginning of a command line of that user.
fn as_lonely() -> Vec<OsString> {
    let user = [format!("--reuid={LONELY}"), format!("--regid={LONELY}"), "--clear-groups".to_owned()];
    ["setpriv".into()].into_iter().chain(user.map(Into::into)).collect()
}

#[test]
fn a_user_without_room_for_another_process_is_told_so_and_nothing_stays() {
    if !needs_root("a user with few processes") {
        return;
    }
    let _alone = alone();
    let ground = Ground::new(Caller::Root);
    let mut refused = 0;
    let mut ended = None;
    for most in 1..=8 {
        let mut words = as_lonely();
        words.extend(["prlimit".into(), format!("--nproc={most}:{most}").into(), "--".into()]);
        // A weaker box is accepted, and would not help: it must not be the answer to a lack of processes.
        words.extend(ground.exec_words(["--accept-missing", "namespaces"]));
        words.push("true".into());
        let ran = run(ground.command(words));
        assert!(!ran.err().contains("going on without"), "with {most} processes: {ran:?}");
        if ran.code == Some(0) {
            ended = Some(most);
            break;
        }
        refused += 1;
        assert_eq!(ran.code, Some(125), "with {most} processes: {ran:?}");
        assert!(ran.err().contains("temporarily unavailable"), "with {most} processes: {ran:?}");
        ground.assert_clean();
    }
    assert!(refused > 0 && ended.is_some(), "refused {refused} times, then worked with {ended:?}");
    ground.assert_clean();
}

#[test]
fn pipes_can_be_made_beside_boxes_that_hold_all_they_can() {
    for_each_caller(|ground, caller| {
        // As many as a process may have, each as large as it may be.
        let greedy = "
import fcntl, os, sys
held = []
try:
    while True:
        held.append(os.pipe())
        fcntl.fcntl(held[-1][1], 1031, 1 << 20)
except OSError: pass
try:
    while True: held.append(os.pipe())
except OSError: pass
print('full', flush=True)
sys.stdin.read()";
        let start = |_| {
            let mut command = ground.exec(&[], &["/usr/bin/python3", "-c", greedy]);
            command.stdin(Stdio::piped());
            Running::start(command)
        };
        let mut boxes: Vec<_> = (0..3).map(start).collect();
        boxes.iter_mut().for_each(|running| running.wait_for("full"));
        // Smaller ones where the user has many, but they are there, and so are boxes.
        let ran = run(ground.command(["sh", "-c", "head -c 300000 /dev/zero | wc -c"]));
        assert_eq!(ran.fine(), "300000\n", "as {caller:?}");
        assert_eq!(ground.sh(&[], "head -c 300000 /dev/zero | wc -c").fine(), "300000\n", "as {caller:?}");
        drop(boxes);
    });
}

/// Leaves as many descriptors as it can on their way to nobody.
const IN_FLIGHT: &str = "
import array, os, socket, sys
held, null = [], array.array('i', [os.open('/dev/null', 0)] * 200)
try:
    while True:
        held.append(socket.socketpair())
        for _ in range(4): held[-1][0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, null)])
except OSError as error: print('full', error.strerror, flush=True)
sys.stdin.read()
";

#[test]
fn a_box_that_leaves_descriptors_in_messages_keeps_no_other_from_starting() {
    if !needs_root("a user whose descriptors in messages can be counted") {
        return;
    }
    let _alone = alone();
    let ground = Ground::new(Caller::Root);
    // With the limits that users mostly have.
    let exec = |flags: &[&str], command: &[&str]| {
        let mut words = as_lonely();
        words.extend(["prlimit".into(), "--nofile=1024:4096".into(), "--".into()]);
        words.extend(ground.exec_words(flags));
        words.extend(command.iter().map(OsString::from));
        ground.command(words)
    };
    let mut greedy = exec(&[], &["/usr/bin/python3", "-c", IN_FLIGHT]);
    greedy.stdin(Stdio::piped());
    let mut greedy = Running::start(greedy);
    greedy.wait_for("full Too many references");
    assert_eq!(run(exec(&[], &["echo", "started"])).fine(), "started\n");
    // What runs without walls finds the limit that the user has.
    let ran = run(exec(&["--engine", "host"], &["sh", "-c", "ulimit -Sn; ulimit -Hn"]));
    assert_eq!(ran.fine(), "1024\n4096\n");
    drop(greedy);
    ground.assert_clean();
}
