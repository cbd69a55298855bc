//! The escape suite: every known way out of a box is tried, as root and as an ordinary user, and must be blocked.
//! The same attempts without a box must escape, so that the suite can fail.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "escape/attempts.rs"]
mod attempts;
#[path = "escape/cell.rs"]
mod cell;
#[path = "escape/scene.rs"]
mod scene;
mod support;
#[path = "escape/witness.rs"]
mod witness;

use attempts::{Line, Place, Verdict, is_bomb, make_all};
use kennel_testkit::{Caller, Outcome, Report, attempts};
use std::fmt::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::caller::{callers, needs_root};
use support::ground::Ground;
use support::processes::{processes_with, unique_mark};
use support::running::{Kept, run};
use support::terminal::Terminal;
use support::waiting::{PATIENCE, settle};
use support::{alone, announce};
use witness::Witness;

/// Attempts made at the same time.
const AT_ONCE: usize = 4;

#[test]
fn every_attempt_is_blocked_for_root() {
    suite(Caller::Root);
}

#[test]
fn every_attempt_is_blocked_for_an_ordinary_user() {
    suite(Caller::User);
}

fn suite(caller: Caller) {
    let _alone = alone();
    if caller == Caller::Root && !needs_root("the escape suite as root") {
        return;
    }
    let start = Instant::now();
    let ground = Ground::new(caller);
    let mut lines = make_all(&ground, attempts().filter(|attempt| !is_bomb(attempt)), AT_ONCE);
    lines.extend(make_all(&ground, attempts().filter(|attempt| is_bomb(attempt)), 1));
    let count = |place, wanted: fn(&Verdict) -> bool| {
        lines.iter().filter(|line| line.place == place && wanted(&line.verdict)).count()
    };
    let right: fn(&Verdict) -> bool = |verdict| matches!(verdict, Verdict::Right(_));
    let skipped: fn(&Verdict) -> bool = |verdict| matches!(verdict, Verdict::Skipped(_));
    announce(&format!(
        "escape suite, {caller:?}: {} of {} attempts blocked in a box; {} escaped without one, where {} others \
         cannot on this machine; {:.1} s",
        count(Place::Box, right),
        attempts().count(),
        count(Place::Host, right),
        count(Place::Host, skipped),
        start.elapsed().as_secs_f64(),
    ));
    for line in lines.iter().filter(|line| line.place == Place::Box && skipped(&line.verdict)) {
        announce(&format!("SKIPPED: {} in a box: {:?}", line.attempt, line.verdict));
    }
    ground.assert_clean();
    let failures = table(&lines);
    assert!(failures.is_empty(), "as {caller:?}:\n{failures}");
    // Both halves must have said something: a suite that skips everything proves nothing.
    assert!(count(Place::Box, right) * 10 >= attempts().count() * 9, "too few attempts were made");
    assert!(count(Place::Host, right) >= 40, "too few attempts have a control");
}

fn table(lines: &[Line]) -> String {
    let mut table = String::new();
    for line in lines {
        if let Verdict::Wrong(detail) = &line.verdict {
            writeln!(table, "{:<28} {:<5} {detail}", line.attempt, format!("{:?}", line.place)).unwrap();
        }
    }
    table
}

#[test]
fn the_host_does_not_feel_a_fork_bomb() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let flags = ["--pids", "20", "--timeout", "10"];
        let mut command = ground.exec_hostile(&flags, &["--act", "fork_forever"]);
        command.stderr(Stdio::null());
        let mut bomb = Kept::start(command);
        let start = Instant::now();
        let (mut forks, mut most) = (0, 0);
        while start.elapsed() < Duration::from_secs(2) {
            // As the same user as the bomb: what it uses up must be the box's, not the user's.
            let ran = run(ground.command(["true"]));
            assert_eq!(ran.code, Some(0), "no fork beside the bomb, as {caller:?}: {ran:?}");
            forks += 1;
            most = most.max(processes_with("fork_forever").len());
        }
        assert!(bomb.lives(), "the bomb ended by itself, as {caller:?}");
        assert!(forks > 5, "the harness came to only {forks} forks, as {caller:?}");
        // The bomb, and the `kennel exec` that has its name on the command line.
        assert!((15..=21).contains(&most), "{most} processes of the bomb, as {caller:?}");
        drop(bomb);
        ground.assert_clean();
    }
}

