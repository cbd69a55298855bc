//! What a process writes, cut into lines and told apart: messages, answers to the supervisor itself, and noise.

use crate::opening::is_own;
use crate::receiver::Noise;
use bytes::Bytes;
use kennel_exec::{Line, LineAssembler};
use kennel_redact::cut_off;
use kennel_wire::{Frame, Kind, Message, ParseError};

/// How much of a line that is no message is kept.
const HEAD_BYTES: usize = 1024;
/// The longest line of standard error; of a longer one the beginning is told.
const DIAGNOSTIC_BYTES: usize = 8 * 1024;

/// One thing that was on standard output.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A message for the receiver.
    Message(Message),
    /// An answer to a request of the supervisor's own.
    Own(Message),
    /// Anything else.
    Noise(Noise),
}

/// Reads both outputs of one process.
#[derive(Debug)]
pub(crate) struct Reader {
    stdout: LineAssembler,
    stderr: LineAssembler,
}

impl Reader {
    pub(crate) fn new(line_bytes: usize) -> Self {
        Self { stdout: LineAssembler::new(line_bytes), stderr: LineAssembler::new(DIAGNOSTIC_BYTES) }
    }

    /// Takes what was read from standard output.
    pub(crate) fn stdout(&mut self, chunk: Bytes) -> Vec<Heard> {
        let mut heard = Vec::new();
        for line in self.stdout.push(chunk) {
            tell_apart(line, &mut heard);
        }
        heard
    }

    /// What is left of standard output when nothing follows.
    pub(crate) fn last(&mut self) -> Vec<Heard> {
        let mut heard = Vec::new();
        if let Some(line) = self.stdout.finish() {
            tell_apart(line, &mut heard);
        }
        heard
    }

    /// Takes what was read from standard error.
    pub(crate) fn stderr(&mut self, chunk: Bytes) -> Vec<Bytes> {
        self.stderr.push(chunk).into_iter().map(shown).collect()
    }

    /// What is left of standard error when nothing follows.
    pub(crate) fn last_diagnostic(&mut self) -> Option<Bytes> {
        self.stderr.finish().map(shown)
    }
}

fn shown(line: Line) -> Bytes {
    match line {
        Line::Whole(line) => line,
        Line::TooLong { head, length, .. } => format!("{} ({length} bytes)", cut_off(&head)).into(),
    }
}

fn tell_apart(line: Line, heard: &mut Vec<Heard>) {
    let line = match line {
        Line::Whole(line) => line,
        Line::TooLong { head, tail, length } => {
            heard.push(Heard::Noise(Noise::TooLong { head, tail, length }));
            return;
        }
    };
    // Many programs write empty lines around what they say; they mean nothing.
    if line.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    match Frame::parse(line.clone()) {
        Ok(Frame::Single(message)) => heard.push(sort(message)),
        Ok(Frame::Batch(messages)) => heard.extend(messages.into_iter().map(|message| match message {
            Ok(message) => sort(message),
            Err(reason) => noise(&line, reason),
        })),
        Err(reason) => heard.push(noise(&line, reason)),
    }
}

fn sort(message: Message) -> Heard {
    let own = match message.kind() {
        Kind::Response { id, .. } => is_own(id),
        Kind::Error { .. } => message.id().is_some_and(is_own),
        // A process may number its own requests as it likes.
        Kind::Request { .. } | Kind::Notification { .. } => false,
    };
    if own { Heard::Own(message) } else { Heard::Message(message) }
}

fn noise(line: &Bytes, reason: ParseError) -> Heard {
    let head = match line.get(..HEAD_BYTES).filter(|head| head.len() < line.len()) {
        Some(head) => cut_off(head).into(),
        None => line.clone(),
    };
    Heard::Noise(Noise::NotAMessage { head, reason })
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
