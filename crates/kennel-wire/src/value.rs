//! The kinds of JSON values, and where in the bytes one lies.

use std::fmt;
use std::ops::Range;

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number of any spelling.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

impl ValueKind {
    /// The kind of the value that begins with this byte.
    pub(crate) fn of(first: u8) -> Option<Self> {
        match first {
            b'{' => Some(Self::Object),
            b'[' => Some(Self::Array),
            b'"' => Some(Self::String),
            b'-' | b'0'..=b'9' => Some(Self::Number),
            b't' | b'f' => Some(Self::Bool),
            b'n' => Some(Self::Null),
            _ => None,
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
        })
    }
}

/// Where something lies in the bytes; unlike a `Range` it can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The bytes that lie there.
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.range()).unwrap_or_default()
    }

    /// The same place, counted from `start`.
    pub(crate) fn within(self, start: usize) -> Self {
        Self { start: self.start.saturating_sub(start), end: self.end.saturating_sub(start) }
    }
}

/// A value that was found in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) kind: ValueKind,
    pub(crate) span: Span,
}
