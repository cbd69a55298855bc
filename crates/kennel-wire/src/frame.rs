//! Frames: what arrives as one line or body, which is one message or a batch of them.

use crate::envelope;
use crate::error::{ParseError, Problem};
use crate::message::Message;
use crate::scan::Scanner;
use crate::value::ValueKind;
use bytes::Bytes;

/// What a frame may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// How many arrays and objects may be open at once, the message itself and its batch included; 127 unless told, so
    /// that `serde_json` can read whatever is accepted. More than 1024 counts as 1024.
    pub depth: usize,
    /// How many messages a batch may hold; 100 unless told. A batch of tiny messages takes a multiple of its bytes.
    pub batch: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self { depth: 127, batch: 100 }
    }
}

/// What one line or body holds. Whether batches are allowed depends on the protocol version and is decided elsewhere.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every frame is a single message, and a box would be an allocation for each"
)]
pub enum Frame {
    /// A message.
    Single(Message),
    /// At least one message in an array. Each one is judged on its own, as JSON-RPC demands.
    Batch(Vec<Result<Message, ParseError>>),
}

impl Frame {
    /// Reads a frame within the default limits.
    pub fn parse(bytes: Bytes) -> Result<Self, ParseError> {
        Self::parse_within(bytes, ParseLimits::default())
    }

    /// Reads a frame within the given limits.
    pub fn parse_within(bytes: Bytes, limits: ParseLimits) -> Result<Self, ParseError> {
        let mut scanner = Scanner::new(&bytes, limits.depth)?;
        let (kind, start) = scanner.upcoming()?;
        match kind {
            ValueKind::Object => {
                let (fields, _) = envelope::collect(&bytes, &mut scanner)?;
                scanner.end()?;
                let shape = envelope::classify(&bytes, &fields, start)?;
                Ok(Self::Single(Message::new(bytes, shape)))
            }
            ValueKind::Array => {
                let messages = batch(&bytes, &mut scanner, limits.batch)?;
                scanner.end()?;
                if messages.is_empty() {
                    return Err(ParseError::new(Problem::EmptyBatch, start));
                }
                Ok(Self::Batch(messages))
            }
            ValueKind::String | ValueKind::Number | ValueKind::Bool | ValueKind::Null => {
                scanner.value()?;
                scanner.end()?;
                Err(ParseError::new(Problem::NotObject(kind), start))
            }
        }
    }
}

fn batch(
    bytes: &Bytes,
    scanner: &mut Scanner<'_>,
    limit: usize,
) -> Result<Vec<Result<Message, ParseError>>, ParseError> {
    let mut messages = Vec::new();
    scanner.elements(|scanner| {
        let (kind, start) = scanner.upcoming()?;
        if messages.len() >= limit {
            return Err(ParseError::new(Problem::BatchTooLong { limit }, start));
        }
        if kind == ValueKind::Object {
            let (fields, span) = envelope::collect(bytes, scanner)?;
            let shape = envelope::classify(bytes, &fields, start);
            messages.push(shape.map(|shape| Message::new(bytes.slice(span.range()), shape.within(start))));
        } else {
            scanner.value()?;
            messages.push(Err(ParseError::new(Problem::NotObject(kind), start)));
        }
        Ok(())
    })?;
    Ok(messages)
}
