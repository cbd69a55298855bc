//! Runs a program to its end, with all that it prints, and gives up on one that hangs.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any test program takes, so that a hang has a name.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a program did.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its exit code; a program that a signal ended has none.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program, with nothing on standard input unless the command says something else.
pub(crate) fn run(command: &mut Command) -> Finished {
    command.stdin(Stdio::null());
    run_with_input(command)
}

/// Runs a program with the standard input that the command has.
pub(crate) fn run_with_input(command: &mut Command) -> Finished {
    let line = format!("{command:?}");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    let stdout = drain(child.stdout.take().unwrap());
    let stderr = drain(child.stderr.take().unwrap());
    let status = wait(&mut child, &line);
    let text = |pipe: Receiver<String>| {
        pipe.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("somebody keeps a pipe open after the end of {line}"))
    };
    Finished { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

fn wait(child: &mut Child, line: &str) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("no end after {PATIENCE:?}: {line}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error still counts.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// A process that ends, and is reaped, when this goes.
pub(crate) struct Kept(pub(crate) Child);

impl Kept {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().expect("the program can be started"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number that no other test has, as seconds for `sleep`: it marks a process by its command line.
pub(crate) fn unique_seconds(whole: u32) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{whole}.{:07}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
