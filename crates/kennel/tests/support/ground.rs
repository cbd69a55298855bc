//! A place for one test and one caller: directories, copies of the programs, commands that run there, and the final
//! look that nothing is left behind.

use crate::support::caller::{command_as, make_directory, make_file};
use crate::support::processes::{processes_with, signal};
use crate::support::running::{Ran, run};
use crate::support::waiting::{SOON, settle};
use crate::support::{leftovers, programs};
use kennel_testkit::Caller;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Where every system has its programs.
pub(crate) const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A place for one test and one caller, gone with the test.
///
/// In it are `bin` with the programs, and `home`, `work` and `tmp`, which belong to the caller.
pub(crate) struct Ground {
    _directory: TempDir,
    /// Free of symlinks.
    path: PathBuf,
    caller: Caller,
    hostile: OnceLock<PathBuf>,
    cgroups_before: BTreeSet<PathBuf>,
}

impl Ground {
    pub(crate) fn new(caller: Caller) -> Self {
        Self::under(caller, &std::env::temp_dir())
    }

    /// A ground in another place than the directory for temporary files.
    pub(crate) fn under(caller: Caller, parent: &Path) -> Self {
        let directory = tempfile::Builder::new().prefix("kennel-test-").tempdir_in(parent).unwrap();
        let path = fs::canonicalize(directory.path()).unwrap();
        let cgroups_before = leftovers::ownerless_cgroups();
        let ground = Self { _directory: directory, path, caller, hostile: OnceLock::new(), cgroups_before };
        fs::create_dir(ground.programs()).unwrap();
        for readable in [&ground.path, &ground.programs()] {
            fs::set_permissions(readable, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["home", "work", "tmp"] {
            ground.make_directory(name);
        }
        ground.add_program(programs::kennel());
        ground
    }

    /// Whoever acts here.
    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }

    /// A path in here, free of symlinks.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The same as text, for flags and expectations.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Makes a directory that belongs to the caller.
    pub(crate) fn make_directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        make_directory(self.caller, &path, 0o755);
        path
    }

    /// Makes a file that belongs to the caller.
    pub(crate) fn make_file(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.path(name);
        make_file(self.caller, &path, content, mode);
        path
    }

    /// The directory to grant to boxes, so that they can run what is in it.
    pub(crate) fn programs(&self) -> PathBuf {
        self.path("bin")
    }

    /// Copies a program to where every caller and every box may execute it.
    pub(crate) fn add_program(&self, program: &Path) -> PathBuf {
        programs::copy(program, &self.programs())
    }

    /// The program under test.
    pub(crate) fn kennel_program(&self) -> PathBuf {
        self.programs().join("kennel")
    }

    /// The program that tries to break out.
    pub(crate) fn hostile(&self) -> &Path {
        self.hostile.get_or_init(|| self.add_program(programs::hostile()))
    }

    /// A command line as the caller, with a clean environment, from the place to work.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = command_as(self.caller, words);
        command.env_clear().env("PATH", SYSTEM_PATH).env("LANG", "C.UTF-8");
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    /// `kennel` with these arguments.
    pub(crate) fn kennel<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command([self.kennel_program()]);
        command.args(arguments);
        command
    }

    /// `kennel` with these arguments in a user namespace that allows no others below it.
    pub(crate) fn kennel_without_namespaces(&self, arguments: &[&str]) -> Command {
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        let mut command = self.command(["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]);
        command.arg(self.kennel_program()).args(arguments);
        command
    }

    /// The words of `kennel exec FLAGS --`.
    pub(crate) fn exec_words<S: AsRef<OsStr>>(&self, flags: impl IntoIterator<Item = S>) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.kennel_program().into(), "exec".into()];
        words.extend(flags.into_iter().map(|flag| flag.as_ref().to_owned()));
        words.push("--".into());
        words
    }

    /// `kennel exec FLAGS -- COMMAND`.
    pub(crate) fn exec(&self, flags: &[&str], command: &[&str]) -> Command {
        let mut words = self.exec_words(flags);
        words.extend(command.iter().map(OsString::from));
        self.command(words)
    }

    /// `kennel exec FLAGS -- sh -c SCRIPT`, run to its end.
    #[track_caller]
    pub(crate) fn sh(&self, flags: &[&str], script: &str) -> Ran {
        run(self.exec(flags, &["sh", "-c", script]))
    }

    /// `kennel exec FLAGS -- kennel-hostile ARGUMENTS`; the programs are granted.
    pub(crate) fn exec_hostile(&self, flags: &[&str], arguments: &[&str]) -> Command {
        let programs = self.text("bin");
        let flags = [&["--read", &programs], flags].concat();
        let command = [&[self.hostile().to_str().unwrap()], arguments].concat();
        self.exec(&flags, &command)
    }

    /// What is in the caller's home and among the temporary files: Kennel has no business to leave anything in either.
    pub(crate) fn files_left(&self) -> Vec<PathBuf> {
        let entries = ["home", "tmp"].into_iter().flat_map(|name| fs::read_dir(self.path(name)).unwrap());
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Asserts that no process, mount, cgroup or temporary file of this test is left.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        let path = self.path.to_str().unwrap();
        let complaint = || {
            let processes = processes_with(path);
            let mounts = leftovers::mounts_with(path);
            let cgroups: Vec<_> = leftovers::ownerless_cgroups().difference(&self.cgroups_before).cloned().collect();
            let files = self.files_left();
            let clean = processes.is_empty() && mounts.is_empty() && cgroups.is_empty() && files.is_empty();
            (!clean).then(|| format!("left behind: {processes:?}, mounts {mounts:?}, cgroups {cgroups:?}, {files:?}"))
        };
        if let Err(complaint) = settle(SOON, complaint) {
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
        for process in processes_with(&self.path.to_string_lossy()) {
            // It may have ended since.
            let _ = signal(process.pid, Signal::KILL);
        }
        for cgroup in leftovers::ownerless_cgroups().difference(&self.cgroups_before) {
            // Where it cannot be removed, the complaint has said so.
            let _ = fs::remove_dir(cgroup);
        }
    }
}
