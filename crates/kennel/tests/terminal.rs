//! `kennel exec` at a terminal: the command has one of its own, tied to the caller's, and nothing of it stays behind.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use rustix::termios::{InputModes, LocalModes, OutputModes};
use std::io::{PipeReader, Write};
use std::process::Stdio;
use support::caller::{callers, myself};
use support::ground::Ground;
use support::terminal::{AtTerminal, Terminal};

/// A pipe that holds these few bytes and then ends.
fn pipe_with(bytes: &[u8]) -> PipeReader {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(bytes).unwrap();
    reader
}

/// Prints a line again and again until something happens.
const FOREVER: &str = "while :; do sleep 0.02; done";

#[test]
fn the_command_has_a_terminal_of_the_box() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let terminal = Terminal::open();
        let script = "test -t 0 && test -t 1 && test -t 2 && tty && echo here > /dev/tty && ls -1 /dev/pts";
        let (code, out) = terminal.start(&ground.exec(&[], &["sh", "-c", script])).finish();
        assert_eq!((code, out.as_str()), (Some(0), "/dev/pts/0\r\nhere\r\n0\r\nptmx\r\n"), "{caller:?}");
    }
}

#[test]
fn lines_end_as_on_any_terminal() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for _ in 0..10 {
            let started = Terminal::open().start(&ground.exec(&[], &["printf", "one\\ntwo\\n"]));
            assert_eq!(started.finish(), (Some(0), "one\r\ntwo\r\n".to_owned()), "{caller:?}");
        }
    }
}

#[test]
fn with_input_from_a_pipe_lines_end_as_on_any_terminal() {
    for caller in callers() {
        let ground = Ground::new(caller);
        // More than once, as the command may be faster than Kennel.
        for _ in 0..10 {
            let terminal = Terminal::open();
            let mut command = ground.exec(&[], &["sh", "-c", "cat; test -t 0 || test -t 1 && echo tty"]);
            command.stdin(Stdio::from(pipe_with(b"piped\n"))).stdout(terminal.stream()).stderr(terminal.stream());
            let (code, out) = terminal.run(command).finish();
            assert_eq!((code, out.as_str()), (Some(0), "piped\r\ntty\r\n"), "{caller:?}");
        }
    }
}

#[test]
fn with_output_into_a_pipe_only_errors_go_to_the_terminal() {
    let ground = Ground::new(myself());
    let terminal = Terminal::open();
    let mut command = ground.exec(&[], &["sh", "-c", "echo out; echo err >&2; test -t 0 && test -t 2 && ! test -t 1"]);
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdin(terminal.stream()).stderr(terminal.stream()).stdout(Stdio::from(writer));
    let (code, out) = terminal.run(command).finish();
    assert_eq!((code, out.as_str()), (Some(0), "err\r\n"));
    assert_eq!(std::io::read_to_string(reader).unwrap(), "out\n");
}

#[test]
fn the_size_is_passed_on_before_the_command_can_ask() {
    for caller in callers() {
        let ground = Ground::new(caller);
        for _ in 0..10 {
            let terminal = Terminal::open();
            terminal.resize(33, 101);
            assert_eq!(
                terminal.start(&ground.exec(&[], &["stty", "size"])).finish(),
                (Some(0), "33 101\r\n".to_owned())
            );
        }
    }
}

#[test]
fn a_new_size_is_passed_on() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let terminal = Terminal::open();
        let script = format!("trap 'stty size; exit 4' WINCH; echo ready; {FOREVER}");
        let mut started = terminal.start(&ground.exec(&[], &["sh", "-c", &script]));
        started.wait_for("ready");
        started.pause();
        started.terminal.resize(44, 155);
        let (code, out) = started.finish();
        assert_eq!(code, Some(4), "{caller:?}: {out}");
        assert!(out.ends_with("44 155\r\n"), "{caller:?}: {out}");
    }
}

#[test]
fn an_interrupt_typed_reaches_the_command_and_not_kennel() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let script = format!("trap 'echo interrupted; exit 9' INT; echo ready; {FOREVER}");
        let mut started = Terminal::open().start(&ground.exec(&[], &["sh", "-c", &script]));
        started.wait_for("ready");
        started.type_in(b"\x03");
        let (code, out) = started.finish();
        assert_eq!(code, Some(9), "{caller:?}: {out}");
        assert!(out.contains("interrupted\r\n"), "{caller:?}: {out}");
    }
}

