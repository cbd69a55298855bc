//! The caller's terminal, played by the test: at its keyboard, and before its screen.

use crate::support::running::{Collected, Kept};
use crate::support::waiting::PATIENCE;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, Termios, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A pseudo-terminal: the test at its keyboard, a program at its other side. The terminal ends with the keyboard.
pub(crate) struct Terminal {
    keyboard: File,
    inner: OwnedFd,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        unlockpt(&keyboard).unwrap();
        let inner = ioctl_tiocgptpeer(&keyboard, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let terminal = Self { keyboard: keyboard.into(), inner: inner.unwrap() };
        terminal.resize(24, 80);
        terminal
    }

    /// One whose input is not taken by lines, so that every byte typed into it can be counted.
    pub(crate) fn open_raw() -> Self {
        let terminal = Self::open();
        terminal.change(Termios::make_raw);
        terminal
    }

    /// A stream of a program that is at this terminal; `setsid --ctty` makes it the controlling one.
    pub(crate) fn stream(&self) -> Stdio {
        self.inner.try_clone().unwrap().into()
    }

    /// How many typed bytes wait for a reader.
    pub(crate) fn typed(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.inner).unwrap()
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
    #[track_caller]
    pub(crate) fn start(self, command: &Command) -> AtTerminal {
        let mut at_terminal = Command::new("setsid");
        at_terminal.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        at_terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        at_terminal.current_dir(command.get_current_dir().unwrap());
        at_terminal.stdin(self.stream()).stdout(self.stream()).stderr(self.stream());
        self.run(at_terminal)
    }

    /// Starts a command whose streams are set up already.
    #[track_caller]
    pub(crate) fn run(self, command: Command) -> AtTerminal {
        let kept = Kept::start(command);
        let screen = Collected::from(self.keyboard.try_clone().unwrap());
        AtTerminal { terminal: self, kept, screen }
    }
}

/// A program at a terminal.
pub(crate) struct AtTerminal {
    pub(crate) terminal: Terminal,
    pub(crate) kept: Kept,
    screen: Collected,
}

impl AtTerminal {
    /// Waits until the screen shows some text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        while !self.screen.text().contains(text) {
            // The test has the terminal open too, so that its end says nothing.
            let ended = self.kept.ended();
            if self.screen.take(Duration::from_millis(50)).is_err() {
                let hopeful = ended.is_none() && start.elapsed() < PATIENCE;
                assert!(hopeful, "no `{text}` at the terminal ({ended:?}): {}", self.screen.text());
            }
        }
    }

    /// Gives the program the time to wait for what comes next.
    pub(crate) fn pause(&self) {
        let _ = self;
        std::thread::sleep(Duration::from_millis(300));
    }

    pub(crate) fn type_in(&mut self, keys: &[u8]) {
        self.terminal.keyboard.write_all(keys).unwrap();
    }

    /// Waits for the end and returns the exit code; the screen is read meanwhile.
    #[track_caller]
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.kept.end(&mut [&mut self.screen]).code()
    }

    /// Waits for the end and returns the exit code with all that the screen showed.
    #[track_caller]
    pub(crate) fn finish(self) -> (Option<i32>, String) {
        let (code, screen) = self.finish_with_bytes();
        (code, String::from_utf8_lossy(&screen).into_owned())
    }

    /// The same with all that the terminal was sent, byte for byte.
    #[track_caller]
    pub(crate) fn finish_with_bytes(mut self) -> (Option<i32>, Vec<u8>) {
        let code = self.end();
        // Nobody has the terminal any more, so that reading it comes to an end.
        drop(self.terminal.inner);
        (code, self.screen.read_to_end(PATIENCE))
    }
}
