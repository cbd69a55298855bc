//! Walking through values that were scanned before: finding members by name without checking anything again.
//!
//! On other bytes the answers are meaningless, but nothing panics.

use crate::error::FieldError;
use crate::skip::{Specials, after_whitespace};
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

/// The member of `root` to which `path` leads. The names before it are only for the errors. Members are looked up in what
/// was noted of `root` if they are all there, and passed over otherwise.
pub(crate) fn find(
    bytes: &[u8],
    root: Span,
    notes: Option<&Notes>,
    before: &str,
    path: &[&str],
) -> Result<Found, FieldError> {
    let kind = bytes.get(root.start).and_then(|first| ValueKind::of(*first)).unwrap_or(ValueKind::Null);
    let mut value = Value { kind, span: root };
    for (known, name) in path.iter().enumerate() {
        if value.kind != ValueKind::Object {
            return Err(FieldError::NotObject { path: joined(before, path, known), kind: value.kind });
        }
        let known_members = match (notes, known, path.first()) {
            (Some(notes), 0, _) => notes.members.all(),
            (Some(notes), 1, Some(&META)) => notes.meta.all(),
            _ => None,
        };
        let (hit, other) = if let Some(members) = known_members {
            let mut hits = members.iter().filter(|member| member.is_called(bytes, name)).map(Entry::value);
            (hits.next(), hits.next())
        } else {
            let members = Members::new(bytes, value.span.start);
            let mut hits = members.filter(|(member, _)| text::says(member.of(bytes), name)).map(|(_, value)| value);
            (hits.next(), hits.next())
        };
        let Some(hit) = hit else {
            return Ok(Found::Until { object: value.span, known });
        };
        if other.is_some() {
            return Err(FieldError::Ambiguous { path: joined(before, path, known + 1) });
        }
        value = hit;
    }
    Ok(Found::Value(value))
}

/// The member in which parameters and results say something about themselves.
pub(crate) const META: &str = "_meta";

/// What was noted of parameters or a result while they were scanned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notes {
    pub(crate) members: Noted,
    /// Those of `_meta`, if it is there once.
    pub(crate) meta: Noted,
}

impl Notes {
    /// What is noted of an object before its first member.
    pub(crate) fn of_nothing() -> Self {
        Self { members: Noted::of_nothing(), meta: Noted::default() }
    }

    /// The same with all places counted from `start`.
    pub(crate) fn within(self, start: usize) -> Self {
        Self { members: self.members.within(start), meta: self.meta.within(start) }
    }
}

/// The members of an object, noted while it was scanned, so that it need not be passed over again. Small, because it is
/// part of every message. Without anything noted, nothing is known of the object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noted {
    members: [Entry; NOTED],
    count: usize,
}

/// A member whose name has no escapes: where its name and its value begin and end, and what the value is.
#[derive(Debug, Clone, Copy)]
struct Entry {
    places: [u32; 4],
    kind: ValueKind,
}

impl Entry {
    fn is_called(&self, bytes: &[u8], name: &str) -> bool {
        let [start, end, ..] = self.places.map(|place| place as usize);
        // With its quotes.
        end - start == name.len() + 2 && bytes.get(start + 1..end - 1) == Some(name.as_bytes())
    }

    fn value(&self) -> Value {
        let [.., start, end] = self.places.map(|place| place as usize);
        Value { kind: self.kind, span: Span { start, end } }
    }
}

/// As many as most parameters, results and their `_meta` have.
const NOTED: usize = 5;

impl Default for Noted {
    fn default() -> Self {
        Self { count: NOTED + 1, ..Self::of_nothing() }
    }
}

impl Noted {
    /// The members of an object that has none.
    pub(crate) fn of_nothing() -> Self {
        Self { members: [Entry { places: [0; 4], kind: ValueKind::Null }; NOTED], count: 0 }
    }

    /// Notes a member; `is_plain` says that its name is known to have no escapes.
    pub(crate) fn note(&mut self, bytes: &[u8], name: Span, is_plain: bool, value: Value) {
        let places = [name.start, name.end, value.span.start, value.span.end].map(u32::try_from);
        let [Ok(start), Ok(end), Ok(value_start), Ok(value_end)] = places else { return *self = Self::default() };
        if !is_plain && name.of(bytes).contains(&b'\\') {
            return *self = Self::default();
        }
        if let Some(place) = self.members.get_mut(self.count) {
            *place = Entry { places: [start, end, value_start, value_end], kind: value.kind };
        }
        self.count = (self.count + 1).min(NOTED + 1);
    }

    /// The same with all places counted from `start`.
    fn within(mut self, start: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        for entry in &mut self.members {
            entry.places = entry.places.map(|place| place.saturating_sub(start));
        }
        self
    }

    /// All members, if all could be noted.
    fn all(&self) -> Option<&[Entry]> {
        self.members.get(..self.count)
    }
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
pub(crate) struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    specials: Specials,
}

impl<'a> Members<'a> {
    /// Those of the object that begins at `start`.
    pub(crate) fn new(bytes: &'a [u8], start: usize) -> Self {
        Self { bytes, at: start + 1, specials: Specials::default() }
    }
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
        let name = Span { start, end: string_end(self.bytes, start, &mut self.specials) };
        let colon = after_whitespace(self.bytes, name.end);
        let value = value_at(self.bytes, after_whitespace(self.bytes, colon + 1), &mut self.specials);
        self.at = value.span.end;
        Some((name, value))
    }
}

fn value_at(bytes: &[u8], start: usize, specials: &mut Specials) -> Value {
    let first = bytes.get(start).copied().unwrap_or_default();
    let kind = ValueKind::of(first).unwrap_or(ValueKind::Null);
    let end = match kind {
        ValueKind::String => string_end(bytes, start, specials),
        ValueKind::Object | ValueKind::Array => bracket_end(bytes, start, specials),
        ValueKind::Number | ValueKind::Bool | ValueKind::Null => {
            let rest = bytes.get(start..).unwrap_or_default();
            let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
            start + length.unwrap_or(rest.len())
        }
    };
    Value { kind, span: Span { start, end } }
}

/// Where the string that begins at `start` has ended.
fn string_end(bytes: &[u8], start: usize, specials: &mut Specials) -> usize {
    let mut at = start + 1;
    loop {
        at = specials.next(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Where the array or object that begins at `start` has ended. Brackets pair up, so counting them is enough.
fn bracket_end(bytes: &[u8], start: usize, specials: &mut Specials) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at, specials);
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
