//! A place for one test: a directory with copies of the programs, the caller to run them as, and the final look
//! that nothing is left behind.

use crate::support::{announce, leftovers, programs, settle};
use kennel_testkit::Caller;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// An ordinary user that no machine has.
const USER: u32 = 54_321;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Kennel does not wait for its helper, which cleans up in its own time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the tests themselves run as root.
pub(crate) fn tests_are_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether the tests can act as this caller; says so where they cannot.
pub(crate) fn can_act_as(caller: Caller, test: &str) -> bool {
    let can = caller == Caller::User || tests_are_root();
    if !can {
        announce(&format!("SKIPPED: {test} as root: the tests do not run as root"));
    }
    can
}

/// The callers that the tests can act as; says which they cannot.
pub(crate) fn callers(test: &str) -> Vec<Caller> {
    [Caller::Root, Caller::User].into_iter().filter(|caller| can_act_as(*caller, test)).collect()
}

/// A place for one test.
pub(crate) struct Ground {
    directory: TempDir,
    cgroups_before: BTreeSet<PathBuf>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("kennel-test-").tempdir().unwrap();
        let ground = Self { directory, cgroups_before: leftovers::ownerless_cgroups() };
        open_to_all(ground.path());
        fs::create_dir(ground.programs()).unwrap();
        open_to_all(&ground.programs());
        for directory in ground.callers_directories() {
            fs::create_dir(&directory).unwrap();
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o1777)).unwrap();
        }
        for program in [programs::kennel(), programs::hostile()] {
            ground.add_program(program);
        }
        ground
    }

    /// Copies a program to where every caller and every box may execute it.
    pub(crate) fn add_program(&self, program: &Path) -> PathBuf {
        let copy = self.programs().join(program.file_name().unwrap());
        fs::copy(program, &copy).unwrap();
        open_to_all(&copy);
        copy
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory to grant to boxes, so that they can run what is in it.
    pub(crate) fn programs(&self) -> PathBuf {
        self.path().join("bin")
    }

    /// The caller's home, and the place for temporary files: Kennel has no business to leave anything in either.
    fn callers_directories(&self) -> [PathBuf; 2] {
        [self.path().join("home"), self.path().join("tmp")]
    }

    pub(crate) fn hostile(&self) -> PathBuf {
        self.programs().join("kennel-hostile")
    }

    /// Makes a directory of the caller's own.
    pub(crate) fn directory(&self, name: &str, caller: Caller) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(&path).unwrap();
        open_to_all(&path);
        give(&path, caller);
        path
    }

    /// A command line as this caller, with a clean environment.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, caller: Caller, words: impl IntoIterator<Item = S>) -> Command {
        let mut all: Vec<OsString> = Vec::new();
        if caller == Caller::User && tests_are_root() {
            all.extend(["setpriv".into(), format!("--reuid={USER}").into(), format!("--regid={USER}").into()]);
            all.extend(["--clear-groups".into(), "--".into()]);
        }
        all.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
        let mut command = Command::new(&all[0]);
        let [home, temporary] = self.callers_directories();
        command.args(&all[1..]).env_clear().env("PATH", PATH).env("HOME", home).env("TMPDIR", temporary);
        command.current_dir(self.path());
        command
    }

    /// The words of `kennel exec` with these flags; the programs are granted.
    pub(crate) fn exec_words<S: AsRef<OsStr>>(&self, flags: impl IntoIterator<Item = S>) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.programs().join("kennel").into(), "exec".into()];
        words.extend(["--read".into(), self.programs().into()]);
        words.extend(flags.into_iter().map(|flag| flag.as_ref().to_owned()));
        words.push("--".into());
        words
    }

    /// `kennel exec FLAGS -- COMMAND` as this caller.
    pub(crate) fn exec(&self, caller: Caller, flags: &[&str], command: &[&str]) -> Command {
        let mut words = self.exec_words(flags);
        words.extend(command.iter().map(OsString::from));
        self.command(caller, words)
    }

    /// `kennel exec FLAGS -- kennel-hostile ARGUMENTS` as this caller.
    pub(crate) fn exec_hostile(&self, caller: Caller, flags: &[&str], arguments: &[&str]) -> Command {
        let mut words = self.exec_words(flags);
        words.push(self.hostile().into());
        words.extend(arguments.iter().map(OsString::from));
        self.command(caller, words)
    }

    /// What is in the caller's directories.
    pub(crate) fn files_left(&self) -> Vec<PathBuf> {
        let entries = self.callers_directories().into_iter().flat_map(|directory| fs::read_dir(directory).unwrap());
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Asserts that no process, mount, cgroup or temporary file of this test is left.
    pub(crate) fn assert_clean(&self) {
        let path = self.path().to_str().unwrap();
        let complaint = || {
            let processes = leftovers::processes_with(path);
            let mounts = leftovers::mounts_with(path);
            let cgroups: Vec<_> = leftovers::ownerless_cgroups().difference(&self.cgroups_before).cloned().collect();
            let files = self.files_left();
            let clean = processes.is_empty() && mounts.is_empty() && cgroups.is_empty() && files.is_empty();
            (!clean).then(|| format!("left behind: {processes:?}, mounts {mounts:?}, cgroups {cgroups:?}, {files:?}"))
        };
        if let Err(complaint) = settle(PATIENCE, complaint) {
            panic!("{complaint}");
        }
    }
}

/// A test that fails may leave what it complains about; the next one shall not stumble over it.
impl Drop for Ground {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for process in leftovers::processes_with(&self.path().to_string_lossy()) {
            if let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
                // It may have ended since.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        for cgroup in leftovers::ownerless_cgroups().difference(&self.cgroups_before) {
            // Where it cannot be removed, the complaint has said so.
            let _ = fs::remove_dir(cgroup);
        }
    }
}

/// Readable and executable for everyone, writable for the owner.
pub(crate) fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes the caller the owner of a path.
pub(crate) fn give(path: &Path, caller: Caller) {
    if caller == Caller::User && tests_are_root() {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
}
