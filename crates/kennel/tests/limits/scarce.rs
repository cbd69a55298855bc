//! What the kernel counts per user or for the whole machine: a box takes little of it, and who has none left is told so.

use crate::support::alone;
use crate::support::caller::needs_root;
use crate::support::ground::Ground;
use crate::support::running::{Running, run};
use crate::{bomb, for_each_caller};
use kennel_testkit::{Caller, Outcome, Report};
use std::ffi::OsString;
use std::process::Stdio;

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
        for running in &mut boxes {
            running.wait_for("full");
        }
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
        for running in &mut boxes {
            running.wait_for("full");
        }
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
