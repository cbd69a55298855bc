//! Runs the unit tests of the Python side with every `CPython` that is there: `python3` of the PATH and pyenv's 3.9 to 3.14.
//! They start real processes with real socket pairs and pipes; no box is needed.
// Clippy knows test functions, but not the helpers beside them.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python/tests")
}

/// Where the interpreter behind a command really is, which a shim does not say by its path.
fn resolve(program: &Path) -> Option<PathBuf> {
    let output = Command::new(program).args(["-I", "-c", "import sys; print(sys.executable)"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| PathBuf::from(text.trim()))
}

/// pyenv's interpreter of a minor version.
fn pyenv(minor: u32) -> Option<PathBuf> {
    let root = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv")))?;
    let wanted = format!("3.{minor}.");
    std::fs::read_dir(root.join("versions"))
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&wanted))
        .map(|entry| entry.path().join("bin/python3"))
        .find(|program| program.exists())
}

/// Whether cells that are put together by chance are run as well; one version is enough for that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fuzz {
    Yes,
    No,
}

fn run(program: &Path, fuzz: Fuzz) {
    let mut command = Command::new(program);
    if fuzz == Fuzz::No {
        command.env("KENNEL_TEST_FUZZ", "0");
    }
    let output = command
        .args(["-B", "-m", "unittest", "discover", "-s"])
        .arg(tests())
        .output()
        .unwrap_or_else(|error| panic!("{} cannot be started: {error}", program.display()));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}:\n{told}", program.display());
    let ran = told.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<u32>().ok());
    assert!(ran.is_some_and(|count| count > 90), "{} found too few tests:\n{told}", program.display());
}

fn run_pyenv(minor: u32) {
    match pyenv(minor) {
        Some(program) => run(&program, if minor == 11 { Fuzz::Yes } else { Fuzz::No }),
        None => println!("skipped: pyenv has no Python 3.{minor}"),
    }
}

#[test]
fn python_of_the_path() {
    match resolve(Path::new("python3")) {
        Some(program) if program.to_string_lossy().contains("/.pyenv/versions/") => {
            println!("skipped: python3 of the PATH is pyenv's {}, which has a test of its own", program.display());
        }
        Some(program) => run(&program, Fuzz::Yes),
        None => println!("skipped: there is no python3 on the PATH"),
    }
}

#[test]
fn python_3_9() {
    run_pyenv(9);
}

#[test]
fn python_3_10() {
    run_pyenv(10);
}

#[test]
fn python_3_11() {
    run_pyenv(11);
}

#[test]
fn python_3_12() {
    run_pyenv(12);
}

#[test]
fn python_3_13() {
    run_pyenv(13);
}

#[test]
fn python_3_14() {
    run_pyenv(14);
}
