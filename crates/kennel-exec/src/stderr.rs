//! The last lines a process wrote to standard error, for people who read an error message.

use crate::limits::Limits;
use crate::lines::{Line, LineAssembler};
use bytes::Bytes;
use kennel_redact::cut_off;
use std::collections::VecDeque;

/// Keeps the last lines of standard error, bounded by count and by bytes.
#[derive(Debug)]
pub struct StderrRing {
    assembler: LineAssembler,
    // Text of its own and not slices of what was read: a short line would keep a whole read's buffer in memory.
    lines: VecDeque<String>,
    bytes: usize,
    most_lines: usize,
    most_bytes: usize,
}

impl StderrRing {
    /// An empty ring with the bounds that `limits` has for standard error.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            assembler: LineAssembler::new(limits.stderr_line_bytes),
            lines: VecDeque::new(),
            bytes: 0,
            most_lines: limits.stderr_lines,
            most_bytes: limits.stderr_bytes,
        }
    }

    /// Takes what was read.
    pub fn push(&mut self, chunk: Bytes) {
        for line in self.assembler.push(chunk) {
            self.keep(&line);
        }
    }

    /// Says that nothing follows.
    pub fn finish(&mut self) {
        if let Some(line) = self.assembler.finish() {
            self.keep(&line);
        }
    }

    /// The last lines, at most `count`, oldest first; a line that has not ended yet is the last of them.
    #[must_use]
    pub fn last(&self, count: usize) -> Vec<String> {
        let unfinished = self.assembler.unfinished();
        // More of it may come, so that it may end in the midst of anything.
        let unfinished = (!unfinished.is_empty()).then(|| cut_off(unfinished));
        let mut lines: Vec<String> =
            unfinished.into_iter().chain(self.lines.iter().rev().cloned()).take(count).collect();
        lines.reverse();
        lines
    }

    fn keep(&mut self, line: &Line) {
        let text = match line {
            Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Line::TooLong { head, length, .. } => {
                format!("{} ({length} bytes)", cut_off(head))
            }
        };
        self.bytes += text.len();
        self.lines.push_back(text);
        while self.lines.len() > self.most_lines || self.bytes > self.most_bytes {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
#[path = "stderr_tests.rs"]
mod tests;
