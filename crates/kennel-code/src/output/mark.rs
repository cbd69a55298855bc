//! The marks that end the output of a cell, and how they are found in it.

use crate::channel::Token;
use memchr::memmem::Finder;

const PREFIX: &[u8] = b"\0kennel:";
const DIGITS: usize = 2 * Token::BYTES;
/// The bytes of a mark: the prefix, the token in hexadecimal digits, and a zero.
const LENGTH: usize = PREFIX.len() + DIGITS + 1;

/// What an interpreter writes after the output of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark([u8; LENGTH]);

impl Mark {
    /// The mark of the cell with this token.
    #[must_use]
    pub fn of(token: &Token) -> Self {
        let mut mark = [0; LENGTH];
        for (to, from) in mark.iter_mut().zip(PREFIX.iter().chain(token.hex().as_bytes())) {
            *to = *from;
        }
        Self(mark)
    }

    /// The bytes of it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What bytes begin with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// This many bytes of output. What follows may be the beginning of a mark, or there is nothing.
    Output(usize),
    /// This many bytes of output, and then the mark that was looked for.
    Marked(usize),
    /// This many bytes of output, and then a mark of a cell that is over.
    Stale(usize),
}

/// Finds marks.
#[derive(Debug)]
pub(super) struct Marks {
    prefix: Finder<'static>,
    /// Marks that did not come in time and may still come.
    retired: Vec<Mark>,
}

/// How many marks that did not come are remembered.
const MOST_RETIRED: usize = 8;

impl Marks {
    pub(super) const LENGTH: usize = LENGTH;

    pub(super) fn new() -> Self {
        Self { prefix: Finder::new(PREFIX), retired: Vec::new() }
    }

    /// Remembers a mark that has not come, so that it is no output when it does.
    pub(super) fn retire(&mut self, mark: &Mark) {
        if self.retired.len() == MOST_RETIRED {
            self.retired.remove(0);
        }
        self.retired.push(mark.clone());
    }

    /// Looks for a mark.
    pub(super) fn find(&self, bytes: &[u8], mark: &Mark) -> Piece {
        let mut from = 0;
        while let Some(at) = bytes.get(from..).and_then(|rest| self.prefix.find(rest)) {
            let at = from + at;
            let Some(candidate) = bytes.get(at..at + LENGTH) else {
                // Too short to tell, unless it differs already.
                let rest = bytes.get(at..).unwrap_or_default();
                if self.expected(mark).any(|expected| expected.bytes().starts_with(rest)) {
                    return Piece::Output(at);
                }
                from = at + 1;
                continue;
            };
            if candidate == mark.bytes() {
                return Piece::Marked(at);
            }
            if self.retired.iter().any(|stale| candidate == stale.bytes()) {
                return Piece::Stale(at);
            }
            from = at + 1;
        }
        // The prefix itself may be cut.
        let tail = bytes.len().saturating_sub(PREFIX.len() - 1).max(from);
        let begins = (tail..bytes.len()).find(|at| bytes.get(*at..).is_some_and(|rest| PREFIX.starts_with(rest)));
        Piece::Output(begins.unwrap_or(bytes.len()))
    }

    fn expected<'a>(&'a self, mark: &'a Mark) -> impl Iterator<Item = &'a Mark> {
        self.retired.iter().chain([mark])
    }
}
