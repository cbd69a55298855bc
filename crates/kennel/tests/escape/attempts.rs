//! Makes one attempt, in a box or without one, and judges how it ended.

use crate::scene::Scene;
use crate::support::announce;
use crate::support::ground::Ground;
use crate::support::running::{Ran, run};
use crate::support::terminal::Terminal;
use kennel_testkit::{Argument, Attempt, Caller, HostExpectation, Outcome, Report, Setting};
use std::ffi::OsString;
use std::fs::File;
use std::sync::Mutex;
use std::thread;

/// Where an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a box, where it must be blocked.
    Box,
    /// Without one, where it must escape: a suite in which nothing can escape proves nothing.
    Host,
}

/// What came of one attempt in one place.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) attempt: &'static str,
    pub(crate) place: Place,
    pub(crate) verdict: Verdict,
}

/// Whether an attempt ended as it must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As it must.
    Right(String),
    /// Otherwise.
    Wrong(String),
    /// Nothing was proved, because of the machine; the reason is told.
    Skipped(String),
}

/// The engine that makes the boxes of the suite; `host` in its place must make the suite fail.
pub(crate) const BOX_ENGINE: &str = "native";

/// How often the processors are tried before they count as too busy.
const BURNS: usize = 5;

/// Whether an attempt is about the machine's resources, so that it needs the machine for itself.
pub(crate) fn is_bomb(attempt: &Attempt) -> bool {
    attempt.arguments.contains(&Argument::Amount) || attempt.name == "core_dump"
}

/// Makes all attempts, several at once, each in a box and without one.
pub(crate) fn make_all(
    ground: &Ground,
    attempts: impl Iterator<Item = &'static Attempt> + Send,
    at_once: usize,
) -> Vec<Line> {
    let attempts = Mutex::new(attempts);
    let lines = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some(attempt) = attempts.lock().unwrap().next() else { return };
                    for place in [Place::Box, Place::Host] {
                        let verdict = if attempt.name == "cpu_bomb" && place == Place::Host {
                            control_of_cpu_bomb(ground, attempt)
                        } else {
                            make(ground, attempt, place, 0)
                        };
                        lines.lock().unwrap().push(Line { attempt: attempt.name, place, verdict });
                    }
                }
            });
        }
    });
    lines.into_inner().unwrap()
}

/// Others may use this machine too, and leave less than a burner without a box could take.
fn control_of_cpu_bomb(ground: &Ground, attempt: &'static Attempt) -> Verdict {
    let tries = (0..BURNS).map(|round| make(ground, attempt, Place::Host, round));
    let mut last = Verdict::Skipped("not tried".to_owned());
    for verdict in tries {
        match verdict {
            Verdict::Wrong(detail) => last = Verdict::Skipped(format!("this machine is too busy: {detail}")),
            other => return other,
        }
    }
    announce(&format!("SKIPPED: the control of {} as {:?}: {last:?}", attempt.name, ground.caller()));
    last
}

fn make(ground: &Ground, attempt: &'static Attempt, place: Place, round: usize) -> Verdict {
    if place == Place::Host
        && let HostExpectation::NotPossible(reason) = expectation(attempt, ground.caller())
    {
        return Verdict::Skipped(reason.to_owned());
    }
    let name = format!("{}-{place:?}-{round}", attempt.name);
    let mut scene = match Scene::new(ground, &name, attempt) {
        Ok(scene) => scene,
        Err(missing) => return Verdict::Skipped(missing),
    };
    let ran = run_attempt(ground, attempt, place, &scene);
    let report = ran.out().lines().find_map(|line| Report::parse(line).ok());
    match place {
        Place::Box => judge_box(attempt, &ran, report.as_ref(), &scene.complaints()),
        Place::Host => judge_host(&ran, report.as_ref()),
    }
}

/// What the catalogue expects without a box, and what only the harness knows.
fn expectation(attempt: &Attempt, caller: Caller) -> HostExpectation {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    if attempt.name == "cpu_bomb" && processors < 2 {
        return HostExpectation::NotPossible("this machine has one processor");
    }
    attempt.host_expectation(caller)
}

