//! How a call ends that does not succeed: codes, words, and nothing left behind.

use crate::scene::Scene;
use crate::support::caller::{callers, myself};
use crate::support::processes::processes_with;
use crate::support::running::Running;
use crate::support::waiting::holds_soon;
use rustix::process::Signal;

#[test]
fn a_tool_that_fails_is_a_failure() {
    let scene = Scene::new(myself());
    let ran = scene.call(&["test_error_handling"]);
    assert_eq!((ran.code, ran.out().as_str()), (Some(1), ""));
    let words = "kennel: test_error_handling failed: This tool intentionally returns an error for testing\n";
    assert!(ran.err().ends_with(words), "{}", ran.err());
    let ran = scene.call(&["test_error_handling", "--json"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out().contains("\"isError\":true"), "a program gets the whole result: {}", ran.out());
}

#[test]
fn an_error_of_the_server_is_told() {
    let scene = Scene::new(myself());
    let ran = scene.call(&["echo", "message:=5"]);
    assert_eq!((ran.code, ran.out().as_str()), (Some(1), ""));
    let words = "kennel: tools/call failed: Invalid params: the argument `message` must be a string (code -32602)\n";
    assert!(ran.err().ends_with(words), "{}", ran.err());
    let ran = scene.call_with("--no-tools-capability", &["echo", "message=hi"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err().contains("tool"), "{}", ran.err());
}

#[test]
fn a_server_that_ends_too_early_is_a_failure_and_leaves_nothing() {
    for caller in callers() {
        let scene = Scene::new(caller);
        let ran = scene.call_with("--exit-at-start 3", &["echo", "message=hi"]);
        assert_eq!((ran.code, ran.out().as_str()), (Some(1), ""), "{caller:?}: {}", ran.err());
        assert!(ran.err().contains("exit code 3") || ran.err().contains("code 3"), "{}", ran.err());
        let ran = scene.call(&["die"]);
        assert_eq!((ran.code, ran.out().as_str()), (Some(1), ""), "{caller:?}: {}", ran.err());
        assert!(ran.err().contains("kennel: tools/call failed: "), "{}", ran.err());
        let missing = scene.ground.kennel(["call", "--run", "/no/such/server", "echo", "message=hi"]);
        let ran = crate::support::running::run(missing);
        assert_eq!((ran.code, ran.out().as_str()), (Some(1), ""), "{caller:?}: {}", ran.err());
        assert!(ran.err().contains("/no/such/server"), "{}", ran.err());
        scene.ground.assert_clean();
    }
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let scene = Scene::new(myself());
    let ran = scene.call(&["--call-timeout", "0.5", "hang"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err().contains("(code -31003)"), "{}", ran.err());
    scene.ground.assert_clean();
}

#[test]
fn a_signal_ends_the_call_and_the_server() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let scene = Scene::new(myself());
        let path = scene.server.to_str().unwrap();
        let command = scene.command("--ignore-eof");
        let calling = Running::start(scene.kennel(&["call", "--run", &command, "hang"]));
        let kennel = calling.kept.pid();
        let serves =
            || processes_with(path).iter().any(|process| process.pid != kennel && process.line.starts_with(path));
        assert!(holds_soon(serves), "the server does not come up");
        calling.kept.signal(signal);
        let ran = calling.finish();
        assert_eq!((ran.code, ran.out().as_str()), (Some(code), ""), "{}", ran.err());
        scene.ground.assert_clean();
    }
}
