//! The caller's terminal while a boxed program uses one of its own: bytes go across, nothing else does.

use kennel_jail::TerminalSettings;
use rustix::fd::{AsFd, OwnedFd};
use rustix::termios::{OptionalActions, OutputModes, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Which of the caller's standard streams are terminals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminals {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
}

impl Terminals {
    pub(crate) fn current() -> Self {
        Self {
            stdin: io::stdin().is_terminal(),
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
        }
    }

    pub(crate) fn any(self) -> bool {
        self.stdin || self.stdout || self.stderr
    }

    /// What the terminal of the box is to be like from the start: the caller's, or one that leaves lines as they are.
    pub(crate) fn settings(self) -> Option<TerminalSettings> {
        let streams = [(self.stdin, 0), (self.stdout, 1), (self.stderr, 2)];
        let (_, number) = streams.into_iter().find(|(is_terminal, _)| *is_terminal)?;
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let terminal = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()][number];
        let (mut modes, size) = (tcgetattr(terminal).ok()?, tcgetwinsize(terminal).ok()?);
        if !self.stdin {
            // The caller's terminal turns line feeds into new lines already; twice would be wrong.
            modes.output_modes.remove(OutputModes::OPOST);
        }
        Some(TerminalSettings {
            rows: size.ws_row,
            columns: size.ws_col,
            input: modes.input_modes.bits(),
            output: modes.output_modes.bits(),
            local: modes.local_modes.bits(),
        })
    }
}

/// The two terminals tied together, until dropped.
pub(crate) struct Bridge {
    inner: Arc<File>,
    saved: Option<Termios>,
    output: Option<JoinHandle<()>>,
}

impl Bridge {
    /// Ties the terminal of a boxed program to the caller's.
    ///
    /// The box never gets the caller's terminal itself: it could read what is typed, or type for the user. Its own was
    /// set up before the program ran ([`Terminals::settings`]); since then its modes are the program's.
    pub(crate) fn new(inner: OwnedFd, terminals: Terminals) -> io::Result<Self> {
        let inner = Arc::new(File::from(inner));
        let mut saved = None;
        if terminals.stdin {
            let mut modes = tcgetattr(io::stdin())?;
            saved = Some(modes.clone());
            modes.make_raw();
            tcsetattr(io::stdin(), OptionalActions::Now, &modes)?;
            let typed = Arc::clone(&inner);
            // Ends with the process: nothing can wake a thread that waits for a person to type.
            std::thread::spawn(move || pump(io::stdin().lock(), &*typed));
        }
        let shown = Arc::clone(&inner);
        let output = std::thread::spawn(move || {
            if terminals.stdout { pump(&*shown, io::stdout().lock()) } else { pump(&*shown, io::stderr().lock()) }
        });
        let bridge = Self { inner, saved, output: Some(output) };
        bridge.resize();
        Ok(bridge)
    }

    /// Gives the inner terminal the size of the outer one.
    pub(crate) fn resize(&self) {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let sizes = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        if let Some(size) = sizes.into_iter().find_map(|stream| tcgetwinsize(stream).ok()) {
            // A terminal that cannot be resized stays as it is.
            let _ = tcsetwinsize(&*self.inner, size);
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // The box has ended, so what it wrote is complete, and the pump ends after the last byte.
        if let Some(output) = self.output.take() {
            let _ = output.join();
        }
        if let Some(saved) = &self.saved {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, saved);
        }
    }
}

/// Copies until either side ends.
fn pump(mut from: impl Read, mut to: impl Write) {
    let mut buffer = [0; 16 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if to.write_all(&buffer[..length]).and_then(|()| to.flush()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // How a terminal says that its other side is closed.
            Err(_) => return,
        }
    }
}
