//! Events as they stand on the wire of a stream, and their ids.

use bytes::{BufMut, Bytes, BytesMut};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Up to this size a message is copied into its event. The copy frees the larger buffer that the message may be a slice
/// of, and goes out as one chunk.
const COPIED: usize = 64 * 1024;

/// The sign of life on a silent stream.
pub(crate) const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// Which event of which stream of a session; as a client sees it, the stream and the place in it with a dash between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventId {
    /// 0 is the stream of the session itself; each request whose answer is streamed has one of its own.
    pub(crate) stream: u64,
    /// Counts from 1.
    pub(crate) sequence: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.stream, self.sequence)
    }
}

/// What is not the id of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotAnEventId;

impl FromStr for EventId {
    type Err = NotAnEventId;

    fn from_str(text: &str) -> Result<Self, NotAnEventId> {
        let (stream, sequence) = text.split_once('-').ok_or(NotAnEventId)?;
        let id = Self {
            stream: stream.parse().map_err(|_| NotAnEventId)?,
            sequence: sequence.parse().map_err(|_| NotAnEventId)?,
        };
        // Only the one spelling that was given out.
        if id.to_string() == text { Ok(id) } else { Err(NotAnEventId) }
    }
}

/// An event with a message, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// All of it.
    Whole(Bytes),
    /// What comes before a large message, and the message.
    Parts(Bytes, Bytes),
}

impl Event {
    /// The event that carries a message.
    pub(crate) fn message(id: EventId, message: Bytes) -> Self {
        Self::new(format!("event: message\nid: {id}\ndata: ").into(), message)
    }

    /// The event that carries a message on a stream that cannot be resumed.
    pub(crate) fn unnumbered(message: Bytes) -> Self {
        Self::new(Bytes::from_static(b"event: message\ndata: "), message)
    }

    fn new(head: Bytes, message: Bytes) -> Self {
        // A line end between two tokens would end the `data` field.
        let message = kennel_wire::one_line(message);
        if message.len() > COPIED {
            return Self::Parts(head, message);
        }
        let mut whole = BytesMut::with_capacity(head.len() + message.len() + END.len());
        whole.put_slice(&head);
        whole.put_slice(&message);
        whole.put_slice(END);
        Self::Whole(whole.freeze())
    }

    /// How many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Parts(head, message) => head.len() + message.len() + END.len(),
        }
    }

    /// The bytes, in order.
    pub(crate) fn chunks(self) -> impl Iterator<Item = Bytes> {
        let chunks = match self {
            Self::Whole(bytes) => [Some(bytes), None, None],
            Self::Parts(head, message) => [Some(head), Some(message), Some(Bytes::from_static(END))],
        };
        chunks.into_iter().flatten()
    }
}

const END: &[u8] = b"\n\n";

/// The event that carries nothing but an id to come back with, and when to.
pub(crate) fn priming(id: EventId, retry: Duration) -> Bytes {
    format!("id: {id}\nretry: {}\ndata: \n\n", retry.as_millis()).into()
}

/// What a stream says before the gateway ends the connection, though the stream goes on.
pub(crate) fn farewell(retry: Duration) -> Bytes {
    format!("retry: {}\n\n", retry.as_millis()).into()
}

/// Says to whoever reads the stream by eye that something is missing.
pub(crate) fn gap() -> Bytes {
    Bytes::from_static(b": some events before this are no longer kept\n\n")
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
