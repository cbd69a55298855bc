//! The official conformance suites, strictly, against the fixture behind `kennel run`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Command;
use support::gateway::Gateway;
use support::programs::{fixture, material};
use support::{announce, running};

#[track_caller]
fn passes_with(model: &str) {
    material("KENNEL_TEST_CONFORMANCE_A");
    let gateway = Gateway::start(&["--model", model], &[fixture().as_os_str()]);
    let results = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/run-conformance");
    let mut suites = Command::new(script);
    suites.arg(gateway.url()).arg(results.path());
    let said = running::run(suites).fine();
    announce(&format!("{model}: {said}"));
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {log}");
}

#[test]
fn both_suites_pass_with_a_process_per_session() {
    passes_with("per-session");
}

#[test]
fn both_suites_pass_with_a_shared_process() {
    passes_with("shared");
}

#[test]
fn both_suites_pass_with_a_process_per_user() {
    passes_with("per-user");
}
