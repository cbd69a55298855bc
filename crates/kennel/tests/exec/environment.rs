//! The command's environment: little, harmless, and of the caller's only what was asked for.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::processes::{children_of, proc_text};
use crate::support::running::{Running, run};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn nothing_of_the_callers_environment_leaks() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let mut command = ground.exec(&[], &["env"]);
        command.env("SECRET_TOKEN", "hunter2").env("AWS_PROFILE", "prod").env("LD_PRELOAD", "").env("TZ", "UTC");
        command.env("TERM", "vt100").env("PYTHONPATH", "/x").env("SSH_AUTH_SOCK", "/x").env("DISPLAY", ":0");
        let out = run(command).fine();
        let mut lines = out.lines().collect::<Vec<_>>();
        lines.sort_unstable();
        let expected = [
            "HOME=/home/kennel",
            "LANG=C.UTF-8",
            "LOGNAME=kennel",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "SHELL=/bin/sh",
            "TERM=vt100",
            "TMPDIR=/tmp",
            "TZ=UTC",
            "USER=kennel",
        ];
        assert_eq!(lines, expected, "{caller:?}");
    }
}

#[test]
fn a_variable_is_set_or_passed_on() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let flags = ["--env", "TOKEN", "--env", "SET=a=b c", "--env", "EMPTY=", "--env", "HOME=/tmp", "--env", "_x1=1"];
        let mut command = ground.exec(&flags, &["sh", "-c", "echo \"$TOKEN|$SET|${EMPTY-unset}|$HOME|$_x1\""]);
        command.env("TOKEN", "hunter2\nsecond line");
        assert_eq!(run(command).fine(), "hunter2\nsecond line|a=b c||/tmp|1\n", "{caller:?}");
    }
}

#[test]
fn the_last_of_two_values_counts() {
    let ran = Ground::new(myself()).sh(&["--env", "A=1", "--env", "A=2"], "echo $A");
    assert_eq!(ran.fine(), "2\n");
}

#[test]
fn a_variable_that_the_caller_lacks_is_an_error_that_names_it() {
    let ran = run(Ground::new(myself()).exec(&["--env", "NO_SUCH_VARIABLE"], &["true"]));
    ran.refused(125, "kennel: --env NO_SUCH_VARIABLE: you have no such variable; write NO_SUCH_VARIABLE=VALUE\n");
}

#[test]
fn a_value_that_is_not_text_is_not_called_missing() {
    let ground = Ground::new(myself());
    let mut command = ground.exec(&["--env", "ODD"], &["sh", "-c", "printf %s \"$ODD\""]);
    command.env("ODD", OsStr::from_bytes(b"caf\xe9"));
    let ran = run(command);
    // Passed on as it is would be best; refused in true words is fine.
    assert!(!ran.err().contains("no such variable"), "the caller has it, but Kennel says: {}", ran.err());
    assert!(ran.stdout == b"caf\xe9" || ran.code == Some(125), "{ran:?}");
}

#[test]
fn names_that_a_shell_cannot_have_are_refused() {
    for (flag, name) in [("1X=2", "1X"), ("=2", ""), ("A-B=2", "A-B"), ("A B=2", "A B"), ("É=2", "É")] {
        let ran = run(Ground::new(myself()).exec(&["--env", flag], &["true"]));
        ran.refused(125, &format!("kennel: box spec: `env` `{name}` is not a name; use letters, digits and `_`\n"));
    }
}

#[test]
fn a_secret_is_in_no_process_but_the_command() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let mut command = ground.exec(&["--env", "TOKEN"], &["sh", "-c", "echo ready; exec sleep 1000"]);
        command.env("TOKEN", "hunter2-in-the-environment");
        let running = Running::ready(command);
        let [helper] = children_of(running.kept.pid())[..] else { panic!("{caller:?}: one helper was expected") };
        let [init] = children_of(helper)[..] else { panic!("{caller:?}: one init was expected") };
        let [sleep] = children_of(init)[..] else { panic!("{caller:?}: one command was expected") };
        for pid in [helper, init] {
            for file in ["cmdline", "environ"] {
                let text = proc_text(pid, file);
                assert!(!text.contains("hunter2"), "{caller:?}: {file} of {pid}: {text}");
            }
        }
        assert!(!proc_text(running.kept.pid(), "cmdline").contains("hunter2"));
        assert!(!proc_text(helper, "cmdline").is_empty());
        assert!(!proc_text(sleep, "cmdline").contains("hunter2"));
        // What was looked for can be found where it belongs.
        assert!(proc_text(sleep, "environ").contains("TOKEN=hunter2-in-the-environment"), "{caller:?}");
        running.kept.signal(rustix::process::Signal::TERM);
        running.finish();
    }
}
