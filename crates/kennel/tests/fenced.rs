//! A machine that denies user namespaces: no box, unless the caller accepts one of fences alone, which then holds.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use kennel_testkit::{Caller, Outcome, Report};
use std::path::{Path, PathBuf};
use support::ground::Ground;
use support::processes::{proc_text, processes_with, unique_mark};
use support::running::{Kept, Ran, run};
use support::sharing::Sharing;
use support::waiting::{PATIENCE, SOON, settle};

/// Not in `/tmp`, where a fence has its scratch space.
fn ground() -> Ground {
    Ground::under(Caller::User, Path::new("/var/tmp"))
}

/// Runs `kennel` from the user's home directory where no user namespace can be made.
fn kennel(ground: &Ground, arguments: &[&str]) -> Ran {
    let mut command = ground.kennel_without_namespaces(arguments);
    command.env("SECRET", "x").current_dir(ground.path("home"));
    run(command)
}

fn fenced(ground: &Ground, flags: &[&str], script: &str) -> Ran {
    kennel(ground, &[&["exec", "--accept-missing", "namespaces"], flags, &["--", "sh", "-c", script]].concat())
}

#[test]
fn without_namespaces_there_is_no_box() {
    let ran = kennel(&ground(), &["exec", "--", "touch", "ran"]);
    let message = ran.err();
    assert_eq!(ran.code, Some(125), "{message}");
    assert!(message.contains("making a user namespace"), "{message}");
    assert!(message.contains("kennel doctor") && message.contains("--accept-missing namespaces"), "{message}");
}

#[test]
fn an_accepted_fence_says_so_and_holds() {
    let ground = ground();
    let private = ground.make_file("home/private", "secret", 0o644);
    let script = format!(
        "cat {private} && echo READ; echo x >> {private} && echo WROTE; cat /etc/shadow && echo SHADOW; \
         ls /var/log && echo LISTED; kill -0 $PPID && echo SIGNALLED; unshare --user true && echo UNSHARED; \
         /usr/bin/python3 -c 'import socket; socket.socket()' && echo INTERNET; \
         /usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX)' && echo UNIX; \
         cat /proc/$PPID/environ && echo ENVIRONMENT; env | grep SECRET; \
         grep -q 'NoNewPrivs:.1' /proc/self/status && grep -q 'Seccomp:.2' /proc/self/status && echo fenced; \
         touch \"$HOME/x\" \"$TMPDIR/y\" && echo scratch; /usr/bin/python3 -c 'print(6 * 7)'",
        private = private.display()
    );
    let ran = fenced(&ground, &[], &script);
    assert_eq!(ran.out(), "fenced\nscratch\n42\n", "{}", ran.err());
    assert!(ran.err().contains("going on without namespaces, as accepted"));
    assert_eq!(std::fs::read_to_string(private).unwrap(), "secret");
}

/// The report of an attempt in a fence with the network off.
fn attempt(ground: &Ground, arguments: &[&str]) -> Report {
    let programs = ground.text("bin");
    let hostile = ground.hostile().to_str().unwrap();
    let flags = ["exec", "--accept-missing", "namespaces", "--read", &programs, "--", hostile];
    let ran = kennel(ground, &[&flags, arguments].concat());
    Report::parse(&ran.out()).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {ran:?}"))
}

#[test]
fn what_other_programs_share_is_out_of_reach_of_a_fence() {
    let ground = ground();
    let attempts =
        ["attach_outside_memory", "change_outside_semaphore", "take_outside_message", "take_outside_posix_message"];
    for (index, name) in attempts.into_iter().enumerate() {
        let mut sharing = Sharing::start(&ground);
        let target = sharing.names[index].clone();
        let report = attempt(&ground, &[name, &target]);
        assert_eq!(report.outcome, Outcome::Blocked, "{report:?}");
        assert_eq!(sharing.complaint(), None, "{name}");

        // Without a box it is touched, and the process that shares it says so.
        let mut sharing = Sharing::start(&ground);
        let target = sharing.names[index].clone();
        let ran = run(ground.exec_hostile(&["--engine", "host"], &[name, &target]));
        assert_eq!(Report::parse(&ran.out()).unwrap().outcome, Outcome::Escaped, "{ran:?}");
        assert!(sharing.complaint().is_some(), "{name}");
    }
}

