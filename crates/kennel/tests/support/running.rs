//! Runs programs, with all that they print, and gives up on those that hang.

use crate::support::processes;
use crate::support::waiting::{PATIENCE, SOON};
use rustix::process::Signal;
use std::fmt::{Debug, Formatter};
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// What a program did.
pub(crate) struct Ran {
    /// Its exit code; a program that a signal ended has none.
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

/// As text, which is what programs mostly print.
impl Debug for Ran {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let mut ran = formatter.debug_struct("Ran");
        ran.field("code", &self.code).field("stdout", &self.out()).field("stderr", &self.err()).finish()
    }
}

/// Runs a program to its end, with the standard input that the command has.
#[track_caller]
pub(crate) fn run(command: Command) -> Ran {
    Running::start(command).finish()
}

/// Runs a program to its end with these bytes on its standard input.
#[track_caller]
pub(crate) fn run_with_input(mut command: Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped());
    let mut running = Running::start(command);
    let mut stdin = running.kept.child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program may end without reading all of it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ran = running.finish();
    writer.join().unwrap();
    ran
}

/// A process that ends, and is reaped, when this goes.
pub(crate) struct Kept {
    child: Child,
    line: String,
}

impl Kept {
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let line = format!("{command:?}");
        // The command goes with this function, and with it what it holds of the program's streams.
        let child = command.spawn().unwrap_or_else(|error| panic!("{line} cannot be started: {error}"));
        Self { child, line }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard error, if it was piped and nobody has taken it.
    #[track_caller]
    pub(crate) fn stderr(&mut self) -> std::process::ChildStderr {
        self.child.stderr.take().expect("standard error is a pipe")
    }

    /// Its standard input, if it was piped and nobody has taken it.
    #[track_caller]
    pub(crate) fn stdin(&mut self) -> std::process::ChildStdin {
        self.child.stdin.take().expect("standard input is a pipe")
    }

    /// Its standard output, if it was piped and nobody has taken it.
    #[track_caller]
    pub(crate) fn stdout(&mut self) -> std::process::ChildStdout {
        self.child.stdout.take().expect("standard output is a pipe")
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    pub(crate) fn lives(&mut self) -> bool {
        self.ended().is_none()
    }

    #[track_caller]
    pub(crate) fn signal(&self, signal: Signal) {
        assert!(processes::signal(self.pid(), signal), "the program has ended already");
    }

    /// Waits for its end, and takes what it prints meanwhile, so that no pipe fills up.
    #[track_caller]
    pub(crate) fn end(&mut self, printed: &mut [&mut Collected]) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            for collected in &mut *printed {
                collected.take_all();
            }
            if start.elapsed() > PATIENCE {
                let texts: Vec<_> = printed.iter().map(|collected| collected.text()).collect();
                panic!("no end after {PATIENCE:?}: {}; it printed {texts:?}", self.line);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that runs, whose output is collected meanwhile.
pub(crate) struct Running {
    pub(crate) kept: Kept,
    stdout: Collected,
    stderr: Collected,
}

impl Running {
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut kept = Kept::start(command);
        let stdout = Collected::from(kept.child.stdout.take().unwrap());
        let stderr = Collected::from(kept.child.stderr.take().unwrap());
        Self { kept, stdout, stderr }
    }

    /// Starts a program and waits until it has said `ready`.
    #[track_caller]
    pub(crate) fn ready(command: Command) -> Self {
        let mut running = Self::start(command);
        running.wait_for("ready\n");
        running
    }

    /// The standard output up to now.
    pub(crate) fn out(&self) -> String {
        self.stdout.text()
    }

    /// Waits until the standard output holds some text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.stdout.text().contains(text) {
            if let Err(error) = self.stdout.take(PATIENCE) {
                self.stderr.take_all();
                panic!("no `{text}` ({error}); stdout: {}; stderr: {}", self.stdout.text(), self.stderr.text());
            }
        }
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.kept.end(&mut [&mut self.stdout, &mut self.stderr])
    }

    /// Waits for the end of the program and of its output, which nobody may hold open for longer.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Ran {
        let code = self.end().code();
        Ran { code, stdout: self.stdout.read_to_end(SOON), stderr: self.stderr.read_to_end(SOON) }
    }
}

/// What a program prints, read all the time so that it need not wait.
pub(crate) struct Collected {
    chunks: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Collected {
    pub(crate) fn from(mut source: impl Read + Send + 'static) -> Self {
        let (sender, chunks) = sync_channel(64);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = source.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { chunks, seen: Vec::new() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Takes what is there, or comes in this time.
    pub(crate) fn take(&mut self, patience: Duration) -> Result<(), RecvTimeoutError> {
        self.seen.extend(self.chunks.recv_timeout(patience)?);
        Ok(())
    }

    pub(crate) fn take_all(&mut self) {
        self.seen.extend(self.chunks.try_iter().flatten());
    }

    /// Takes all up to the end, without ever waiting longer than this for more.
    #[track_caller]
    pub(crate) fn read_to_end(mut self, patience: Duration) -> Vec<u8> {
        let start = Instant::now();
        loop {
            match self.take(patience) {
                Ok(()) => assert!(start.elapsed() < PATIENCE, "the output has no end"),
                Err(RecvTimeoutError::Disconnected) => return self.seen,
                Err(RecvTimeoutError::Timeout) => panic!("somebody holds the output open: {}", self.text()),
            }
        }
    }
}
