//! Standard streams and arguments: every byte arrives as it was, and each stream by itself.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::running::{run, run_with_input};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

/// Bytes without a pattern that a buffer could hide.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn all_byte_values_pass_through() {
    for caller in callers() {
        let every_byte = (0..=u8::MAX).collect::<Vec<_>>();
        let ran = run_with_input(Ground::new(caller).exec(&[], &["cat"]), &every_byte);
        assert_eq!((ran.code, ran.stdout, ran.stderr), (Some(0), every_byte, Vec::new()), "{caller:?}");
    }
}

#[test]
fn eight_mebibytes_pass_through() {
    for caller in callers() {
        let sent = noise(8 << 20);
        let ran = run_with_input(Ground::new(caller).exec(&[], &["cat"]), &sent);
        assert_eq!(ran.code, Some(0), "{caller:?}: {}", ran.err());
        assert!(ran.stdout == sent, "{caller:?}: {} of {} bytes came back, or others", ran.stdout.len(), sent.len());
    }
}

#[test]
fn output_and_errors_stay_apart() {
    let ran = Ground::new(myself()).sh(&[], "echo out; echo err >&2; printf 'a\\0b'; printf '\\377' >&2");
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (&b"out\na\0b"[..], &b"err\n\xff"[..]));
}

#[test]
fn what_was_not_read_is_no_problem() {
    let ran = run_with_input(Ground::new(myself()).exec(&[], &["true"]), &noise(1 << 20));
    assert_eq!((ran.code, ran.err()), (Some(0), String::new()));
}

#[test]
fn an_end_of_input_reaches_the_command() {
    for caller in callers() {
        assert_eq!(run_with_input(Ground::new(caller).exec(&[], &["wc", "-c"]), b"").fine(), "0\n");
    }
}

#[test]
fn closed_streams_are_no_problem() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let kennel = ground.kennel_program();
        let kennel = kennel.to_str().unwrap();
        let closing = |redirection: &str, command: &str| {
            let mut shell = ground.command(["sh"]);
            shell.arg("-c").arg(format!("exec {kennel} exec -- {command} {redirection}"));
            run(shell)
        };
        assert_eq!(closing("<&-", "wc -c").fine(), "0\n");
        assert_eq!(closing(">&-", "sh -c 'echo lost; echo seen >&2'").err(), "seen\n");
        assert_eq!(closing("2>&-", "sh -c 'echo seen; echo lost >&2'").fine(), "seen\n");
        assert_eq!(closing("<&- >&- 2>&-", "sh -c 'exit 5'").code, Some(5));
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_command_as_in_any_pipeline() {
    let ground = Ground::new(myself());
    let mut shell = ground.command(["bash"]);
    let script = format!("{} exec -- yes | head -1; echo ${{PIPESTATUS[*]}}", ground.kennel_program().display());
    shell.arg("-c").arg(script);
    assert_eq!(run(shell).fine(), "y\n141 0\n");
}

#[test]
fn files_serve_as_streams() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let input = ground.make_file("work/input", "from a file\n", 0o644);
        let output = ground.path("work/output");
        let mut command = ground.exec(&[], &["sh", "-c", "cat; echo more"]);
        command.stdin(Stdio::from(File::open(input).unwrap()));
        let status = command.stdout(Stdio::from(File::create(&output).unwrap())).status().unwrap();
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(output).unwrap(), "from a file\nmore\n", "{caller:?}");
    }
}

#[test]
fn streams_can_be_opened_by_their_names() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let kennel = ground.kennel_program();
        // The pipes are made by the caller's shell: nobody can open those of another user by name, box or not.
        let script = "cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr; echo both | tee /dev/stderr";
        let mut shell = ground.command(["sh"]);
        shell.arg("-c").arg(format!("echo in | {} exec -- sh -c '{script}' 2>&1 | cat", kennel.display()));
        assert_eq!(run(shell).fine(), "in\nout\nerr\nboth\nboth\n", "{caller:?}");
    }
}

#[test]
fn many_long_arguments_and_variables_arrive() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let argument = "a".repeat(1000);
        let mut flags = Vec::new();
        for number in 0..100 {
            flags.extend(["--env".to_owned(), format!("VARIABLE_{number}={}", "v".repeat(4000))]);
        }
        let flags = flags.iter().map(String::as_str).collect::<Vec<_>>();
        let mut command = vec!["sh", "-c", "echo $#; printf %s \"$@\" | wc -c; env | grep -c ^VARIABLE_", "sh"];
        command.extend(std::iter::repeat_n(argument.as_str(), 400));
        assert_eq!(run(ground.exec(&flags, &command)).fine(), "400\n400000\n100\n", "{caller:?}");
    }
}

#[test]
fn an_argument_need_not_be_text() {
    let ground = Ground::new(myself());
    let mut command = ground.exec(&[], &["printf", "%s"]);
    command.arg(OsStr::from_bytes(b"\xff\xfe caf\xe9"));
    assert_eq!(run(command).stdout, b"\xff\xfe caf\xe9");
}

#[test]
fn an_empty_argument_stays_an_argument() {
    let command = ["sh", "-c", "echo $#", "sh", "", "two words", ""];
    assert_eq!(run(Ground::new(myself()).exec(&[], &command)).fine(), "3\n");
}
