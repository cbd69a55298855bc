//! Exit codes: the command's own, and those that say that it never ran.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::running::run;

#[test]
fn the_exit_code_is_that_of_the_command() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for code in [0, 1, 7, 124, 255] {
            assert_eq!(ground.sh(&[], &format!("exit {code}")).code, Some(code), "{caller:?}");
        }
    }
}

#[test]
fn a_signal_that_ends_the_command_is_128_and_its_number() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for (signal, code) in [("TERM", 143), ("KILL", 137), ("SEGV", 139), ("USR1", 138)] {
            let ran = ground.sh(&[], &format!("kill -{signal} $$"));
            assert_eq!((ran.code, ran.err().as_str()), (Some(code), ""), "{caller:?} {signal}");
        }
    }
}

#[test]
fn a_command_that_is_not_there_is_127_with_a_hint() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for command in ["no-such-command", "/no/such/command", "./no-such-command"] {
            run(ground.exec(&[], &[command])).refused(127, &format!(
                "kennel: the program could not be started while executing `{command}`: No such file or directory (os error 2)\n  \
                 hint: not in the box, or its interpreter is not; grant its directory with --read\n"
            ));
        }
    }
}

#[test]
fn a_script_whose_interpreter_is_not_in_the_box_is_127_with_a_hint() {
    let ground = Ground::new(myself());
    ground.make_file("work/script", "#!/opt/nowhere/interpreter\n", 0o755);
    let ran = run(ground.exec(&["--read", "."], &["./script"]));
    ran.refused(
        127,
        "kennel: the program could not be started while executing `./script`: No such file or directory (os error 2)\n  \
         hint: not in the box, or its interpreter is not; grant its directory with --read\n",
    );
}

#[test]
fn a_file_that_cannot_be_executed_is_126() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_file("work/data", "no program", 0o644);
        for command in ["./data", "."] {
            run(ground.exec(&["--read", "."], &[command])).refused(
                126,
                &format!(
                    "kennel: the program could not be started while executing `{command}`: Permission denied (os error 13)\n  \
                     hint: not executable for the user of the box\n"
                ),
            );
        }
        ground.make_file("work/garbage", b"\x7fELF and nothing else", 0o755);
        let ran = run(ground.exec(&["--read", "."], &["./garbage"]));
        assert_eq!(ran.code, Some(126), "{}", ran.err());
        assert!(ran.err().contains("executing `./garbage`: Exec format error"), "{}", ran.err());
    }
}

#[test]
fn without_a_command_the_usage_is_shown() {
    let ground = Ground::new(myself());
    let ran = run(ground.kennel(["exec"]));
    assert_eq!(ran.code, Some(2));
    assert!(ran.err().contains("Usage: kennel exec <COMMAND>..."), "{}", ran.err());
}

#[test]
fn flags_of_the_command_are_the_commands_own() {
    let ground = Ground::new(myself());
    assert_eq!(run(ground.exec(&[], &["echo", "--read", "-v", "--", "x"])).fine(), "--read -v -- x\n");
    assert_eq!(run(ground.kennel(["exec", "echo", "--network", "on"])).fine(), "--network on\n");
}
