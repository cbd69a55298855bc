//! Owns the three pipes to a process: writes and reads without ever waiting for only one of them.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How much of stderr is kept.
const STDERR_KEPT: usize = 64 << 10;

/// How much unread output is kept before reading fails.
const OUTPUT_KEPT: usize = 512 << 20;

/// The pipes, none of which blocks.
pub(super) struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    lines: VecDeque<Vec<u8>>,
    /// Bytes in `lines` and `unfinished`.
    kept: usize,
    /// The beginning of a line whose end has not come.
    unfinished: Vec<u8>,
    stderr_tail: Vec<u8>,
    buffer: Box<[u8]>,
}

/// What is waited for besides output.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    /// Room in stdin.
    Write,
    /// Nothing.
    Read,
}

impl Pipes {
    pub(super) fn take(child: &mut Child) -> io::Result<Self> {
        let pipes = Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            lines: VecDeque::new(),
            kept: 0,
            unfinished: Vec::new(),
            stderr_tail: Vec::new(),
            buffer: vec![0; 64 << 10].into_boxed_slice(),
        };
        for pipe in [fd(pipes.stdin.as_ref()), fd(pipes.stdout.as_ref()), fd(pipes.stderr.as_ref())] {
            rustix::io::ioctl_fionbio(pipe.ok_or(ErrorKind::BrokenPipe)?, true)?;
        }
        Ok(pipes)
    }

    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(super) fn stdout_is_open(&self) -> bool {
        self.stdout.is_some()
    }

    /// The next whole line without its end; the last one may have none.
    pub(super) fn line(&mut self) -> Option<Vec<u8>> {
        if self.lines.is_empty() && self.stdout.is_none() && !self.unfinished.is_empty() {
            self.lines.push_back(std::mem::take(&mut self.unfinished));
        }
        let line = self.lines.pop_front()?;
        self.kept -= line.len();
        Some(line)
    }

    pub(super) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr_tail).into_owned()
    }

    /// Writes all of it, and reads what comes meanwhile.
    pub(super) fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let Some(stdin) = &mut self.stdin else { return Err(ErrorKind::BrokenPipe.into()) };
            match stdin.write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.turn(Turn::Write, deadline)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until something can be read, and reads it.
    pub(super) fn read(&mut self, deadline: Instant) -> io::Result<()> {
        if self.stdout.is_none() && self.stderr.is_none() {
            return Err(ErrorKind::BrokenPipe.into());
        }
        match self.turn(Turn::Read, deadline) {
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(()),
            other => other,
        }
    }

    /// Waits for one of the pipes until the deadline, and reads what is there. Stdin counts only for a writer.
    fn turn(&mut self, turn: Turn, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        let waiting = fd(self.stdin.as_ref())
            .filter(|_| turn == Turn::Write)
            .map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT));
        let reading = [fd(self.stdout.as_ref()), fd(self.stderr.as_ref())];
        let reading = reading.into_iter().flatten().map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN));
        let mut all: Vec<PollFd<'_>> = waiting.into_iter().chain(reading).collect();
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut all, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.read_stdout()?;
        self.read_stderr()
    }

    fn read_stdout(&mut self) -> io::Result<()> {
        while let Some(count) = read_some(&mut self.stdout, &mut self.buffer)? {
            self.kept += count;
            if self.kept > OUTPUT_KEPT {
                return Err(io::Error::other("the server prints more than the client reads"));
            }
            let mut rest = self.buffer.get(..count).unwrap_or_default();
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                self.unfinished.extend_from_slice(rest.get(..end).unwrap_or_default());
                self.kept -= 1;
                self.lines.push_back(std::mem::take(&mut self.unfinished));
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            self.unfinished.extend_from_slice(rest);
        }
        Ok(())
    }

    fn read_stderr(&mut self) -> io::Result<()> {
        while let Some(count) = read_some(&mut self.stderr, &mut self.buffer)? {
            self.stderr_tail.extend_from_slice(self.buffer.get(..count).unwrap_or_default());
            let surplus = self.stderr_tail.len().saturating_sub(STDERR_KEPT);
            self.stderr_tail.drain(..surplus);
        }
        Ok(())
    }
}

/// Reads what is there; None if that is nothing. At its end the pipe goes away.
fn read_some<P: Read>(pipe: &mut Option<P>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    let Some(open) = pipe else { return Ok(None) };
    match open.read(buffer) {
        Ok(0) => {
            *pipe = None;
            Ok(None)
        }
        Ok(count) => Ok(Some(count)),
        Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn fd<P: AsFd>(pipe: Option<&P>) -> Option<BorrowedFd<'_>> {
    pipe.map(AsFd::as_fd)
}
