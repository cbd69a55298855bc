//! Owns the processes that are left behind: the program starts itself, which starts itself again and goes away, and
//! what remains sleeps in a session of its own.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{self, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

/// So that a test that fails leaves nothing for ever.
const LIFE: Duration = Duration::from_mins(10);

/// Whether a sleeper keeps the server's stdout open.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stdout {
    Held,
    LetGo,
}

/// One of the two generations.
pub(crate) enum Sleeper {
    /// Starts so many sleepers, and goes away.
    Parent { count: u64, stdout: Stdout, marker: String },
    /// Makes itself a session, prints its id on stderr, lets go of that, and sleeps.
    Child,
}

impl Sleeper {
    /// The first argument of both.
    pub(crate) const OPTION: &str = "--sleeper";

    /// Reads the arguments behind the option; the error is a sentence.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match arguments.as_slice() {
            ["parent", count, stdout, marker] => Ok(Self::Parent {
                count: count.parse().map_err(|_| format!("`{count}` is no number of sleepers"))?,
                stdout: if *stdout == "hold" { Stdout::Held } else { Stdout::LetGo },
                marker: (*marker).to_owned(),
            }),
            ["child", ..] => Ok(Self::Child),
            _ => Err(format!("{} is for the program itself", Self::OPTION)),
        }
    }

    pub(crate) fn run(self) -> io::Result<ExitCode> {
        match self {
            Self::Parent { count, stdout, marker } => {
                for _ in 0..count {
                    let mut command = Command::new(env::current_exe()?);
                    command.args([Self::OPTION, "child", &marker]).stdin(Stdio::null());
                    if stdout == Stdout::LetGo {
                        command.stdout(Stdio::null());
                    }
                    command.spawn()?;
                }
            }
            Self::Child => {
                rustix::process::setsid()?;
                // In one piece: others print at the same time.
                io::stderr().write_all(format!("{}\n", process::id()).as_bytes())?;
                rustix::stdio::dup2_stderr(File::options().write(true).open("/dev/null")?)?;
                thread::sleep(LIFE);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Leaves sleepers behind and returns their process ids. The marker is on their command line.
pub(crate) fn leave_behind(count: u64, stdout: Stdout, marker: &str) -> io::Result<Vec<u32>> {
    let held = if stdout == Stdout::Held { "hold" } else { "close" };
    let mut command = Command::new(env::current_exe()?);
    command.args([Sleeper::OPTION, "parent", &count.to_string(), held, marker]);
    let mut parent = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut printed = String::new();
    // Ends when every sleeper has let go of it.
    if let Some(mut stderr) = parent.stderr.take() {
        stderr.read_to_string(&mut printed)?;
    }
    let status = parent.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("{status}: {}", printed.trim())));
    }
    printed.lines().map(|line| line.parse().map_err(io::Error::other)).collect()
}
