//! One JSON value as bytes that are known to be valid.

use crate::error::ParseError;
use crate::frame::ParseLimits;
use crate::id::Id;
use crate::scan::Scanner;
use crate::text;
use crate::value::ValueKind;
use bytes::Bytes;
use std::fmt;

/// One JSON value, as spelled. Only what was scanned can be one, so putting it into a message keeps that valid.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

impl RawJson {
    /// Checks one value; whitespace around it is dropped.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Self, ParseError> {
        let bytes = bytes.into();
        let mut scanner = Scanner::new(&bytes, ParseLimits::default().depth)?;
        let value = scanner.value()?;
        scanner.end()?;
        Ok(Self(bytes.slice(value.span.range())))
    }

    /// A text as a JSON string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self(text::string(text).into())
    }

    /// `{}`
    #[must_use]
    pub fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// A value that was scanned before.
    pub(crate) fn scanned(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// What the value is.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        self.0.first().and_then(|first| ValueKind::of(*first)).unwrap_or(ValueKind::Null)
    }

    /// The value's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The value's bytes, shared with where they came from.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<&Id> for RawJson {
    fn from(id: &Id) -> Self {
        Self(Bytes::copy_from_slice(id.spelling()))
    }
}

/// Only the kind and the size: payloads may hold secrets.
impl fmt::Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RawJson({}, {} bytes)", self.kind(), self.0.len())
    }
}
