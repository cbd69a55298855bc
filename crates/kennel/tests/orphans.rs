//! What is left when Kennel is killed with many boxes full of processes that try to get away: nothing.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use kennel_testkit::Caller;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use support::ground::{Ground, callers};
use support::leftovers::{Process, cgroups_of, mounts, ownerless_cgroups, processes_with};
use support::running::{Kept, run};
use support::{alone, announce, programs, settle};

const BOXES: usize = 50;
const ROUNDS: usize = 20;
/// The processes of one box: its shell with a `sleep`, one grandchild, and another with two children of its own.
const PROCESSES_PER_BOX: usize = 6;
/// Nothing of the boxes may live longer than this after Kennel.
const PATIENCE: Duration = Duration::from_secs(1);
const START_PATIENCE: Duration = Duration::from_mins(1);

/// A Kennel with many boxes, in full swing.
struct Crowd {
    kennel: Kept,
    helper: Process,
    mark: String,
}

impl Crowd {
    fn gather(ground: &Ground, caller: Caller, boxes: usize, round: usize) -> Self {
        // As fractions of a second they change nothing for `sleep`.
        let mark = format!(".{:07}{round:03}", std::process::id());
        let program = ground.programs().join("many_boxes");
        let words = [program.to_str().unwrap(), &boxes.to_string(), &mark];
        let mut command = ground.command(caller, words);
        let mut kennel = Kept::start(command.stdout(Stdio::piped()));
        wait_for_ready(&mut kennel);
        let all = boxes * PROCESSES_PER_BOX;
        let few = || {
            let count = sleepers(&mark).len();
            (count < all).then(|| format!("only {count} of {all} processes came up"))
        };
        settle(START_PATIENCE, few).unwrap();
        let helper = processes_with(program.to_str().unwrap())
            .into_iter()
            .find(|process| process.parent == kennel.pid() && process.line.contains("__jail-helper"))
            .expect("the helper is a child of Kennel");
        Self { kennel, helper, mark }
    }
}

fn wait_for_ready(kennel: &mut Kept) {
    let stdout = kennel.0.stdout.take().unwrap();
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(stdout).read_line(&mut line);
        let _ = sender.send(line);
    });
    let line = receiver.recv_timeout(START_PATIENCE).expect("the boxes come up in time");
    assert_eq!(line, "ready\n", "the boxes came up");
}

/// What runs inside the boxes; Kennel itself has the mark on its command line too.
fn sleepers(mark: &str) -> Vec<Process> {
    let own = |process: &Process| process.line.starts_with("sleep ") || process.line.starts_with("sh ");
    processes_with(mark).into_iter().filter(own).collect()
}

fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

fn assert_ended(what: &str, mark: &str) -> Duration {
    let alive = || {
        let alive = sleepers(mark);
        (!alive.is_empty()).then(|| format!("{} processes live: {:?}", alive.len(), alive.first()))
    };
    settle(PATIENCE, alive).unwrap_or_else(|complaint| panic!("{what}: {complaint}"))
}

#[test]
fn nothing_is_left_when_kennel_is_killed() {
    let _alone = alone();
    for caller in callers("killing Kennel") {
        let ground = Ground::new();
        let program = ground.add_program(programs::many_boxes());
        let mut longest = Duration::ZERO;
        for round in 0..ROUNDS {
            let what = format!("as {caller:?} in round {round}");
            let mounts_before = mounts();
            let mut crowd = Crowd::gather(&ground, caller, BOXES, round);
            kill(crowd.kennel.pid());
            let ended = assert_ended(&what, &crowd.mark);
            assert!(!crowd.kennel.lives(), "{what}: Kennel was killed");
            let rest = || {
                let processes = processes_with(program.to_str().unwrap());
                let cgroups = cgroups_of(crowd.helper.pid);
                let mounts: Vec<_> = mounts().difference(&mounts_before).cloned().collect();
                let files = ground.files_left();
                let clean = processes.is_empty() && cgroups.is_empty() && mounts.is_empty() && files.is_empty();
                (!clean).then(|| format!("{what}: {processes:?}, cgroups {cgroups:?}, mounts {mounts:?}, {files:?}"))
            };
            let cleaned = settle(PATIENCE, rest).unwrap_or_else(|complaint| panic!("{complaint}"));
            longest = longest.max(ended + cleaned);
        }
        announce(&format!("as {caller:?}: {ROUNDS} times {BOXES} boxes, all gone after {longest:?} at the latest"));
        ground.assert_clean();
    }
}

#[test]
fn the_next_kennel_removes_what_a_killed_helper_left() {
    let _alone = alone();
    for caller in callers("killing Kennel and its helper") {
        let ground = Ground::new();
        let program = ground.add_program(programs::many_boxes());
        let before = ownerless_cgroups();
        for round in 0..3 {
            let what = format!("as {caller:?} in round {round}");
            let crowd = Crowd::gather(&ground, caller, BOXES, ROUNDS + round);
            // The helper first: it must have no time to clean up.
            kill(crowd.helper.pid);
            kill(crowd.kennel.pid());
            assert_ended(&what, &crowd.mark);
            let left = cgroups_of(crowd.helper.pid);
            let finished = run(&mut ground.command(caller, [program.to_str().unwrap(), "--end-leftovers"]));
            assert_eq!(finished.code, Some(0), "{what}: {finished:?}");
            let removed: usize = finished.stdout.trim().parse().unwrap();
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
    for caller in callers("killing `kennel exec`") {
        let ground = Ground::new();
        let mark = format!(".{:07}999", std::process::id());
        let script = format!("(setsid sleep 1000{mark} &); sleep 1001{mark}");
        let mut command = ground.exec(caller, &[], &["sh", "-c", &script]);
        let kennel = Kept::start(&mut command);
        let few = || (sleepers(&mark).len() < 3).then(|| "the command does not come up".to_owned());
        settle(START_PATIENCE, few).unwrap();
        kill(kennel.pid());
        assert_ended(&format!("as {caller:?}"), &mark);
        ground.assert_clean();
    }
}
