//! A text as somebody would read it who undoes its escapes, with the way back to where each byte came from.
//!
//! Looking at the text this way finds a value in every spelling that JSON and URLs have for it, also in a mixture of them;
//! writing all spellings of a value down would not.

use crate::cutting::CUT;
use std::borrow::Cow;

/// How many escapes are undone, one within the other: JSON in JSON, a URL in JSON.
const DEPTH: usize = 2;

/// A way to see a text.
pub(crate) struct View<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Where in the text each byte begins; empty if each is where it is.
    starts: Vec<usize>,
    length: usize,
}

impl<'a> View<'a> {
    /// The text itself, and what it is without escapes.
    pub(crate) fn all(text: &'a str) -> Vec<Self> {
        let plain = Self { bytes: Cow::Borrowed(text.as_bytes()), starts: Vec::new(), length: text.len() };
        let mut views = vec![plain];
        let mut begin = 0;
        for _ in 0..DEPTH {
            let end = views.len();
            for index in begin..end {
                let Some(view) = views.get(index) else { break };
                let decoded = [view.decoded(b'\\', json_escape), view.decoded(b'%', percent_escape)];
                views.extend(decoded.into_iter().flatten());
            }
            begin = end;
        }
        views
    }

    /// The place in the text of a range of bytes of this view.
    pub(crate) fn span(&self, start: usize, end: usize) -> (usize, usize) {
        (self.source(start), self.source(end))
    }

    fn source(&self, index: usize) -> usize {
        if self.starts.is_empty() { index } else { self.starts.get(index).copied().unwrap_or(self.length) }
    }

    /// This view with one kind of escapes undone, if it has any.
    fn decoded(&self, mark: u8, escape: fn(&[u8]) -> Escape) -> Option<View<'static>> {
        if !self.bytes.contains(&mark) {
            return None;
        }
        let (mut bytes, mut starts) = (Vec::with_capacity(self.bytes.len()), Vec::with_capacity(self.bytes.len()));
        let (mut at, mut is_changed) = (0, false);
        while let Some(byte) = self.bytes.get(at).copied() {
            let start = self.source(at);
            let found = if byte == mark { escape(self.bytes.get(at..).unwrap_or_default()) } else { Escape::None };
            match found {
                Escape::None => {
                    bytes.push(byte);
                    starts.push(start);
                    at += 1;
                }
                Escape::Of { character, length } => {
                    is_changed = true;
                    let mut spelled = [0; 4];
                    for byte in character.encode_utf8(&mut spelled).bytes() {
                        bytes.push(byte);
                        starts.push(start);
                    }
                    at += length;
                }
                Escape::Byte { byte, length } => {
                    is_changed = true;
                    bytes.push(byte);
                    starts.push(start);
                    at += length;
                }
                // It belongs to what stands before it.
                Escape::CutOff { length } => {
                    is_changed = true;
                    at += length;
                }
            }
        }
        is_changed.then_some(View { bytes: bytes.into(), starts, length: self.length })
    }
}

/// What stands at a mark of an escape.
enum Escape {
    None,
    Of {
        character: char,
        length: usize,
    },
    Byte {
        byte: u8,
        length: usize,
    },
    /// The beginning of one, and then the text was cut.
    CutOff {
        length: usize,
    },
}

/// The escapes of JSON, and those that programs write in their own texts.
fn json_escape(text: &[u8]) -> Escape {
    let Some(kind) = text.get(1) else { return Escape::CutOff { length: 1 } };
    let of = |character| Escape::Of { character, length: 2 };
    match kind {
        b'n' => of('\n'),
        b'r' => of('\r'),
        b't' => of('\t'),
        b'b' => of('\u{8}'),
        b'f' => of('\u{c}'),
        b'"' | b'\\' | b'/' | b'\'' => of(char::from(*kind)),
        b'x' => match digits(text, 2, 2) {
            Digits::All(value) => Escape::Of { character: char::from_u32(value).unwrap_or_default(), length: 4 },
            other => other.missing(),
        },
        b'u' if text.get(2) == Some(&b'{') => {
            let length = text.iter().take(10).position(|byte| *byte == b'}');
            let value =
                length.and_then(|length| u32::from_str_radix(str::from_utf8(text.get(3..length)?).ok()?, 16).ok());
            match (length, value.and_then(char::from_u32)) {
                (Some(length), Some(character)) => Escape::Of { character, length: length + 1 },
                _ => Escape::None,
            }
        }
        b'u' => match digits(text, 2, 4) {
            Digits::All(high @ 0xd800..0xdc00) => match (text.get(6..8), digits(text, 8, 4)) {
                (Some(b"\\u"), Digits::All(low @ 0xdc00..0xe000)) => {
                    let value = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    Escape::Of { character: char::from_u32(value).unwrap_or_default(), length: 12 }
                }
                (_, Digits::CutOff(length)) => Escape::CutOff { length },
                _ => Escape::None,
            },
            Digits::All(value) => match char::from_u32(value) {
                Some(character) => Escape::Of { character, length: 6 },
                None => Escape::None,
            },
            other => other.missing(),
        },
        _ if is_cut(text, 1) => Escape::CutOff { length: 1 },
        _ => Escape::None,
    }
}

/// The escapes of URLs.
fn percent_escape(text: &[u8]) -> Escape {
    match digits(text, 1, 2) {
        Digits::All(value) => match u8::try_from(value) {
            Ok(byte) => Escape::Byte { byte, length: 3 },
            Err(_) => Escape::None,
        },
        other => other.missing(),
    }
}

enum Digits {
    All(u32),
    None,
    /// There are too few, and then the text was cut.
    CutOff(usize),
}

impl Digits {
    fn missing(self) -> Escape {
        match self {
            Self::CutOff(length) => Escape::CutOff { length },
            Self::All(_) | Self::None => Escape::None,
        }
    }
}

/// Hexadecimal digits, so many from there on.
fn digits(text: &[u8], from: usize, count: usize) -> Digits {
    let found = text.iter().skip(from).take(count).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let end = from + found;
    if found < count {
        return if is_cut(text, end) { Digits::CutOff(end.min(text.len())) } else { Digits::None };
    }
    let value = text.get(from..end).and_then(|digits| u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
    value.map_or(Digits::None, Digits::All)
}

/// Whether the text was cut there.
fn is_cut(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    rest.is_empty() || rest.starts_with(CUT.encode_utf8(&mut [0; 4]).as_bytes())
}

#[cfg(test)]
#[path = "decoding_tests.rs"]
mod tests;
