//! From a request to a running program: streams, terminal, the second wall, and the execution itself.

use crate::census;
use crate::error::{InStage, Stage, StageError};
use crate::guard::{CHANNEL, Guard};
use crate::server::Ready;
use crate::spec::{Isolation, ProcessSpec, TerminalSettings};
use crate::sys::{self, Cloned};
use crate::walls;
use crate::wire::Stdio;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::Pid;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Where to look for programs when the environment does not say.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A process that has executed its program.
pub(crate) struct Started {
    pub(crate) pid: Pid,
    /// The other side of its terminal.
    pub(crate) terminal: Option<OwnedFd>,
}

/// What comes with the request for a process.
pub(crate) struct Handed {
    /// Where its standard streams lead.
    pub(crate) stdio: [Stdio; 3],
    /// Whether it gets a channel.
    pub(crate) channel: bool,
    /// The descriptors for those that are passed, and for the channel.
    pub(crate) descriptors: std::vec::IntoIter<OwnedFd>,
}

/// The open files of a new program.
struct Files {
    streams: Vec<OwnedFd>,
    terminal: Option<Terminal>,
    channel: Option<OwnedFd>,
    /// Keeps the channel where it is put.
    guard: Option<Guard>,
}

impl Files {
    fn open(spec: &ProcessSpec, mut handed: Handed, isolation: Isolation) -> Result<Self, StageError> {
        let opens = handed.stdio.contains(&Stdio::Terminal);
        let terminal = if opens { Some(Terminal::open(spec.terminal.as_ref())?) } else { None };
        let mut next = |subject| handed.descriptors.next().ok_or(Errno::BADF).in_stage(Stage::Spec, subject);
        let mut streams = Vec::with_capacity(3);
        for stream in handed.stdio {
            streams.push(match (stream, &terminal) {
                (Stdio::Terminal, Some(terminal)) => terminal.inner.try_clone().in_stage(Stage::Terminal, "")?,
                _ => next("standard streams")?,
            });
        }
        let channel = if handed.channel { Some(next("channel")?) } else { None };
        // Without walls there is no filter at all, and none that would hold: the process may do what the user may.
        let guarded = channel.is_some() && isolation != Isolation::None;
        let guard = if guarded { Some(Guard::compile()?) } else { None };
        Ok(Self { streams, terminal, channel, guard })
    }
}

/// Starts a program and returns when it is really executed.
pub(crate) fn start(
    spec: &ProcessSpec,
    handed: Handed,
    ready: &Ready,
    lifeline: &OwnedFd,
) -> Result<Started, StageError> {
    let files = Files::open(spec, handed, ready.walls.isolation)?;
    let program = Program::new(spec).in_stage(Stage::Spec, "a NUL byte in an argument or variable")?;
    let (failure, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).in_stage(Stage::Fork, "")?;
    let report = if files.channel.is_some() {
        // Out of the way of the channel, which takes its place before the program is executed.
        let moved = rustix::io::fcntl_dupfd_cloexec(&end, CHANNEL.cast_signed() + 1);
        drop(end);
        moved.in_stage(Stage::Fork, "channel")?
    } else {
        end
    };
    match sys::clone_process(0, None).in_stage(Stage::Fork, "")? {
        Cloned::Child => {
            let error = become_program(&program, spec, &files, ready);
            let body = postcard::to_stdvec(&error).unwrap_or_default();
            // If even this fails, the empty report is taken for success and the exit code tells the rest.
            let _ = File::from(report).write_all(&body);
            sys::exit_now(127)
        }
        Cloned::Parent(pid) => {
            drop(report);
            end_with_kennel(&failure, lifeline).in_stage(Stage::Fork, "")?;
            let mut body = Vec::new();
            File::from(failure).read_to_end(&mut body).in_stage(Stage::Fork, "")?;
            match postcard::from_bytes(&body) {
                Ok(error) => {
                    // The init's next reaping collects the child.
                    Err(error)
                }
                Err(_) => Ok(Started { pid, terminal: files.terminal.map(|terminal| terminal.outer) }),
            }
        }
    }
}

