//! Signals to Kennel are signals to the command, and what the command makes of them is its own affair.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::running::Running;
use rustix::process::Signal;

#[test]
fn signals_reach_the_command_and_its_exit_code_counts() {
    let signals = [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::TERM, "TERM"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
    ];
    for caller in callers() {
        let ground = Ground::new(caller);
        for (signal, name) in signals {
            let script = format!("trap 'echo got {name}; exit 3' {name}; echo ready; while :; do sleep 0.02; done");
            let running = Running::ready(ground.exec(&[], &["sh", "-c", &script]));
            running.kept.signal(signal);
            let ran = running.finish();
            assert_eq!((ran.code, ran.out()), (Some(3), format!("ready\ngot {name}\n")), "{caller:?}");
        }
    }
}

#[test]
fn a_command_without_a_trap_dies_of_the_signal() {
    for caller in callers() {
        for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
            let ground = Ground::new(caller);
            let running = Running::ready(ground.exec(&[], &["sh", "-c", "echo ready; exec sleep 1000"]));
            running.kept.signal(signal);
            let ran = running.finish();
            assert_eq!((ran.code, ran.err()), (Some(code), String::new()), "{caller:?}");
        }
    }
}

#[test]
fn a_command_that_ignores_a_signal_goes_on() {
    let script = "trap '' TERM; trap 'echo second; exit 0' USR1; echo ready; while :; do sleep 0.02; done";
    let ground = Ground::new(myself());
    let running = Running::ready(ground.exec(&[], &["sh", "-c", script]));
    running.kept.signal(Signal::TERM);
    running.kept.signal(Signal::USR1);
    assert_eq!(running.finish().fine(), "ready\nsecond\n");
}

#[test]
fn the_box_finds_no_signal_blocked_and_broken_pipes_as_usual() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let status = ground.sh(&[], "grep -E '^Sig(Blk|Ign):' /proc/self/status").fine();
        let mask = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        assert_eq!(mask("SigBlk:"), 0, "{caller:?}");
        assert_eq!(mask("SigIgn:") >> (Signal::PIPE.as_raw() - 1) & 1, 0, "{caller:?}: SIGPIPE is ignored");
    }
}
