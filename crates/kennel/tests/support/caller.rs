//! Who runs Kennel: whom the tests can act as, and what belongs to whom.

use crate::support::announce;
use kennel_testkit::Caller;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::panic::Location;
use std::path::Path;
use std::process::Command;

/// The ordinary user where the tests run as root; no account is needed for it.
const USER: u32 = 54_321;

fn tests_are_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The number of [`Caller::User`].
pub(crate) fn user_id() -> u32 {
    if tests_are_root() { USER } else { rustix::process::geteuid().as_raw() }
}

/// Whoever runs the tests: root in CI.
pub(crate) fn myself() -> Caller {
    if tests_are_root() { Caller::Root } else { Caller::User }
}

/// Everyone whom the tests can act as; says so where root is not among them.
#[track_caller]
pub(crate) fn callers() -> Vec<Caller> {
    if needs_root(&format!("{} as root", Location::caller())) {
        vec![Caller::Root, Caller::User]
    } else {
        vec![Caller::User]
    }
}

/// Whether the tests can do what only root can, and says so where they cannot; CI runs as root, so nothing stays
/// untested.
pub(crate) fn needs_root(what: &str) -> bool {
    if !tests_are_root() {
        announce(&format!("SKIPPED: {what}: the tests do not run as root"));
    }
    tests_are_root()
}

/// A command line as this caller.
pub(crate) fn command_as<S: AsRef<OsStr>>(caller: Caller, words: impl IntoIterator<Item = S>) -> Command {
    let mut all: Vec<OsString> = Vec::new();
    if caller == Caller::User && tests_are_root() {
        all.extend(["setpriv".into(), format!("--reuid={USER}").into(), format!("--regid={USER}").into()]);
        all.extend(["--clear-groups".into(), "--".into()]);
    }
    all.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
    let mut command = Command::new(&all[0]);
    command.args(&all[1..]);
    command
}

/// Makes a directory that belongs to this caller.
pub(crate) fn make_directory(caller: Caller, path: &Path, mode: u32) {
    fs::create_dir_all(path).unwrap();
    give(caller, path, mode);
}

/// Makes a file that belongs to this caller.
pub(crate) fn make_file(caller: Caller, path: &Path, content: impl AsRef<[u8]>, mode: u32) {
    fs::write(path, content).unwrap();
    give(caller, path, mode);
}

fn give(caller: Caller, path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if caller == Caller::User && tests_are_root() {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
}
