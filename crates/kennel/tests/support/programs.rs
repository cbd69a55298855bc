//! Where the programs are that the tests run: Kennel itself, the hostile program and the examples.
//!
//! Cargo gives a test only the programs of its own package that it has just built. The others are found beside
//! Kennel's, and brought up to date once per test program with the same profile in the same target directory.

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
