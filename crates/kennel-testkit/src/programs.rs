//! Owns where this crate's programs are, for tests of other crates.

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// The path of a program of this crate (`kennel-fixture`, `kennel-hostile`), brought up to date first.
///
/// Cargo gives a test only the programs of its own package, so the program is built where the caller's own test or
/// bench was built: same target directory, same profile.
pub fn program(name: &str) -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let profile = (own.ancestors().skip(1))
        .find(|directory| directory.join(".fingerprint").is_dir())
        .ok_or_else(|| io::Error::other(format!("{} is not in a target directory of Cargo", own.display())))?;
    if let (Some(cargo), Some(target)) = (env::var_os("CARGO"), profile.parent()) {
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--locked", "-p", "kennel-testkit", "--bin", name]);
        command.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            command.arg("--release");
        }
        let status = command.status()?;
        if !status.success() {
            return Err(io::Error::other(format!("cargo could not build {name}: {status}")));
        }
    }
    let path = profile.join(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(io::Error::other(format!("there is no {}; run this test by cargo, or put it there", path.display())))
    }
}
