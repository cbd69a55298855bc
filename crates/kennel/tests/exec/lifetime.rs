//! How long a box lives: as long as its command, never longer than Kennel, and apart from every other box.

use crate::support::caller::callers;
use crate::support::ground::Ground;
use crate::support::processes::{children_of, processes_with, unique_mark};
use crate::support::running::{Running, run};
use crate::support::waiting::holds_soon;
use rustix::process::Signal;

#[test]
fn killing_kennel_ends_the_command_and_the_helper() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let mark = unique_mark();
        let script = format!("setsid sleep 1000{mark} & echo ready; sleep 1000{mark}");
        let mut running = Running::ready(ground.exec(&[], &["sh", "-c", &script]));
        let helpers = children_of(running.kept.pid());
        assert_eq!(helpers.len(), 1);
        assert!(holds_soon(|| processes_with(&mark).len() >= 3), "{caller:?}: {:?}", processes_with(&mark));
        running.kept.signal(Signal::KILL);
        running.end();
        assert!(holds_soon(|| processes_with(&mark).is_empty()), "{caller:?}: the command lives on");
        let helper = std::path::PathBuf::from(format!("/proc/{}", helpers[0]));
        assert!(holds_soon(|| !helper.exists()), "{caller:?}: the helper lives on");
    }
}

#[test]
fn what_the_command_leaves_running_ends_with_it() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let mark = unique_mark();
        // It holds the standard streams, has a session of its own and ignores what can be ignored.
        let script = format!("(trap '' HUP TERM INT; exec setsid sleep 1000{mark}) & echo done");
        assert_eq!(ground.sh(&[], &script).fine(), "done\n", "{caller:?}");
        assert!(holds_soon(|| processes_with(&mark).is_empty()), "{caller:?}: it lives on");
    }
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let ran = run(ground.exec(&["--timeout", "0.3"], &["sleep", "1000"]));
        ran.refused(137, "kennel: deadline passed (signal 9): raise --timeout\n");
    }
}

#[test]
fn two_boxes_do_not_see_each_other() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let mark = unique_mark();
        let script = format!(
            "echo mine > /tmp/file; echo mine > $HOME/file; echo mine > /dev/shm/file; echo ready; exec sleep 1000{mark}"
        );
        let first = Running::ready(ground.exec(&[], &["sh", "-c", &script]));
        let look = "ls -A /tmp $HOME /dev/shm; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; kill -9 -1; echo alone";
        let second = ground.sh(&[], look);
        assert!(!second.out().contains("file"), "{caller:?}: {}", second.out());
        assert!(!second.out().contains(&mark), "{caller:?}: {}", second.out());
        assert!(!processes_with(&mark).is_empty(), "{caller:?}: the second box ended the first");
        first.kept.signal(Signal::TERM);
        assert_eq!(first.finish().code, Some(143));
    }
}

#[test]
fn thirty_at_once_all_succeed() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let running = (0..30)
            .map(|number| Running::start(ground.exec(&[], &["sh", "-c", &format!("echo {number}; exit {number}")])))
            .collect::<Vec<_>>();
        for (number, running) in (0..).zip(running) {
            let ran = running.finish();
            assert_eq!((ran.code, ran.out(), ran.err()), (Some(number), format!("{number}\n"), String::new()));
        }
    }
}
