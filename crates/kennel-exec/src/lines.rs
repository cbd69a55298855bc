//! Lines out of chunks: the pure part, which knows neither pipes nor messages.

use bytes::{Bytes, BytesMut};
use memchr::memchr;

/// A chunk of this size may be kept for the sake of any line in it.
const SMALL_CHUNK: usize = 16 * 1024;
/// A line that has less than this part of a larger chunk is copied, so that whoever keeps it does not keep the chunk.
const SMALL_PART: usize = 4;

/// How much of the beginning and of the end of an over-long line is kept to tell which one it was.
const HEAD_BYTES: usize = 1024;

/// A line, or what is left of one that was too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line without its line feed, and without a carriage return before that.
    Whole(Bytes),
    /// A line longer than the limit; it was skipped to its end.
    TooLong {
        /// Its first bytes.
        head: Bytes,
        /// Its last bytes; they overlap with the first if it is short.
        tail: Bytes,
        /// How many bytes came before the line feed.
        length: u64,
    },
}

/// Assembles lines from chunks that are cut anywhere.
///
/// Each byte is looked at once. A line that lies in one chunk is a slice of it; only a line that spans chunks, or that is a
/// small part of a large one, is copied, once. At most `limit` and one byte of an unfinished line are held.
#[derive(Debug)]
pub struct LineAssembler {
    limit: usize,
    unfinished: Unfinished,
}

#[derive(Debug)]
enum Unfinished {
    Line(BytesMut),
    Skipping { head: Bytes, tail: BytesMut, length: u64 },
}

impl LineAssembler {
    /// An assembler for lines of at most `limit` bytes, line end not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, unfinished: Unfinished::Line(BytesMut::new()) }
    }

    /// Takes the next chunk and returns the lines that it finished.
    #[must_use]
    pub fn push(&mut self, mut chunk: Bytes) -> Vec<Line> {
        let mut lines = Vec::new();
        let whole = chunk.len();
        while let Some(end) = memchr(b'\n', &chunk) {
            let mut piece = chunk.split_to(end + 1).slice(..end);
            if whole > SMALL_CHUNK && end < whole / SMALL_PART {
                piece = Bytes::copy_from_slice(&piece);
            }
            lines.push(self.end_line(piece));
        }
        self.keep(&chunk);
        lines
    }

    /// Says that nothing follows and returns the last line, if it had no line end.
    #[must_use]
    pub fn finish(&mut self) -> Option<Line> {
        match &self.unfinished {
            Unfinished::Line(held) if held.is_empty() => None,
            Unfinished::Line(_) | Unfinished::Skipping { .. } => Some(self.end_line(Bytes::new())),
        }
    }

    /// What there is of the line that has not ended.
    #[must_use]
    pub fn unfinished(&self) -> &[u8] {
        match &self.unfinished {
            Unfinished::Line(held) => held,
            Unfinished::Skipping { head, .. } => head,
        }
    }

    fn end_line(&mut self, piece: Bytes) -> Line {
        let line = match &self.unfinished {
            Unfinished::Line(held) if held.is_empty() => piece,
            Unfinished::Line(_) | Unfinished::Skipping { .. } => {
                self.keep(&piece);
                match std::mem::replace(&mut self.unfinished, Unfinished::Line(BytesMut::new())) {
                    Unfinished::Line(held) => held.freeze(),
                    Unfinished::Skipping { head, tail, length } => {
                        return Line::TooLong { head, tail: tail.freeze(), length };
                    }
                }
            }
        };
        let content = line.strip_suffix(b"\r").unwrap_or(&line).len();
        if content > self.limit {
            return Line::TooLong {
                head: head(&line, &[]),
                tail: tail(&line, &[]).freeze(),
                length: line.len() as u64,
            };
        }
        Line::Whole(line.slice(..content))
    }

    fn keep(&mut self, piece: &[u8]) {
        match &mut self.unfinished {
            // One byte more than the limit may be the carriage return of a line that fits.
            Unfinished::Line(held) if held.len() + piece.len() <= self.limit.saturating_add(1) => {
                held.extend_from_slice(piece);
            }
            Unfinished::Line(held) => {
                let length = (held.len() + piece.len()) as u64;
                self.unfinished = Unfinished::Skipping { head: head(held, piece), tail: tail(held, piece), length };
            }
            Unfinished::Skipping { tail: last, length, .. } => {
                *length += piece.len() as u64;
                *last = tail(last, piece);
            }
        }
    }
}

/// The beginning of an over-long line whose known part lies in two pieces.
fn head(first: &[u8], second: &[u8]) -> Bytes {
    first.iter().chain(second).take(HEAD_BYTES).copied().collect()
}

/// The end of an over-long line whose last bytes lie in two pieces.
fn tail(first: &[u8], second: &[u8]) -> BytesMut {
    let from_second = second.get(second.len().saturating_sub(HEAD_BYTES)..).unwrap_or_default();
    let wanted = HEAD_BYTES - from_second.len();
    let from_first = first.get(first.len().saturating_sub(wanted)..).unwrap_or_default();
    from_first.iter().chain(from_second).copied().collect()
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
