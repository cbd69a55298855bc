//! The caller's terminal, played by the test.

use crate::common_exec::PATIENCE;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, Termios, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// A pseudo-terminal: the test at its keyboard, Kennel at its other side.
pub(crate) struct Outer {
    keyboard: File,
    inner: OwnedFd,
}

impl Outer {
    pub(crate) fn open() -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        unlockpt(&keyboard).unwrap();
        let inner = ioctl_tiocgptpeer(&keyboard, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let outer = Self { keyboard: keyboard.into(), inner: inner.unwrap() };
        outer.resize(24, 80);
        outer
    }

    /// A stream of a program that is at this terminal.
    pub(crate) fn inner(&self) -> Stdio {
        Stdio::from(self.inner.try_clone().unwrap())
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// What Kennel changes while the command runs.
    pub(crate) fn modes(&self) -> (InputModes, OutputModes, LocalModes) {
        let modes = tcgetattr(&self.inner).unwrap();
        (modes.input_modes, modes.output_modes, modes.local_modes)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Termios)) {
        let mut modes = tcgetattr(&self.inner).unwrap();
        change(&mut modes);
        tcsetattr(&self.inner, OptionalActions::Now, &modes).unwrap();
    }

    /// Starts a command with all its streams at this terminal, which controls it.
    pub(crate) fn start(self, command: &Command) -> Started {
        let mut at_terminal = Command::new("setsid");
        at_terminal.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        at_terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        at_terminal.current_dir(command.get_current_dir().unwrap());
        at_terminal.stdin(self.inner()).stdout(self.inner()).stderr(self.inner());
        self.run(at_terminal)
    }

    /// Starts a command whose streams are set up already.
    pub(crate) fn run(self, mut command: Command) -> Started {
        let child = command.spawn().unwrap();
        // The terminal says that it is closed only when nobody else has it.
        drop(command);
        let (sender, screen) = sync_channel(64);
        let mut from = self.keyboard.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Started { outer: self, child, screen, seen: Vec::new() }
    }
}

/// A program at a terminal.
pub(crate) struct Started {
    pub(crate) outer: Outer,
    child: Child,
    screen: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Started {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits until the screen shows some text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let started = Instant::now();
        while !self.text().contains(text) {
            // The test has the terminal open too, so that its end says nothing.
            let ended = self.child.try_wait().unwrap();
            match self.screen.recv_timeout(Duration::from_millis(50)) {
                Ok(chunk) => self.seen.extend(chunk),
                Err(_) if ended.is_none() && started.elapsed() < PATIENCE => {}
                Err(_) => {
                    let _ = self.child.kill();
                    panic!("no `{text}` at the terminal ({ended:?}): {}", self.text());
                }
            }
        }
    }

    /// Gives the program the time to wait for what comes next.
    pub(crate) fn settle(&self) {
        let _ = self;
        std::thread::sleep(Duration::from_millis(300));
    }

    pub(crate) fn type_in(&mut self, keys: &[u8]) {
        self.outer.keyboard.write_all(keys).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end and returns the exit code; the screen is read meanwhile.
    #[track_caller]
    pub(crate) fn end(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            if started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("no end at the terminal: {}", self.text());
            }
            if let Ok(chunk) = self.screen.recv_timeout(Duration::from_millis(2)) {
                self.seen.extend(chunk);
            }
        }
    }

    /// Waits for the end and returns the exit code with all that the screen showed.
    #[track_caller]
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        let code = self.end();
        // Nobody has the terminal any more, so that reading it comes to an end.
        drop(self.outer.inner);
        loop {
            match self.screen.recv_timeout(PATIENCE) {
                Ok(chunk) => self.seen.extend(chunk),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("somebody holds the terminal"),
            }
        }
        (code, String::from_utf8_lossy(&self.seen).into_owned())
    }
}

/// A pipe that holds these few bytes and then ends.
pub(crate) fn pipe_with(bytes: &[u8]) -> PipeReader {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(bytes).unwrap();
    reader
}
