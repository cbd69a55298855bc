//! Where the programs are that the tests run: Kennel itself, the hostile program, the examples and installed material.
//!
//! Cargo gives a test only the programs of its own package that it has just built. The others are found beside
//! Kennel's, and brought up to date once per test program with the same profile in the same target directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program under test.
pub(crate) fn kennel() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_kennel"))
}

/// The program that tries to break out.
pub(crate) fn hostile() -> &'static Path {
    static HOSTILE: OnceLock<PathBuf> = OnceLock::new();
    HOSTILE.get_or_init(|| built(&["-p", "kennel-testkit", "--bin", "kennel-hostile"], "kennel-hostile"))
}

/// The MCP server that does all that a server can do, well or badly.
pub(crate) fn fixture() -> &'static Path {
    static FIXTURE: OnceLock<PathBuf> = OnceLock::new();
    FIXTURE.get_or_init(|| built(&["-p", "kennel-testkit", "--bin", "kennel-fixture"], "kennel-fixture"))
}

/// A Kennel that holds many boxes.
pub(crate) fn many_boxes() -> &'static Path {
    static MANY_BOXES: OnceLock<PathBuf> = OnceLock::new();
    MANY_BOXES.get_or_init(|| built(&["-p", "kennel", "--example", "many_boxes"], "examples/many_boxes"))
}

/// Builds what the arguments name, where Cargo runs this test, and returns its place beside Kennel.
fn built(arguments: &[&str], place: &str) -> PathBuf {
    let profile = kennel().parent().expect("Kennel's program is in a directory");
    let target = profile.parent().expect("a profile has a target directory");
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--locked"]).args(arguments).arg("--target-dir").arg(target);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            command.arg("--release");
        }
        let status = command.status().expect("cargo can be started");
        assert!(status.success(), "cargo build {arguments:?}: {status}");
    }
    let path = profile.join(place);
    assert!(path.is_file(), "there is no {}; run this by cargo, or put it there", path.display());
    path
}

/// Test material that `scripts/test` installs and names in the environment.
#[track_caller]
pub(crate) fn material(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).map(PathBuf::from);
    match path.filter(|path| path.exists()) {
        Some(path) => path,
        None => panic!("{variable} names no installed test material: run scripts/test, which installs and names it"),
    }
}

/// Copies a program into a directory, executable for everyone.
pub(crate) fn copy(program: &Path, directory: &Path) -> PathBuf {
    // By another process: a descriptor of ours, open for writing, could keep the copy from being executed.
    let copied = Command::new("cp").arg(program).arg(directory).status();
    assert!(copied.unwrap().success(), "{} was not copied", program.display());
    let copy = directory.join(program.file_name().unwrap());
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    copy
}