/// Waits for the child's word, or for the end of Kennel: a child can hang on a file system that does not answer.
fn end_with_kennel(word: &OwnedFd, lifeline: &OwnedFd) -> Result<(), Errno> {
    loop {
        let mut watched =
            [PollFd::new(word, PollFlags::IN), PollFd::from_borrowed_fd(lifeline.as_fd(), PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        if watched[1].revents().contains(PollFlags::HUP) {
            census::end_box();
        }
        if !watched[0].revents().is_empty() {
            return Ok(());
        }
    }
}

/// A fresh terminal of the box: the program's side and the one for Kennel.
struct Terminal {
    inner: OwnedFd,
    outer: OwnedFd,
}

impl Terminal {
    /// Set up before anyone can look at it.
    fn open(settings: Option<&TerminalSettings>) -> Result<Self, StageError> {
        let outer =
            rustix::fs::openat(CWD, "/dev/ptmx", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
                .in_stage(Stage::Terminal, "/dev/ptmx")?;
        rustix::pty::unlockpt(&outer).in_stage(Stage::Terminal, "")?;
        let inner = rustix::pty::ioctl_tiocgptpeer(
            &outer,
            rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY | rustix::pty::OpenptFlags::CLOEXEC,
        )
        .in_stage(Stage::Terminal, "")?;
        if let Some(settings) = settings {
            set_up(&inner, settings).in_stage(Stage::Terminal, "settings")?;
        }
        Ok(Self { inner, outer })
    }
}

fn set_up(terminal: &OwnedFd, settings: &TerminalSettings) -> Result<(), Errno> {
    let mut modes = tcgetattr(terminal)?;
    modes.input_modes = InputModes::from_bits_retain(settings.input);
    modes.output_modes = OutputModes::from_bits_retain(settings.output);
    modes.local_modes = LocalModes::from_bits_retain(settings.local);
    tcsetattr(terminal, OptionalActions::Now, &modes)?;
    tcsetwinsize(terminal, Winsize { ws_row: settings.rows, ws_col: settings.columns, ws_xpixel: 0, ws_ypixel: 0 })
}

/// Turns the calling process into the program; returns only the reason why not.
fn become_program(program: &Program, spec: &ProcessSpec, files: &Files, ready: &Ready) -> StageError {
    let streams = &files.streams;
    let prepare = || -> Result<(), StageError> {
        rustix::process::setsid().in_stage(Stage::Terminal, "session")?;
        if let Some(terminal) = &files.terminal {
            rustix::process::ioctl_tiocsctty(&terminal.inner).in_stage(Stage::Terminal, "")?;
        }
        rustix::stdio::dup2_stdin(&streams[0]).in_stage(Stage::Fork, "stdin")?;
        rustix::stdio::dup2_stdout(&streams[1]).in_stage(Stage::Fork, "stdout")?;
        rustix::stdio::dup2_stderr(&streams[2]).in_stage(Stage::Fork, "stderr")?;
        if let Some(fence) = &ready.fence {
            let streams = streams.iter().map(AsFd::as_fd).collect::<Vec<_>>();
            fence.apply(&streams)?;
        }
        // Now that nothing else is needed by the number it takes.
        let inherited = match &files.channel {
            Some(channel) => {
                sys::put_at(channel, CHANNEL).in_stage(Stage::Fork, "channel")?;
                CHANNEL + 1
            }
            None => CHANNEL,
        };
        sys::close_from_on_exec(inherited).in_stage(Stage::Fork, "")?;
        if let Some(guard) = &files.guard {
            guard.install()?;
        }
        if ready.walls.isolation != Isolation::None {
            walls::limit_open_files(ready.walls.open_files)?;
        }
        rustix::process::chdir(&spec.cwd).in_stage(Stage::WorkingDirectory, spec.cwd.display())?;
        sys::reset_signals().in_stage(Stage::Fork, "signals")
    };
    match prepare() {
        Ok(()) => program.execute(),
        Err(error) => error,
    }
}

/// A program with its arguments and environment in the form the kernel takes.
struct Program {
    candidates: Vec<CString>,
    name: String,
    argv: Vec<CString>,
    env: Vec<CString>,
}

impl Program {
    fn new(spec: &ProcessSpec) -> Result<Self, Errno> {
        let text = |value: OsString| CString::new(value.into_vec()).map_err(|_| Errno::INVAL);
        let argv = spec.argv.iter().cloned().map(text).collect::<Result<Vec<_>, _>>()?;
        let assignment = |(name, value): &(OsString, OsString)| {
            let mut joined = name.clone();
            joined.push("=");
            joined.push(value);
            text(joined)
        };
        let env = spec.env.iter().map(assignment).collect::<Result<Vec<_>, _>>()?;
        let program = spec.argv.first().ok_or(Errno::INVAL)?;
        let path =
            spec.env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value);
        let candidates = candidates(program, path).into_iter().map(|path| text(path.into_os_string()));
        Ok(Self {
            candidates: candidates.collect::<Result<_, _>>()?,
            name: program.to_string_lossy().into_owned(),
            argv,
            env,
        })
    }

    /// Tries each place where the program may be, as a shell does.
    fn execute(&self) -> StageError {
        let mut errno = Errno::NOENT;
        for candidate in &self.candidates {
            match sys::execute(candidate, &self.argv, &self.env) {
                Errno::NOENT | Errno::NOTDIR => {}
                // Another directory may hold one that can be executed; if not, this is the better answer.
                Errno::ACCESS => errno = Errno::ACCESS,
                other => {
                    errno = other;
                    break;
                }
            }
        }
        StageError { stage: Stage::Execute, subject: self.name.clone(), errno: errno.raw_os_error() }
    }
}

fn candidates(program: &OsStr, path: &OsStr) -> Vec<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(program)];
    }
    path.as_bytes()
        .split(|byte| *byte == b':')
        .filter(|directory| !directory.is_empty())
        .map(|directory| Path::new(OsStr::from_bytes(directory)).join(program))
        .collect()
}
