//! Walking through values that were scanned before: finding members by name without checking anything again.
//!
//! On other bytes the answers are meaningless, but nothing panics.

use crate::error::FieldError;
use crate::skip::{after_whitespace, next_special};
use crate::text;
use crate::value::{Span, Value, ValueKind};

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// To this value.
    Value(Value),
    /// No further than into this object: it has no member of the name at this place of the path.
    Until {
        /// The object that lacks the member.
        object: Span,
        /// How many names of the path were found.
        known: usize,
    },
}

/// The member of `root` to which `path` leads. The names before it are only for the errors.
pub(crate) fn find(bytes: &[u8], root: Span, before: &str, path: &[&str]) -> Result<Found, FieldError> {
    let mut value = value_at(bytes, root.start);
    for (known, name) in path.iter().enumerate() {
        if value.kind != ValueKind::Object {
            return Err(FieldError::NotObject { path: joined(before, path, known), kind: value.kind });
        }
        let mut hits = Members { bytes, at: value.span.start + 1 }
            .filter(|(member, _)| text::says(member.of(bytes), name))
            .map(|(_, value)| value);
        let Some(hit) = hits.next() else {
            return Ok(Found::Until { object: value.span, known });
        };
        if hits.next().is_some() {
            return Err(FieldError::Ambiguous { path: joined(before, path, known + 1) });
        }
        value = hit;
    }
    Ok(Found::Value(value))
}

/// The first names of a path as they stand in messages.
pub(crate) fn joined(before: &str, path: &[&str], known: usize) -> String {
    let names = path.iter().take(known);
    names.fold(before.to_owned(), |whole, name| whole + "." + name)
}

/// Whether the object has no members.
pub(crate) fn is_empty(bytes: &[u8], object: Span) -> bool {
    bytes.get(after_whitespace(bytes, object.start + 1)) == Some(&b'}')
}

/// The members of an object: names with their quotes, and values.
struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Members<'_> {
    type Item = (Span, Value);

    fn next(&mut self) -> Option<Self::Item> {
        let mut start = after_whitespace(self.bytes, self.at);
        if self.bytes.get(start) == Some(&b',') {
            start = after_whitespace(self.bytes, start + 1);
        }
        if self.bytes.get(start) != Some(&b'"') {
            return None;
        }
        let name = Span { start, end: string_end(self.bytes, start) };
        let colon = after_whitespace(self.bytes, name.end);
        let value = value_at(self.bytes, after_whitespace(self.bytes, colon + 1));
        self.at = value.span.end;
        Some((name, value))
    }
}

fn value_at(bytes: &[u8], start: usize) -> Value {
    let first = bytes.get(start).copied().unwrap_or_default();
    let kind = ValueKind::of(first).unwrap_or(ValueKind::Null);
    let end = match kind {
        ValueKind::String => string_end(bytes, start),
        ValueKind::Object | ValueKind::Array => bracket_end(bytes, start),
        ValueKind::Number | ValueKind::Bool | ValueKind::Null => {
            let rest = bytes.get(start..).unwrap_or_default();
            let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
            start + length.unwrap_or(rest.len())
        }
    };
    Value { kind, span: Span { start, end } }
}

/// Where the string that begins at `start` has ended.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at = next_special(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Where the array or object that begins at `start` has ended. Brackets pair up, so counting them is enough.
fn bracket_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}
