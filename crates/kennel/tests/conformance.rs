//! The official conformance suites, strictly, against the fixture of either era behind `kennel run`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

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
    let results = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/run-conformance");
    let mut suites = Command::new(script);
    suites.arg(gateway.url()).arg(results.path()).arg(suite);
    let said = running::run(suites).fine();
    announce(&format!("{suite}, {model}, fixture {options:?}: {said}"));
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {log}");
}

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
