//! Owns how a program is asked for a secret: no shell, no terminal, so much time, so much output, and nothing left behind.

use super::{LONGEST_SECRET, SourceError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much of a complaint is kept.
const LONGEST_COMPLAINT: usize = 4096;
/// How much of its last line is shown.
const SHOWN: usize = 200;
/// How often a program that has closed its output is looked for.
const GLANCE: Duration = Duration::from_millis(10);

/// What a program prints, if it succeeds in time. More than a secret is cut one byte beyond the longest.
pub(super) fn run(
    program: &OsStr,
    args: &[String],
    directory: Option<&Path>,
    patience: Duration,
) -> Result<Vec<u8>, SourceError> {
    let name = program.to_string_lossy().into_owned();
    let failed = |source| SourceError::Start { program: name.clone(), source };
    let mut command = Command::new(program);
    // Its own group, so that all of it can be ended.
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    if let Some(directory) = directory.filter(|directory| !directory.as_os_str().is_empty()) {
        command.current_dir(directory);
    }
    let mut group = Group { child: command.spawn().map_err(failed)?, ended: None };
    let deadline = Instant::now() + patience;
    let timed_out = || SourceError::TimedOut { program: name.clone(), patience };
    let mut output = Output::new(group.child.stdout.take(), group.child.stderr.take());
    while output.is_open() && output.printed.len() <= LONGEST_SECRET {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(timed_out());
        }
        output.read_more(left).map_err(failed)?;
    }
    if output.printed.len() > LONGEST_SECRET {
        return Ok(output.printed);
    }
    while !group.leader_has_ended().map_err(failed)? {
        if Instant::now() >= deadline {
            return Err(timed_out());
        }
        std::thread::sleep(GLANCE);
    }
    let status = group.end().map_err(failed)?;
    if status.success() { Ok(output.printed) } else { Err(SourceError::Failed { program: name, said: output.said() }) }
}

/// A program and all that it started. Whatever is left of them ends with this.
struct Group {
    child: Child,
    /// How it ended, once it was waited for: from then on its number may be another's.
    ended: Option<ExitStatus>,
}

impl Group {
    fn leader(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Whether the program has ended. It is not waited for yet, so that its number stays its own.
    fn leader_has_ended(&self) -> std::io::Result<bool> {
        let Some(leader) = self.leader() else { return Ok(true) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(leader), look)?.is_some())
    }

    /// Ends what is left and says how the program ended.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        if let Some(leader) = self.leader() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let status = self.child.wait()?;
        self.ended = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The two pipes and what came out of them.
struct Output {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    printed: Vec<u8>,
    complaint: Vec<u8>,
}

impl Output {
    fn new(stdout: Option<ChildStdout>, stderr: Option<ChildStderr>) -> Self {
        Self { stdout, stderr, printed: Vec::new(), complaint: Vec::new() }
    }

    /// Whether more may be printed. What is said on standard error alone is not waited for.
    fn is_open(&self) -> bool {
        self.stdout.is_some()
    }

    /// Waits for one of the pipes and reads what is there.
    fn read_more(&mut self, patience: Duration) -> std::io::Result<()> {
        let interest = PollFlags::IN;
        let mut pipes = Vec::with_capacity(2);
        pipes.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, interest)));
        pipes.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe, interest)));
        let timeout = Timespec::try_from(patience).map_err(std::io::Error::other)?;
        match poll(&mut pipes, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = pipes.iter().map(|pipe| !pipe.revents().is_empty()).collect();
        let mut ready = ready.into_iter();
        if self.stdout.is_some() && ready.next() == Some(true) {
            read_some(&mut self.stdout, &mut self.printed)?;
        }
        if self.stderr.is_some() && ready.next() == Some(true) {
            read_some(&mut self.stderr, &mut self.complaint)?;
            let surplus = self.complaint.len().saturating_sub(LONGEST_COMPLAINT);
            self.complaint.drain(..surplus);
        }
        Ok(())
    }

    /// The last line of the complaint.
    fn said(mut self) -> String {
        // The program has ended; what it said last may still be in the pipe. Others may hold it open, so only what is
        // there already counts.
        self.stdout = None;
        while self.stderr.is_some() {
            let before = self.complaint.len();
            if self.read_more(Duration::ZERO).is_err() || (self.stderr.is_some() && self.complaint.len() == before) {
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.complaint);
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim().chars().filter(|letter| !letter.is_control()).take(SHOWN).collect()
    }
}

/// Reads once from a pipe that is ready, and forgets it at its end.
fn read_some(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) -> std::io::Result<()> {
    let Some(open) = pipe else { return Ok(()) };
    let mut buffer = [0; 8192];
    match open.read(&mut buffer) {
        Ok(0) => *pipe = None,
        Ok(count) => into.extend_from_slice(&buffer[..count]),
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
