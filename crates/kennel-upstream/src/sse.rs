//! Streams of events (`text/event-stream`), read from chunks that are cut anywhere: the pure part, which knows no HTTP.

use bytes::{Bytes, BytesMut};
use memchr::memchr2;
use std::collections::VecDeque;
use std::time::Duration;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// What a line may hold besides its value.
const FIELD_BYTES: usize = 64;
/// The longest kind of an event; none that counts is longer.
pub(crate) const KIND_BYTES: usize = 64;
/// The longest id of an event: a longer one fits into no header, so it cannot be asked for.
const ID_BYTES: usize = 4096;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What kind of event it is; nothing is the same as `message`.
    pub(crate) kind: String,
    /// What it carries, the lines of it joined by line feeds.
    pub(crate) data: Bytes,
}

/// An event is larger than what passes; nothing of the stream can be read after that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Assembles events. At most one line and one event of `limit` bytes are held.
#[derive(Debug)]
pub(crate) struct EventReader {
    limit: usize,
    line: BytesMut,
    /// The last line ended with a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
    /// Nothing was read yet, so a byte order mark may come.
    at_start: bool,
    kind: String,
    data: BytesMut,
    /// Whether a line of data was there; one without text is also one.
    has_data: bool,
    /// The id that counts when the event that is being read is complete.
    pending_id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
    ready: VecDeque<Event>,
}

impl EventReader {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: BytesMut::new(),
            after_return: false,
            at_start: true,
            kind: String::new(),
            data: BytesMut::new(),
            has_data: false,
            pending_id: None,
            last_id: None,
            retry: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next chunk; the events that it finished come from [`EventReader::next`].
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), TooLarge> {
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                return self.keep(rest);
            };
            let (piece, ended) = rest.split_at(end);
            self.keep(piece)?;
            self.after_return = ended.first() == Some(&b'\r');
            rest = ended.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            self.end_line(&line)?;
        }
        Ok(())
    }

    /// The next event that is complete.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// The id of the last event that came whole, by which the stream can be asked for again.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// How long the server wants to be left alone before that.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + piece.len() > self.limit.saturating_add(FIELD_BYTES) {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn end_line(&mut self, line: &[u8]) -> Result<(), TooLarge> {
        let line =
            if std::mem::take(&mut self.at_start) { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            self.dispatch();
            return Ok(());
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (name, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, [].as_slice()),
        };
        match name {
            b"data" => return self.add_data(value),
            b"event" => {
                let kind = value.get(..KIND_BYTES.min(value.len())).unwrap_or_default();
                self.kind = String::from_utf8_lossy(kind).into_owned();
            }
            // An id that no header can carry cannot be asked for.
            b"id" if value.len() <= ID_BYTES && value.iter().all(|byte| (0x20..0x7f).contains(byte)) => {
                self.pending_id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                self.retry = milliseconds.map(Duration::from_millis).or(self.retry);
            }
            // Comments and whatever comes to be.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), TooLarge> {
        if self.data.len() + value.len() + usize::from(self.has_data) > self.limit {
            return Err(TooLarge);
        }
        if self.has_data {
            self.data.extend_from_slice(b"\n");
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self) {
        if let Some(id) = self.pending_id.take() {
            self.last_id = Some(id);
        }
        let (kind, data) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.data));
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(Event { kind, data: data.freeze() });
        }
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
