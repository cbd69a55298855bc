//! What the tests of the command line share: a scene on the disk, callers with and without privileges, and runs of the
//! real program with an end to every wait.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The ordinary user of these tests; no account is needed for it.
pub(crate) const USER: u32 = 54322;

/// Where every system has its programs.
pub(crate) const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Longer than anything here takes, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Long enough for the kernel to end a process, even on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// Who runs Kennel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Whoever runs the tests: root in CI.
    Myself,
    /// An ordinary user without any privilege.
    User,
}

impl Caller {
    /// Everyone whom these tests can play.
    pub(crate) fn all() -> Vec<Self> {
        if is_root() { vec![Self::Myself, Self::User] } else { vec![Self::Myself] }
    }
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Ends a test that only root can do; CI runs as root, so nothing stays untested.
pub(crate) fn needs_root(what: &str) -> bool {
    if !is_root() {
        eprintln!("only root can try {what}");
    }
    is_root()
}

/// A directory with a home and a place to work for one caller, gone with the test.
pub(crate) struct Scene {
    directory: TempDir,
    caller: Caller,
}

impl Scene {
    pub(crate) fn new(caller: Caller) -> Self {
        Self::under(caller, &std::env::temp_dir())
    }

    /// A scene in another place than the directory for temporary files.
    pub(crate) fn under(caller: Caller, parent: &Path) -> Self {
        let directory = tempfile::Builder::new().prefix("kennel-exec-").tempdir_in(parent).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let scene = Self { directory, caller };
        scene.make_directory("home");
        scene.make_directory("work");
        if caller == Caller::User {
            // By another process: a descriptor of ours, open for writing, could keep the copy from being executed.
            let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_kennel")).arg(scene.path("kennel")).status();
            assert!(copied.unwrap().success());
            fs::set_permissions(scene.path("kennel"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        scene
    }

    /// A path in the scene, free of symlinks.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap().join(name)
    }

    /// The same as text, for flags and expectations.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Makes a directory that belongs to the caller.
    pub(crate) fn make_directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self.give(&path);
        path
    }

    /// Makes a file that belongs to the caller.
    pub(crate) fn make_file(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        self.give(&path);
        path
    }

    fn give(&self, path: &Path) {
        if self.caller == Caller::User {
            chown(path, Some(USER), Some(USER)).unwrap();
        }
    }

    /// A program run as the caller, with an environment of its own, from the place to work.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = match self.caller {
            Caller::Myself => Command::new(program),
            Caller::User => {
                let mut command = Command::new("setpriv");
                let identity = USER.to_string();
                command.args(["--reuid", &identity, "--regid", &identity, "--clear-groups", "--"]).arg(program);
                command
            }
        };
        command.env_clear().env("HOME", self.path("home")).env("PATH", SYSTEM_PATH).env("LANG", "C.UTF-8");
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    /// The program under test.
    pub(crate) fn kennel_program(&self) -> PathBuf {
        match self.caller {
            Caller::Myself => env!("CARGO_BIN_EXE_kennel").into(),
            Caller::User => self.path("kennel"),
        }
    }

    /// `kennel` with these arguments.
    pub(crate) fn kennel<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.program(self.kennel_program());
        command.args(arguments);
        command
    }

    /// `kennel exec FLAGS -- sh -c SCRIPT`, run to its end.
    pub(crate) fn sh(&self, flags: &[&str], script: &str) -> Ran {
        run(self.exec(flags, &["sh", "-c", script]))
    }

    /// `kennel exec FLAGS -- COMMAND`.
    pub(crate) fn exec(&self, flags: &[&str], command: &[&str]) -> Command {
        self.kennel(["exec"].iter().chain(flags).chain(&["--"]).chain(command).copied())
    }
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ran {
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Expects success and returns the output.
    #[track_caller]
    pub(crate) fn fine(&self) -> String {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.out(), self.err());
        self.out()
    }

    /// Expects that Kennel refused with exactly these words, and that nothing ran.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &str) {
        assert_eq!((self.code, self.err().as_str(), self.out().as_str()), (Some(code), words, ""));
    }
}

/// Runs a program to its end, with nothing on its standard input unless the command says otherwise.
#[track_caller]
pub(crate) fn run(command: Command) -> Ran {
    Running::start(command).finish()
}

/// Runs a program to its end with these bytes on its standard input.
#[track_caller]
pub(crate) fn run_with_input(mut command: Command, input: &[u8]) -> Ran {
    let mut running = Running::start({
        command.stdin(Stdio::piped());
        command
    });
    let mut stdin = running.child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program may end without reading all of it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ran = running.finish();
    writer.join().unwrap();
    ran
}

/// A program that runs, whose output is collected meanwhile.
pub(crate) struct Running {
    pub(crate) child: Child,
    chunks: [Receiver<Vec<u8>>; 2],
    seen: [Vec<u8>; 2],
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        Self { child, chunks: [stdout, stderr], seen: [Vec::new(), Vec::new()] }
    }

    /// Starts a program and waits until it has said `ready`.
    #[track_caller]
    pub(crate) fn ready(command: Command) -> Self {
        let mut running = Self::start(command);
        running.wait_for("ready\n");
        running
    }

    /// Waits until the standard output holds some text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.seen[0]).contains(text) {
            match self.chunks[0].recv_timeout(PATIENCE) {
                Ok(chunk) => self.seen[0].extend(chunk),
                Err(error) => {
                    let _ = self.child.kill();
                    self.seen[1].extend(self.chunks[1].try_iter().flatten());
                    let [stdout, stderr] = self.seen.each_ref().map(|bytes| String::from_utf8_lossy(bytes));
                    panic!("no `{text}` ({error}); stdout: {stdout}; stderr: {stderr}");
                }
            }
        }
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("the program did not end");
            }
            std::thread::sleep(Duration::from_millis(2));
            // Keeps the pipes from filling up.
            self.take();
        }
    }

    fn take(&mut self) {
        for (chunks, seen) in self.chunks.iter().zip(&mut self.seen) {
            seen.extend(chunks.try_iter().flatten());
        }
    }

    /// Waits for the end of the program and of its output, which nobody may hold open for longer.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Ran {
        let status = self.end();
        for (chunks, seen) in self.chunks.iter().zip(&mut self.seen) {
            let started = Instant::now();
            loop {
                match chunks.recv_timeout(SOON) {
                    Ok(chunk) => seen.extend(chunk),
                    Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                    Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("somebody holds the output open"),
                }
                assert!(started.elapsed() < PATIENCE, "the output has no end");
            }
        }
        let [stdout, stderr] = self.seen;
        Ran { code: status.code(), stdout, stderr }
    }
}

fn collect(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(64);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The processes, by id, whose command line holds a text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    process_ids().into_iter().filter(|pid| proc_text(*pid, "cmdline").contains(text)).collect()
}

/// The children of a process.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    process_ids()
        .into_iter()
        .filter(|pid| {
            let stat = proc_text(*pid, "stat");
            let parent_of = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
            parent_of == Some(parent)
        })
        .collect()
}

fn process_ids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A file of `/proc/PID`, empty where the process is gone.
pub(crate) fn proc_text(pid: u32, file: &str) -> String {
    fs::read(format!("/proc/{pid}/{file}"))
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

/// Waits until something holds; false where it did not in time.
pub(crate) fn holds_soon(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > SOON {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
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
