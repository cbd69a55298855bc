//! The official conformance suites, strictly, against the fixture of either era behind `kennel run` and `kennel serve`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "serve/scene.rs"]
#[allow(dead_code, reason = "only a part of it is used here")]
mod scene;
mod support;

use rustix::process::Signal;
use scene::Scene;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use support::gateway::Gateway;
use support::programs::{fixture, material};
use support::{announce, running};

/// Runs one of the suites of `scripts/run-conformance` against a fixture with these options.
#[track_caller]
fn passes(suite: &str, model: &str, options: &[&str]) {
    material("KENNEL_TEST_CONFORMANCE_A");
    let mut command = vec![fixture().as_os_str()];
    command.extend(options.iter().map(OsStr::new));
    let gateway = Gateway::start(&["--model", model], &command);
    let said = judged(suite, &gateway.url());
    announce(&format!("{suite}, {model}, fixture {options:?}: {said}"));
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {log}");
}

/// What the suites say of a server, which they find without fault.
#[track_caller]
fn judged(suite: &str, url: &str) -> String {
    let results = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/run-conformance");
    let mut suites = Command::new(script);
    suites.arg(url).arg(results.path()).arg(suite);
    running::run(suites).fine()
}

/// The same with `kennel serve`, at the address of one of many servers. With other keys in its table than those of every
/// server, its tools are shown otherwise than the server shows them, though by their own names.
#[track_caller]
fn passes_among_others(suite: &str, options: &[&str], keys: &str) {
    material("KENNEL_TEST_CONFORMANCE_A");
    let scene = Scene::start(|file| {
        let broken = "start = \"eager\"\nmodel = \"shared\"";
        file.fixture("one", options, keys).fixture("other", &["--exit-at-start", "3"], broken)
    });
    let said = judged(suite, &format!("http://{}/servers/one/mcp", scene.address));
    announce(&format!("{suite}, served with {keys:?}, fixture {options:?}: {said}"));
    let (status, ..) = scene.end(Signal::INT);
    assert!(status.success(), "{status}");
}

/// With this, Kennel lists the tools of a server itself.
const SHOWN: &str = "tools = { descriptions = { test_simple_text = \"Says something simple.\" } }";

#[test]
fn both_suites_pass_with_a_process_per_session() {
    passes("legacy", "per-session", &[]);
}

#[test]
fn both_suites_pass_with_a_shared_process() {
    passes("legacy", "shared", &[]);
}

#[test]
fn both_suites_pass_with_a_process_per_user() {
    passes("legacy", "per-user", &[]);
}

#[test]
fn clients_with_sessions_pass_with_a_modern_process_per_session() {
    passes("legacy", "per-session", &["--era", "modern"]);
}

#[test]
fn clients_with_sessions_pass_with_a_shared_modern_process() {
    passes("legacy", "shared", &["--era", "modern"]);
}

#[test]
fn clients_without_sessions_pass_with_a_modern_process_each() {
    passes("modern", "per-session", &["--era", "modern"]);
}

#[test]
fn clients_without_sessions_pass_with_a_shared_modern_process() {
    passes("modern", "shared", &["--era", "modern"]);
}

#[test]
fn clients_without_sessions_pass_with_a_legacy_process_each() {
    passes("bridged", "per-session", &[]);
}

#[test]
fn the_tasks_extension_passes() {
    passes("tasks", "per-session", &["--era", "modern", "--tasks"]);
}

#[test]
fn clients_with_sessions_pass_at_one_of_many_servers() {
    passes_among_others("legacy", &[], "");
}

#[test]
fn clients_without_sessions_pass_at_one_of_many_servers() {
    passes_among_others("modern", &["--era", "modern"], "");
}

#[test]
fn clients_with_sessions_pass_at_a_server_whose_tools_are_shown_otherwise() {
    passes_among_others("legacy", &[], SHOWN);
}

#[test]
fn clients_without_sessions_pass_at_a_server_whose_tools_are_shown_otherwise() {
    passes_among_others("modern", &["--era", "modern"], SHOWN);
}