/// The command line of an attempt, inside of what its setting asks for.
fn run_attempt(ground: &Ground, attempt: &Attempt, place: Place, scene: &Scene) -> Ran {
    let mut words: Vec<OsString> = Vec::new();
    let shell = |script: &str| ["sh", "-c", script, "sh"].map(OsString::from);
    match attempt.setting {
        Setting::TerminalOnStdin => words.extend(["setsid", "--ctty", "--wait"].map(OsString::from)),
        Setting::LeakedDescriptor => {
            words.extend(shell("file=$1; shift; exec 9<\"$file\"; exec \"$@\""));
            words.push(scene.file.clone().into());
        }
        Setting::OwnInit if place == Place::Host => {
            words.extend(["unshare", "--pid", "--fork", "--mount-proc"].map(OsString::from));
        }
        Setting::Plain | Setting::FileOnStdin | Setting::DirectoryOnStdin | Setting::OwnInit => {}
    }
    if attempt.name == "descriptor_bomb" {
        // The limit to be seen is the box's, not the one of whoever runs the tests.
        words.extend(shell("ulimit -n 4096; exec \"$@\""));
    }
    // The engine `host` closes descriptors too, so this one needs a control without Kennel.
    let without_kennel = place == Place::Host && attempt.setting == Setting::LeakedDescriptor;
    if !without_kennel {
        let engine = if place == Place::Box { BOX_ENGINE } else { "host" };
        let mut flags = vec!["--read".into(), ground.programs().into()];
        flags.extend(scene.flags.iter().cloned().chain(["--engine".into(), engine.into()]));
        words.extend(ground.exec_words(flags));
    }
    words.extend([ground.hostile().into(), attempt.name.into()]);
    words.extend(scene.arguments.iter().cloned());
    let mut command = ground.command(words);
    match attempt.setting {
        Setting::FileOnStdin => drop(command.stdin(File::open(&scene.file).unwrap())),
        Setting::DirectoryOnStdin => drop(command.stdin(File::open(scene.outside()).unwrap())),
        Setting::TerminalOnStdin => {
            let terminal = Terminal::open_raw();
            command.stdin(terminal.stream());
            let mut ran = run(command);
            if place == Place::Box && terminal.typed() > 0 {
                ran.stdout.clear();
                ran.stderr.extend(b"the caller's terminal was typed into");
            }
            return ran;
        }
        Setting::Plain | Setting::LeakedDescriptor | Setting::OwnInit => {}
    }
    run(command)
}

fn judge_box(attempt: &Attempt, ran: &Ran, report: Option<&Report>, complaints: &[String]) -> Verdict {
    if !complaints.is_empty() {
        return Verdict::Wrong(format!("{}; the report: {report:?}", complaints.join(", ")));
    }
    // Kennel passes a pipe in place of a file to read, and refuses a directory: there is nothing left to try.
    match (attempt.setting, report) {
        (Setting::FileOnStdin, Some(Report { outcome: Outcome::NotPossibleHere, detail, .. })) => {
            return Verdict::Right(detail.clone());
        }
        // There is no box with a program that it could rewrite so.
        (_, None) if attempt.arguments.contains(&Argument::SetuidDirectory) && ran.err().contains("set-user-id") => {
            return Verdict::Right("refused".to_owned());
        }
        (Setting::DirectoryOnStdin, None) if ran.err().contains("standard input is a directory") => {
            return Verdict::Right("refused".to_owned());
        }
        _ => {}
    }
    let Some(report) = report else {
        // Where no cgroup holds the limit, the whole box is ended for it, and with it whoever would report.
        let starved = attempt.name.ends_with("memory_bomb") && ran.err().contains("kennel: out of memory");
        return if starved {
            Verdict::Right("the box was ended: out of memory".to_owned())
        } else {
            Verdict::Wrong(format!("no report: {ran:?}"))
        };
    };
    match report.outcome {
        Outcome::Blocked if report.detail.starts_with("no answer in") => Verdict::Wrong(report.detail.clone()),
        // The kernel kills for want of memory; nothing else in a box does.
        Outcome::Blocked if report.detail == "killed by SIGKILL" && !is_bomb(attempt) => {
            Verdict::Wrong(report.detail.clone())
        }
        Outcome::Blocked => Verdict::Right(report.detail.clone()),
        Outcome::Escaped | Outcome::NotPossibleHere => {
            Verdict::Wrong(format!("{}: {}", report.outcome.word(), report.detail))
        }
    }
}

fn judge_host(ran: &Ran, report: Option<&Report>) -> Verdict {
    match report {
        Some(Report { outcome: Outcome::Escaped, detail, .. }) => Verdict::Right(detail.clone()),
        Some(report) => Verdict::Wrong(format!("{}: {}", report.outcome.word(), report.detail)),
        None => Verdict::Wrong(format!("no report: {ran:?}")),
    }
}
