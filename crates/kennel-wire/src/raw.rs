//! One JSON value as bytes that are known to be valid.

use crate::error::ParseError;
use crate::frame::ParseLimits;
use crate::id::Id;
use crate::scan::Scanner;
use crate::text;
use crate::value::ValueKind;
use crate::walk::Members;
use bytes::Bytes;
use std::borrow::Cow;
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

    /// `true` or `false`
    #[must_use]
    pub fn boolean(value: bool) -> Self {
        Self(Bytes::from_static(if value { b"true" } else { b"false" }))
    }

    /// An object of these members, in their order. The names must differ.
    #[must_use]
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a Self)>) -> Self {
        let mut written = vec![b'{'];
        for (name, value) in members {
            if written.len() > 1 {
                written.push(b',');
            }
            text::write_string(name, &mut written);
            written.push(b':');
            written.extend_from_slice(value.as_bytes());
        }
        written.push(b'}');
        Self(written.into())
    }

    /// The members of an object, in their order and without copying their values; none of anything else. Those whose
    /// names are no text (a lone surrogate) are left out.
    #[must_use]
    pub fn members(&self) -> Vec<(String, Self)> {
        if self.kind() != ValueKind::Object {
            return Vec::new();
        }
        let member = |(name, value): (crate::value::Span, crate::value::Value)| {
            let name = text::decode(name.of(&self.0))?.into_owned();
            Some((name, Self(self.0.slice(value.span.range()))))
        };
        Members::new(&self.0, 0).filter_map(member).collect()
    }

    /// The names of an object's members, in their order; none of anything else. Lone surrogates are U+FFFD.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let members = (self.kind() == ValueKind::Object).then(|| Members::new(&self.0, 0));
        members.into_iter().flatten().map(|(name, _)| text::decode_lossy(name.of(&self.0)))
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
