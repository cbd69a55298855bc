//! `kennel-hostile <attempt> [argument…]`: makes one attempt to break out of its box and prints
//! one JSON line that says how it ended. `kennel-hostile --list` prints all attempts.
//! `kennel-hostile --act <act> [argument…]` does something to itself, without containment or report.
//!
//! Owns the command line and the exit code: 0 for any outcome, 1 if this program failed, 2 if it
//! was called wrongly. No content that an attempt gets hold of is ever printed.

mod acts;
mod bombs;
mod contain;
mod devices;
mod errno;
mod finding;
mod granted;
mod ipc;
mod kernel;
mod machine;
mod mounts;
mod namespaces;
mod network;
mod outside;
mod privileges;
mod processes;
mod procfs;
mod reading;
mod scene;
mod system;
mod terminal;
mod writing;

use std::env;
use std::process::ExitCode;

use kennel_testkit::{Attempt, Caller, HostExpectation, Report, attempt, attempts};
use serde_json::json;

use finding::Verdict;
use scene::Scene;

/// Makes one attempt.
type Runner = fn(&Scene) -> Verdict;

/// Every attempt's code, by the modules that own it.
fn runners() -> impl Iterator<Item = &'static (&'static str, Runner)> {
    [
        reading::RUNNERS,
        procfs::RUNNERS,
        writing::RUNNERS,
        granted::RUNNERS,
        processes::RUNNERS,
        outside::RUNNERS,
        ipc::RUNNERS,
        privileges::RUNNERS,
        terminal::RUNNERS,
        mounts::RUNNERS,
        namespaces::RUNNERS,
        kernel::RUNNERS,
        machine::RUNNERS,
        devices::RUNNERS,
        network::RUNNERS,
        bombs::RUNNERS,
    ]
    .into_iter()
    .flatten()
}

fn main() -> ExitCode {
    // First of all, before anything here opens a descriptor.
    let inherited = scene::open_descriptors();
    let mut arguments = env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--list") => {
            println!("{}", list());
            ExitCode::SUCCESS
        }
        Some("--act") => acts::run(&arguments.collect::<Vec<_>>()),
        Some(name) => run(name, &Scene::new(arguments.collect(), inherited)),
        None => usage("usage: kennel-hostile <attempt> [argument…] | --list | --act <act> [argument…]"),
    }
}

fn run(name: &str, scene: &Scene) -> ExitCode {
    let (Some(attempt), Some((_, runner))) = (attempt(name), runners().find(|(known, _)| *known == name)) else {
        return usage(&format!("there is no attempt `{name}`; see kennel-hostile --list"));
    };
    if scene.count() != attempt.arguments.len() {
        return usage(&format!("{name} needs these arguments: {:?}", attempt.arguments));
    }
    match contain::contained(name, || runner(scene)) {
        Ok(finding) => {
            let report = Report {
                attempt: name.to_owned(),
                outcome: finding.outcome,
                detail: finding.detail,
                reached: finding.reached,
            };
            println!("{}", report.to_line());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("kennel-hostile: {message}");
            ExitCode::FAILURE
        }
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("kennel-hostile: {message}");
    ExitCode::from(2)
}

fn list() -> serde_json::Value {
    attempts()
        .map(|attempt| {
            json!({
                "name": attempt.name,
                "description": attempt.description,
                "arguments": attempt.arguments.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>(),
                "setting": format!("{:?}", attempt.setting),
                "unconfined_root": expectation(attempt, Caller::Root),
                "unconfined_user": expectation(attempt, Caller::User),
            })
        })
        .collect()
}

/// What the attempt does on this host without a box, in words.
fn expectation(attempt: &Attempt, caller: Caller) -> String {
    match attempt.host_expectation(caller) {
        HostExpectation::Escapes => "escapes".to_owned(),
        HostExpectation::NotPossible(reason) => format!("not possible: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_attempt_in_the_catalogue_has_code_and_the_reverse() {
        let coded: BTreeSet<_> = runners().map(|(name, _)| *name).collect();
        let listed: BTreeSet<_> = attempts().map(|attempt| attempt.name).collect();
        assert_eq!(coded, listed);
        assert_eq!(coded.len(), runners().count());
    }
}
