//! How long a box lives: as long as its command, never longer than Kennel, and apart from every other box.

use crate::common_exec::{Caller, Running, Scene, holds_soon, processes_with, run};
use rustix::process::Signal;

/// A number of seconds to sleep that no other process on this machine sleeps.
fn marker(number: u32) -> String {
    format!("86{:05}.{number}", std::process::id() % 100_000)
}

#[test]
fn killing_kennel_ends_the_command_and_the_helper() {
    for (number, caller) in (10..).zip(Caller::all()) {
        let scene = Scene::new(caller);
        let marker = marker(number);
        let script = format!("setsid sleep {marker} & echo ready; sleep {marker}");
        let mut running = Running::ready(scene.exec(&[], &["sh", "-c", &script]));
        let helpers = crate::common_exec::children_of(running.child.id());
        assert_eq!(helpers.len(), 1);
        assert!(holds_soon(|| processes_with(&marker).len() >= 3), "{caller:?}: {:?}", processes_with(&marker));
        running.signal(Signal::KILL);
        running.end();
        assert!(holds_soon(|| processes_with(&marker).is_empty()), "{caller:?}: the command lives on");
        let helper = std::path::PathBuf::from(format!("/proc/{}", helpers[0]));
        assert!(holds_soon(|| !helper.exists()), "{caller:?}: the helper lives on");
    }
}

#[test]
fn what_the_command_leaves_running_ends_with_it() {
    for (number, caller) in (20..).zip(Caller::all()) {
        let scene = Scene::new(caller);
        let marker = marker(number);
        // It holds the standard streams, has a session of its own and ignores what can be ignored.
        let script = format!("(trap '' HUP TERM INT; exec setsid sleep {marker}) & echo done");
        assert_eq!(scene.sh(&[], &script).fine(), "done\n", "{caller:?}");
        assert!(holds_soon(|| processes_with(&marker).is_empty()), "{caller:?}: it lives on");
    }
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        let ran = run(scene.exec(&["--timeout", "0.3"], &["sleep", "1000"]));
        ran.refused(137, "kennel: deadline passed (signal 9): raise --timeout\n");
    }
}

#[test]
fn two_boxes_do_not_see_each_other() {
    for (number, caller) in (30..).zip(Caller::all()) {
        let scene = Scene::new(caller);
        let marker = marker(number);
        let script = format!(
            "echo mine > /tmp/file; echo mine > $HOME/file; echo mine > /dev/shm/file; echo ready; exec sleep {marker}"
        );
        let first = Running::ready(scene.exec(&[], &["sh", "-c", &script]));
        let look = "ls -A /tmp $HOME /dev/shm; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; kill -9 -1; echo alone";
        let second = scene.sh(&[], look);
        assert!(!second.out().contains("file"), "{caller:?}: {}", second.out());
        assert!(!second.out().contains(&marker), "{caller:?}: {}", second.out());
        assert!(!processes_with(&marker).is_empty(), "{caller:?}: the second box ended the first");
        first.signal(Signal::TERM);
        assert_eq!(first.finish().code, Some(143));
    }
}

#[test]
fn thirty_at_once_all_succeed() {
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        let running = (0..30)
            .map(|number| Running::start(scene.exec(&[], &["sh", "-c", &format!("echo {number}; exit {number}")])))
            .collect::<Vec<_>>();
        for (number, running) in (0..).zip(running) {
            let ran = running.finish();
            assert_eq!((ran.code, ran.out(), ran.err()), (Some(number), format!("{number}\n"), String::new()));
        }
    }
}