#[test]
fn other_programs_of_the_user_are_out_of_reach_of_a_fence() {
    let ground = ground();
    let mut other = Kept::start(ground.command(["sleep", "300"]));
    let pid = other.pid().to_string();
    let started = || (!proc_text(other.pid(), "cmdline").starts_with("sleep")).then(|| "no sleep".to_owned());
    settle(PATIENCE, started).unwrap();
    for name in [
        "read_outside_environment",
        "read_outside_memory",
        "trace_outside",
        "vm_read_outside",
        "probe_outside",
        "terminate_outside",
        "limit_outside",
        "change_limit_outside",
        "renice_outside",
        "pin_outside",
        "reschedule_outside",
        "io_priority_outside",
        "take_descriptor_of_outside",
    ] {
        let report = attempt(&ground, &[name, &pid]);
        assert_eq!(report.outcome, Outcome::Blocked, "{report:?}");
    }
    assert!(other.lives());
    for name in ["change_limit_outside", "renice_outside", "pin_outside", "reschedule_outside", "io_priority_outside"] {
        let ran = run(ground.exec_hostile(&["--engine", "host"], &[name, &pid]));
        assert_eq!(Report::parse(&ran.out()).unwrap().outcome, Outcome::Escaped, "{ran:?}");
    }
}

#[test]
fn a_fence_takes_nothing_that_the_machine_has_few_of() {
    let ground = ground();
    for arguments in [&["aio_context"][..], &["terminal_bomb", "4"], &["message_queue_bomb", "1"]] {
        let report = attempt(&ground, arguments);
        assert_eq!(report.outcome, Outcome::Blocked, "{report:?}");
    }
}

#[test]
fn grants_hold_in_a_fence() {
    let ground = ground();
    for name in ["shown", "changed"] {
        ground.make_directory(&format!("home/{name}"));
        ground.make_file(&format!("home/{name}/file"), name, 0o644);
    }
    let script = format!(
        "cd {}; cat shown/file; touch shown/new && echo BROKEN; touch changed/new && echo written",
        ground.text("home")
    );
    let ran = fenced(&ground, &["--read", "shown", "--write", "changed"], &script);
    assert_eq!(ran.out(), "shownwritten\n", "{}", ran.err());
    let moved = fenced(&ground, &["--read", "shown:/elsewhere"], "true");
    assert_eq!(moved.code, Some(125));
    assert!(moved.err().contains("a path stays where it is"), "{}", moved.err());
}

#[test]
fn limits_hold_in_a_fence() {
    let ground = ground();
    let crowd = fenced(&ground, &["--pids", "8"], "for n in $(seq 30); do sleep 5 & done; wait; exit 3");
    assert!(crowd.err().contains("process limit reached"), "{}", crowd.err());
    let eat = "/usr/bin/python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 20))'";
    let hungry = fenced(&ground, &["--memory", "64M"], eat);
    assert!(hungry.err().contains("out of memory"), "{}", hungry.err());
}

#[test]
fn nothing_outlives_a_fence() {
    let ground = ground();
    let mark = unique_mark();
    let script = format!(
        "echo $HOME; (setsid sleep 27182{mark} &) ; sleep 0.1; pgrep -f 'sleep 27182{mark}' >/dev/null && echo up"
    );
    let ran = fenced(&ground, &[], &script);
    let lines = ran.out();
    let mut lines = lines.lines();
    let scratch = PathBuf::from(lines.next().unwrap());
    assert_eq!(lines.next(), Some("up"), "{}", ran.err());
    let left = || {
        let (processes, directory) = (processes_with(&mark), scratch.exists());
        (!processes.is_empty() || directory).then(|| format!("left behind: {processes:?}, directory {directory}"))
    };
    settle(SOON, left).unwrap_or_else(|complaint| panic!("{complaint}"));
}

#[test]
fn nothing_of_the_input_is_lost_to_the_box_that_was_refused() {
    let ground = ground();
    let input = (0..50_000).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat();
    let path = ground.path("work/input");
    std::fs::write(&path, &input).unwrap();
    let arguments = ["exec", "--accept-missing", "namespaces", "--", "cat"];
    let mut command = ground.kennel_without_namespaces(&arguments);
    command.stdin(std::fs::File::open(path).unwrap());
    let ran = run(command);
    assert!(ran.out() == input, "{} of {} bytes; {}", ran.stdout.len(), input.len(), ran.err());
}