#[test]
fn a_box_cannot_type_into_the_callers_terminal() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let hostile = ground.hostile();
        let setsid = ["setsid", "--ctty", "--wait"].map(std::ffi::OsString::from).to_vec();
        let attempt = [hostile.into(), "inject_terminal_input".into()].to_vec();

        // Without a box the byte arrives, so that its absence means something.
        let refused = std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").is_ok_and(|text| text.trim() == "0");
        if refused {
            announce("SKIPPED: the control of typing into the terminal: dev.tty.legacy_tiocsti is off");
        } else {
            let terminal = Terminal::open_raw();
            let words = [setsid.clone(), attempt.clone()].concat();
            let mut command = ground.command(words);
            command.stdin(terminal.stream());
            let ran = run(command);
            assert_eq!(terminal.typed(), 1, "as {caller:?}: {ran:?}");
        }

        let terminal = Terminal::open_raw();
        let words =
            [setsid, ground.exec_words(["--read".into(), ground.programs().into_os_string()]), attempt].concat();
        let mut command = ground.command(words);
        command.stdin(terminal.stream());
        let ran = run(command);
        assert_eq!(Report::parse(&ran.out()).unwrap().outcome, Outcome::Blocked, "as {caller:?}: {ran:?}");
        assert_eq!(terminal.typed(), 0, "as {caller:?}");
        ground.assert_clean();
    }
}

#[test]
fn two_boxes_do_not_reach_each_other() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let mark = unique_mark();
        let script = format!("for place in /tmp /dev/shm ~; do echo secret > $place/known; done; exec sleep 400{mark}");
        let mut other = Kept::start(ground.exec(&[], &["sh", "-c", &script]));
        let sleeper = || processes_with(&mark).into_iter().find(|process| process.line.starts_with("sleep "));
        settle(PATIENCE, || sleeper().is_none().then(|| "the other box does not come up".to_owned())).unwrap();
        let pid = sleeper().unwrap().pid.to_string();

        let hostile = |engine: &str, arguments: &[&str]| {
            let ran = run(ground.exec_hostile(&["--engine", engine], arguments));
            Report::parse(&ran.out()).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {ran:?}"))
        };
        let by_file = [
            ["read_other_box", "/tmp/known"],
            ["read_other_box", "/dev/shm/known"],
            ["read_other_box", "/home/kennel/known"],
        ];
        let by_number = [
            "see_outside_process",
            "read_outside_environment",
            "read_outside_memory",
            "trace_outside",
            "vm_read_outside",
            "probe_outside",
            "terminate_outside",
            "limit_outside",
            "take_descriptor_of_outside",
            "enter_outside_network",
        ];
        let mut tried = by_file.map(|words| words.to_vec()).to_vec();
        tried.extend(by_number.map(|name| vec![name, &pid]));
        tried.push(vec!["traverse_outside_root", &pid, "/tmp/known"]);
        for arguments in tried {
            let report = hostile("native", &arguments);
            assert_eq!(report.outcome, Outcome::Blocked, "as {caller:?}: {report:?}");
        }
        assert!(other.lives() && sleeper().is_some(), "the other box was ended, as {caller:?}");

        // Without a box the same caller reaches all of it, so there is something to keep apart.
        for arguments in [&["traverse_outside_root", &pid, "/tmp/known"][..], &["probe_outside", &pid]] {
            let report = hostile("host", arguments);
            assert_eq!(report.outcome, Outcome::Escaped, "without a box, as {caller:?}: {report:?}");
        }
        drop(other);
        ground.assert_clean();
    }
}

#[test]
fn a_box_on_the_hosts_network_reaches_no_abstract_socket() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        let verbose = run(ground.exec(&["--verbose"], &["true"]));
        let landlock = verbose.err().rsplit_once("Landlock version ").and_then(|(_, rest)| rest.trim().parse().ok());
        if landlock.unwrap_or(0) < 6 {
            announce("SKIPPED: abstract sockets on the host's network: this kernel's Landlock knows no scopes");
            return;
        }
        let name = format!("kennel-test-network{}", ground.path("").display());
        let mut witness = Witness::abstract_unix(&name);
        let ran = run(ground.exec_hostile(&["--network", "on"], &["abstract_socket", &name]));
        assert_eq!(Report::parse(&ran.out()).unwrap().outcome, Outcome::Blocked, "as {caller:?}: {ran:?}");
        assert_eq!(witness.complaint(), None, "as {caller:?}");
        ground.assert_clean();
    }
}
