//! The security page is held to its word: every promise names a test, and every test that it names exists.

use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tests that a text names as `crate/path/file.rs: test_name`, in backticks.
fn named_tests(text: &str) -> Vec<(&str, &str)> {
    text.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.split_once(".rs: ")).collect()
}

#[test]
fn every_promise_names_a_test_that_exists() {
    let page = fs::read_to_string(repository().join("docs/security.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    let (mut promises, mut wrong) = (0, Vec::new());
    for row in rows {
        promises += 1;
        let tests = named_tests(row);
        if tests.is_empty() {
            wrong.push(format!("names no test: {row}"));
        }
        for (file, test) in tests {
            let source = fs::read_to_string(repository().join("crates").join(format!("{file}.rs"))).unwrap_or_default();
            if !source.contains(&format!("fn {test}(")) {
                wrong.push(format!("there is no test `{file}.rs: {test}`"));
            }
        }
    }
    assert!(promises > 20, "only {promises} promises were found: has the page another form?");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
