//! Ids and progress tokens, kept as they were spelled.

use crate::error::{ParseError, Problem};
use crate::frame::ParseLimits;
use crate::scan::Scanner;
use crate::text;
use crate::value::{Value, ValueKind};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A spelling of this length needs no allocation: a UUID in quotes, or any usual number.
const SHORT: usize = 38;
/// How much of an id a log line shows.
const SHOWN: usize = 128;

/// The id of a request, or a progress token, which has the same form: a string or a number.
///
/// Two ids are equal if they are spelled alike, so `1`, `1.0` and `"1"` are three, and an answer carries exactly what
/// the request had. An id owns its bytes: remembering it does not keep the message in memory.
#[derive(Clone)]
pub struct Id(Spelling);

#[derive(Clone)]
enum Spelling {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Arc<[u8]>),
}

impl Id {
    /// A number as an id.
    #[must_use]
    pub fn number(number: i64) -> Self {
        Self::spelled(number.to_string().as_bytes())
    }

    /// A text as an id.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::spelled(&text::string(text))
    }

    /// Reads an id from its JSON spelling.
    pub fn parse(spelling: &[u8]) -> Result<Self, ParseError> {
        let mut scanner = Scanner::new(spelling, ParseLimits::default().depth)?;
        let value = scanner.value()?;
        scanner.end()?;
        Self::scanned(spelling, value)
    }

    /// An id from a value that was found in `bytes`.
    pub(crate) fn scanned(bytes: &[u8], value: Value) -> Result<Self, ParseError> {
        match value.kind {
            ValueKind::String | ValueKind::Number => Ok(Self::spelled(value.span.of(bytes))),
            ValueKind::Null => Err(ParseError::new(Problem::NullId, value.span.start)),
            ValueKind::Object | ValueKind::Array | ValueKind::Bool => {
                Err(ParseError::new(Problem::IdType(value.kind), value.span.start))
            }
        }
    }

    /// An id from the bytes of a string or number that was scanned before.
    fn spelled(spelling: &[u8]) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..spelling.len()), u8::try_from(spelling.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(spelling);
                Self(Spelling::Short { length, bytes })
            }
            _ => Self(Spelling::Long(spelling.into())),
        }
    }

    /// The JSON spelling: digits, or text in quotes.
    #[must_use]
    pub fn spelling(&self) -> &[u8] {
        match &self.0 {
            Spelling::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Spelling::Long(bytes) => bytes,
        }
    }

    /// What the id says, if it is a string without lone surrogates.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        let spelling = self.spelling();
        if spelling.starts_with(b"\"") { text::decode(spelling) } else { None }
    }

    /// The number that the id is, if it is a whole number of 64 bits without an exponent. `1.0` counts, because
    /// processes without integers answer a `1` with it.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        let spelling = std::str::from_utf8(self.spelling()).ok()?;
        let whole = match spelling.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
            Some(_) => return None,
            None => spelling,
        };
        whole.parse().ok()
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.spelling() == other.spelling()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spelling().hash(state);
    }
}

/// The spelling, cut where it would flood a log.
impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelling = self.spelling();
        match spelling.get(..SHOWN) {
            Some(shown) if spelling.len() > SHOWN => write!(formatter, "{}…", String::from_utf8_lossy(shown)),
            _ => formatter.write_str(&String::from_utf8_lossy(spelling)),
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Id({self})")
    }
}

/// Which request an error is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ErrorId {
    /// For this one.
    Known(Id),
    /// It could not be told: `"id": null`, as JSON-RPC writes it.
    Null,
    /// It could not be told: no `id` at all, as MCP allows since 2025-11-25.
    Absent,
}

impl From<Id> for ErrorId {
    fn from(id: Id) -> Self {
        Self::Known(id)
    }
}

#[cfg(test)]
#[path = "id_tests.rs"]
mod tests;
