//! What is left when Kennel is killed with many boxes full of processes that try to get away: nothing.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use rustix::process::Signal;
use std::time::Duration;
use support::caller::callers;
use support::ground::Ground;
use support::leftovers::{cgroups_of, mounts, ownerless_cgroups};
use support::processes::{Process, processes_with, signal, unique_mark};
use support::running::{Kept, Running, run};
use support::waiting::{PATIENCE, settle};
use support::{alone, announce, programs};

const BOXES: usize = 50;
const ROUNDS: usize = 20;
/// The processes of one box: its shell with a `sleep`, one grandchild, and another with two children of its own.
const PROCESSES_PER_BOX: usize = 6;
/// Nothing of the boxes may live longer than this after Kennel.
const LONGEST: Duration = Duration::from_secs(1);

/// A Kennel with many boxes, in full swing.
struct Crowd {
    kennel: Running,
    helper: Process,
    mark: String,
}

impl Crowd {
    fn gather(ground: &Ground, boxes: usize) -> Self {
        let mark = unique_mark();
        let program = ground.programs().join("many_boxes");
        let words = [program.to_str().unwrap(), &boxes.to_string(), &mark];
        let kennel = Running::ready(ground.command(words));
        assert_eq!(kennel.out(), "ready\n", "the boxes came up");
        let all = boxes * PROCESSES_PER_BOX;
        let few = || {
            let count = sleepers(&mark).len();
            (count < all).then(|| format!("only {count} of {all} processes came up"))
        };
        settle(PATIENCE, few).unwrap();
        let helper = processes_with(program.to_str().unwrap())
            .into_iter()
            .find(|process| process.parent == kennel.kept.pid() && process.line.contains("__jail-helper"))
            .expect("the helper is a child of Kennel");
        Self { kennel, helper, mark }
    }
}

/// What runs inside the boxes; Kennel itself has the mark on its command line too.
fn sleepers(mark: &str) -> Vec<Process> {
    let own = |process: &Process| process.line.starts_with("sleep ") || process.line.starts_with("sh ");
    processes_with(mark).into_iter().filter(own).collect()
}

fn assert_ended(what: &str, mark: &str) -> Duration {
    let alive = || {
        let alive = sleepers(mark);
        (!alive.is_empty()).then(|| format!("{} processes live: {:?}", alive.len(), alive.first()))
    };
    settle(LONGEST, alive).unwrap_or_else(|complaint| panic!("{what}: {complaint}"))
}

#[test]
fn nothing_is_left_when_kennel_is_killed() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let program = ground.add_program(programs::many_boxes());
        let mut longest = Duration::ZERO;
        for round in 0..ROUNDS {
            let what = format!("as {caller:?} in round {round}");
            let mounts_before = mounts();
            let mut crowd = Crowd::gather(&ground, BOXES);
            crowd.kennel.kept.signal(Signal::KILL);
            let ended = assert_ended(&what, &crowd.mark);
            assert!(!crowd.kennel.kept.lives(), "{what}: Kennel was killed");
            let rest = || {
                let processes = processes_with(program.to_str().unwrap());
                let cgroups = cgroups_of(crowd.helper.pid);
                let mounts: Vec<_> = mounts().difference(&mounts_before).cloned().collect();
                let files = ground.files_left();
                let clean = processes.is_empty() && cgroups.is_empty() && mounts.is_empty() && files.is_empty();
                (!clean).then(|| format!("{what}: {processes:?}, cgroups {cgroups:?}, mounts {mounts:?}, {files:?}"))
            };
            let cleaned = settle(LONGEST, rest).unwrap_or_else(|complaint| panic!("{complaint}"));
            longest = longest.max(ended + cleaned);
        }
        announce(&format!("as {caller:?}: {ROUNDS} times {BOXES} boxes, all gone after {longest:?} at the latest"));
        ground.assert_clean();
    }
}

#[test]
fn the_next_kennel_removes_what_a_killed_helper_left() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let program = ground.add_program(programs::many_boxes());
        let before = ownerless_cgroups();
        for round in 0..3 {
            let what = format!("as {caller:?} in round {round}");
            let crowd = Crowd::gather(&ground, BOXES);
            // The helper first: it must have no time to clean up.
            assert!(signal(crowd.helper.pid, Signal::KILL));
            crowd.kennel.kept.signal(Signal::KILL);
            assert_ended(&what, &crowd.mark);
            let left = cgroups_of(crowd.helper.pid);
            let ran = run(ground.command([program.to_str().unwrap(), "--end-leftovers"]));
            assert_eq!(ran.code, Some(0), "{what}: {ran:?}");
            let removed: usize = ran.out().trim().parse().unwrap();
            assert!(removed >= left.len(), "{what}: {removed} of {} cgroups removed", left.len());
            let still = ownerless_cgroups();
            assert!(still.is_subset(&before), "{what}: {} cgroups are still there", still.len());
        }
        ground.assert_clean();
    }
}

#[test]
fn nothing_is_left_when_one_command_is_killed() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let mark = unique_mark();
        let script = format!("(setsid sleep 1000{mark} &); sleep 1001{mark}");
        let kennel = Kept::start(ground.exec(&[], &["sh", "-c", &script]));
        let few = || (sleepers(&mark).len() < 3).then(|| "the command does not come up".to_owned());
        settle(PATIENCE, few).unwrap();
        kennel.signal(Signal::KILL);
        assert_ended(&format!("as {caller:?}"), &mark);
        ground.assert_clean();
    }
}
