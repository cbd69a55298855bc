//! What is kept of a stream: its first bytes, its last bytes, and how many there were.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Keeps the beginning and the end of what it is given, in bounded memory.
#[derive(Debug)]
pub struct Capture {
    state: State,
}

#[derive(Debug)]
enum State {
    Open(Open),
    Sealed(Arc<Kept>),
    /// Kept elsewhere, for as long as there is room; its ends are kept here.
    Lent {
        kept: Weak<Kept>,
        ends: Kept,
    },
}

#[derive(Debug)]
struct Open {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// What was kept of a stream that is over.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The first bytes.
    pub head: Bytes,
    /// The last bytes, where there were more than fit into the head.
    pub tail: Bytes,
    /// How many there were.
    pub total: u64,
}

/// A part of a stream that is looked at: some first bytes of it and some last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    /// The first bytes.
    pub head: &'a [u8],
    /// The last bytes. They follow the head at once where `missing` is 0.
    pub tail: &'a [u8],
    /// How many bytes between the two are not there.
    pub missing: u64,
}

impl Capture {
    /// Keeps at most this many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { state: State::Open(Open { half: most / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }) }
    }

    /// Takes what the stream has brought. Nothing is added to one that is over.
    pub fn push(&mut self, bytes: &[u8]) {
        if let State::Open(open) = &mut self.state {
            open.push(bytes);
        }
    }

    /// How many bytes there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        match &self.state {
            State::Open(open) => open.total,
            State::Sealed(kept) => kept.total,
            State::Lent { ends, .. } => ends.total,
        }
    }

    /// Ends the stream and returns what was kept of it.
    pub fn seal(&mut self) -> Arc<Kept> {
        let kept = match &mut self.state {
            State::Open(open) => Arc::new(Kept {
                head: std::mem::take(&mut open.head).into(),
                tail: Vec::from(std::mem::take(&mut open.tail)).into(),
                total: open.total,
            }),
            State::Sealed(kept) => return Arc::clone(kept),
            State::Lent { kept, ends } => return kept.upgrade().unwrap_or_else(|| Arc::new(ends.clone())),
        };
        self.state = State::Sealed(Arc::clone(&kept));
        kept
    }

    /// Leaves what was kept to another holder, looks at it there as long as it has it, and keeps at most this many
    /// bytes for the time after.
    pub fn lend(&mut self, most: usize) {
        let kept = self.seal();
        self.state = State::Lent { kept: Arc::downgrade(&kept), ends: kept.ends(most / 2) };
    }

    /// Looks at what has come from an offset on, of what is still there.
    pub fn since<T>(&mut self, offset: u64, look: impl FnOnce(Span<'_>) -> T) -> T {
        match &mut self.state {
            State::Open(open) => look(span(&open.head, open.tail.make_contiguous(), open.total, offset)),
            State::Sealed(kept) => look(kept.since(offset)),
            State::Lent { kept, ends } => match kept.upgrade() {
                Some(kept) => look(kept.since(offset)),
                None => look(ends.since(offset)),
            },
        }
    }
}

impl Kept {
    /// Whether everything was kept.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.total == (self.head.len() + self.tail.len()) as u64
    }

    /// A copy of so many bytes of its beginning and of its end.
    fn ends(&self, each: usize) -> Self {
        let halves = || self.head.split_at(self.head.len() / 2);
        let (first, last) = if self.tail.is_empty() { halves() } else { (&*self.head, &*self.tail) };
        let head = first.get(..each.min(first.len())).unwrap_or_default();
        let tail = last.get(last.len().saturating_sub(each)..).unwrap_or_default();
        Self { head: Bytes::copy_from_slice(head), tail: Bytes::copy_from_slice(tail), total: self.total }
    }

    fn since(&self, offset: u64) -> Span<'_> {
        span(&self.head, &self.tail, self.total, offset)
    }
}

impl Open {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let last = rest.get(rest.len().saturating_sub(self.half)..).unwrap_or_default();
        let surplus = (self.tail.len() + last.len()).saturating_sub(self.half);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(last);
    }
}

/// The part of a stream from an offset on.
fn span<'a>(head: &'a [u8], tail: &'a [u8], total: u64, offset: u64) -> Span<'a> {
    let tail_at = total - tail.len() as u64;
    let skip = |bytes: &'a [u8], from: u64| {
        let skipped = usize::try_from(offset.saturating_sub(from)).unwrap_or(usize::MAX);
        bytes.get(skipped.min(bytes.len())..).unwrap_or_default()
    };
    let missing = tail_at - (head.len() as u64).max(offset).min(tail_at);
    Span { head: skip(head, 0), tail: skip(tail, tail_at), missing }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