#[test]
fn an_interrupt_typed_reaches_every_process_of_the_foreground() {
    let ground = Ground::new(myself());
    let mut started =
        Terminal::open().start(&ground.exec(&[], &["sh", "-c", "echo ready; sleep 1000; echo not reached"]));
    started.wait_for("ready");
    started.pause();
    started.type_in(b"\x03");
    let (code, out) = started.finish();
    assert_eq!(code, Some(130), "{out}");
    assert!(!out.contains("not reached"), "{out}");
}

#[test]
fn an_end_of_input_can_be_typed() {
    let ground = Ground::new(myself());
    let mut started = Terminal::open().start(&ground.exec(&[], &["sh", "-c", "echo ready; cat; echo end"]));
    started.wait_for("ready");
    started.pause();
    started.type_in(b"typed\n\x04");
    let (code, out) = started.finish();
    assert_eq!((code, out.as_str()), (Some(0), "ready\r\ntyped\r\ntyped\r\nend\r\n"));
}

#[test]
fn much_output_arrives_complete() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let (code, out) = Terminal::open().start(&ground.exec(&[], &["seq", "100000"])).finish();
        let lines = (1..=100_000).map(|number| number.to_string()).collect::<Vec<_>>();
        let expected = lines.join("\r\n") + "\r\n";
        assert_eq!(code, Some(0));
        assert!(out == expected, "{caller:?}: {} of {} bytes", out.len(), expected.len());
    }
}

#[test]
fn the_modes_of_the_outer_terminal_are_restored() {
    let ground = Ground::new(myself());
    let restores = |command: &[&str], ends: &dyn Fn(&mut AtTerminal)| {
        let terminal = Terminal::open();
        let before = terminal.modes();
        assert!(before.1.contains(OutputModes::OPOST) && before.2.contains(LocalModes::ECHO | LocalModes::ICANON));
        let mut started = terminal.start(&ground.exec(&[], command));
        ends(&mut started);
        let status = started.end();
        assert_eq!(started.terminal.modes(), before, "after {command:?}, which ended with {status:?}");
        status
    };
    assert_eq!(restores(&["true"], &|_| ()), Some(0));
    assert_eq!(restores(&["no-such-command"], &|_| ()), Some(127));
    assert_eq!(restores(&["stty", "raw", "-echo", "-isig"], &|_| ()), Some(0));
    let ended = restores(&["sh", "-c", &format!("echo ready; {FOREVER}")], &|started| {
        started.wait_for("ready");
        started.pause();
        let (input, output, local) = started.terminal.modes();
        assert!(!local.intersects(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG), "raw meanwhile");
        assert!(!output.contains(OutputModes::OPOST) && !input.contains(InputModes::ICRNL), "raw meanwhile");
        started.kept.signal(rustix::process::Signal::TERM);
    });
    assert_eq!(ended, Some(143));
}

#[test]
fn the_modes_of_the_outer_terminal_are_those_of_the_inner() {
    let ground = Ground::new(myself());
    for _ in 0..10 {
        let terminal = Terminal::open();
        terminal.change(|modes| modes.local_modes.remove(LocalModes::ECHO));
        let (_, out) = terminal.start(&ground.exec(&[], &["stty", "-a"])).finish();
        assert!(out.contains(" -echo "), "the command found other modes: {out}");
    }
}

#[test]
fn nothing_left_behind_keeps_kennel_at_the_terminal() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let script = "(trap '' HUP INT TERM; exec setsid sleep 1000) & echo done";
        let (code, out) = Terminal::open().start(&ground.exec(&[], &["sh", "-c", script])).finish();
        assert_eq!((code, out.as_str()), (Some(0), "done\r\n"), "{caller:?}");
    }
}

#[test]
fn jobs_can_be_controlled() {
    let ground = Ground::new(myself());
    let command =
        ground.exec(&["--env", "PS1=prompt> ", "--env", "TERM=dumb"], &["bash", "--norc", "--noediting", "-i"]);
    let mut started = Terminal::open().start(&command);
    started.wait_for("prompt> ");
    started.type_in(b"sleep 1000\n");
    started.pause();
    started.type_in(b"\x1a");
    started.wait_for("Stopped");
    started.type_in(b"kill %1; fg\n");
    started.wait_for("Terminated");
    started.type_in(b"exit 6\n");
    let (code, out) = started.finish();
    assert_eq!(code, Some(6), "{out}");
    assert!(!out.contains("no job control"), "{out}");
}
