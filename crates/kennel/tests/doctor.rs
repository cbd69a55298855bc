//! `kennel doctor`: the truth about this machine, for people and for programs, and a refusal where boxes cannot be made.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use kennel_testkit::Caller;
use serde_json::Value;
use support::caller::{callers, myself, needs_root};
use support::ground::Ground;
use support::running::{Ran, run};

const DELEGATE: &str =
    "delegate cgroups to get the real limit: systemd-run --user --scope -p Delegate=yes kennel …, or run as root";

fn findings(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.out(), ran.err()))
}

fn check<'a>(findings: &'a Value, name: &str) -> &'a Value {
    let mut checks = findings["checks"].as_array().unwrap().iter();
    checks.find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check `{name}`: {findings:#}"))
}

#[test]
fn programs_get_every_check_with_its_status() {
    for caller in callers() {
        let ran = run(Ground::new(caller).kennel(["doctor", "--json"]));
        assert_eq!((ran.code, ran.err().as_str()), (Some(0), ""), "{caller:?}: {}", ran.out());
        let findings = findings(&ran);
        assert_eq!(findings["healthy"], true, "{caller:?}");
        let checks = findings["checks"].as_array().unwrap();
        for check in checks {
            assert!(check["name"].as_str().is_some_and(|name| !name.is_empty()), "{check}");
            assert!(["ok", "weak", "info"].contains(&check["status"].as_str().unwrap()), "{check}");
            assert!(check["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{check}");
            // What is weak can be helped, what is well needs no help.
            assert_eq!(check["fix"].is_string(), check["status"] == "weak", "{check}");
        }
        let names = ["kernel", "user namespaces", "cgroups", "Landlock", "seccomp", "engines"];
        let limits = ["memory limit", "process limit", "processor limit", "probe box"];
        for name in names.iter().chain(&limits) {
            check(&findings, name);
        }
        assert_eq!(findings["walls"]["isolation"], "full", "{caller:?}");
    }
}

#[test]
fn a_real_box_was_tried_from_inside() {
    for caller in callers() {
        let findings = findings(&run(Ground::new(caller).kennel(["doctor", "--json"])));
        let probe = check(&findings, "probe box");
        assert_eq!(probe["status"], "ok");
        assert_eq!(probe["detail"], "isolated: 11 promises tried from inside, all held", "{caller:?}");
    }
}

#[test]
fn people_get_a_line_for_each_check_and_a_verdict() {
    for caller in callers() {
        let out = run(Ground::new(caller).kennel(["doctor"])).fine();
        assert!(out.starts_with("   ok  kernel            Linux "), "{caller:?}: {out}");
        assert!(out.contains("\n   ok  seccomp           available\n"), "{caller:?}: {out}");
        let probe = "\n   ok  probe box         isolated: 11 promises tried from inside, all held\n";
        assert!(out.contains(probe), "{caller:?}: {out}");
        assert!(out.ends_with("\n\nBoxes can be made here.\n"), "{caller:?}: {out}");
    }
}

#[test]
fn an_ordinary_user_is_told_what_is_weak_and_how_to_help_it() {
    if !needs_root("another user") {
        return;
    }
    let ground = Ground::new(Caller::User);
    let json = findings(&run(ground.kennel(["doctor", "--json"])));
    let people = run(ground.kennel(["doctor"])).fine();
    for (name, wall, hold, detail) in [
        ("memory limit", "memory", "watchdog", "watchdog (fall-back)"),
        ("process limit", "pids", "rlimit", "rlimit (fall-back)"),
        ("processor limit", "cpu", "affinity", "processor affinity (fall-back)"),
    ] {
        let check = check(&json, name);
        assert_eq!((&check["status"], &check["detail"]), (&"weak".into(), &detail.into()));
        assert_eq!(check["fix"], DELEGATE);
        assert_eq!(json["walls"][wall], hold);
        let lines = format!("\n weak  {name:<17} {detail}\n{:25}fix: {DELEGATE}\n", "");
        assert!(people.contains(&lines), "no {lines} in {people}");
    }
}

#[test]
fn the_verbose_flag_of_exec_says_the_same_as_the_doctor() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let json = findings(&run(ground.kennel(["doctor", "--json"])));
        let ran = run(ground.exec(&["--verbose", "--read", "."], &["true"]));
        let detail = |name| check(&json, name)["detail"].as_str().unwrap().to_owned();
        let landlock = json["walls"]["landlock"].as_u64();
        let landlock = landlock.map_or("absent".to_owned(), |version| format!("version {version}"));
        let (memory, pids, cpu) = (detail("memory limit"), detail("process limit"), detail("processor limit"));
        let work = ground.text("work");
        let expected = format!(
            "kennel: read {work} at {work}\n\
             kennel: memory 512 MiB by {memory}; 128 processes by {pids}; 1 processors by {cpu}; Landlock {landlock}\n"
        );
        assert_eq!((ran.code, ran.err(), ran.out()), (Some(0), expected, String::new()), "{caller:?}");
    }
}

/// Runs Kennel in a user namespace that allows no others.
fn without_user_namespaces(arguments: &[&str]) -> Ran {
    run(Ground::new(Caller::User).kennel_without_namespaces(arguments))
}

#[test]
fn without_user_namespaces_nothing_runs_and_the_reason_is_told() {
    // More than once: the refusal and the end of the refused box race each other.
    for _ in 0..10 {
        without_user_namespaces(&["exec", "--", "echo", "unconfined"]).refused(
            125,
            "kennel: the box was refused while making a user namespace: No space left on device (os error 28)\n  \
             hint: user namespaces are blocked here (sysctl, AppArmor, a container or a chroot); run `kennel doctor` for the exact cause and fix, or accept a weaker box with --accept-missing namespaces\n",
        );
    }
}

#[test]
fn without_user_namespaces_the_doctor_names_the_switch() {
    let ran = without_user_namespaces(&["doctor"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err());
    let out = ran.out();
    let words = " FAIL  user namespaces   user.max_user_namespaces is 0\n                         \
                 fix: sysctl -w user.max_user_namespaces=15000\n";
    assert!(out.contains(words), "{out}");
    let words = "\n FAIL  probe box         the box was refused while making a user namespace: No space left on device (os error 28)\n";
    assert!(out.contains(words), "{out}");
    assert!(out.ends_with("\n\nBoxes cannot be made here as they should.\n"), "{out}");
    assert!(!out.contains("run `kennel doctor`"), "the doctor sends to the doctor: {out}");

    let ran = without_user_namespaces(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1));
    let findings = findings(&ran);
    assert_eq!((&findings["healthy"], &findings["walls"]), (&false.into(), &Value::Null));
    assert_eq!(check(&findings, "user namespaces")["fix"], "sysctl -w user.max_user_namespaces=15000");
    assert_eq!(check(&findings, "probe box")["status"], "fail");
    assert!(check(&findings, "probe box")["fix"].is_string());
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let ground = Ground::new(myself());
    for arguments in [&["doctor"][..], &["doctor", "--json"], &["completions", "bash"]] {
        let mut command = ground.kennel(arguments.iter().copied());
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
        assert_ne!(output.status.code(), Some(101), "{arguments:?}: {errors}");
    }
}
