//! The text in JSON strings: comparing, decoding and writing it.

use std::borrow::Cow;

/// What a string that was scanned before, quotes included, says; `None` if it holds a lone surrogate.
pub(crate) fn decode(string: &[u8]) -> Option<Cow<'_, str>> {
    decode_with(string, None)
}

/// The same with U+FFFD in the place of each lone surrogate, as many readers put it.
pub(crate) fn decode_lossy(string: &[u8]) -> Cow<'_, str> {
    decode_with(string, Some('\u{fffd}')).unwrap_or_default()
}

fn decode_with(string: &[u8], substitute: Option<char>) -> Option<Cow<'_, str>> {
    let content = content(string);
    if !content.contains(&b'\\') {
        return std::str::from_utf8(content).ok().map(Cow::Borrowed);
    }
    let mut text = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            text.push(*byte);
            continue;
        }
        let (escape, after) = rest.split_first()?;
        rest = after;
        let character = match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => match (unicode_escape(rest), substitute) {
                (Some((character, after)), _) => {
                    rest = after;
                    character
                }
                (None, Some(substitute)) => {
                    rest = rest.get(4..)?;
                    substitute
                }
                (None, None) => return None,
            },
            other => char::from(*other),
        };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    String::from_utf8(text).ok().map(Cow::Owned)
}

/// The character whose escape goes on here after `\u`, and what follows it.
fn unicode_escape(after: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = unit(after)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, rest));
    }
    let (second, rest) = unit(rest.strip_prefix(b"\\u")?)?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, rest))
}

/// One UTF-16 unit in four hexadecimal digits.
fn unit(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let value = digits.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))?;
    Some((value, rest))
}

/// Whether a string that was scanned before, quotes included, says `name`.
pub(crate) fn says(string: &[u8], name: &str) -> bool {
    let content = content(string);
    // An escape is never shorter than what it stands for.
    content.len() >= name.len()
        && (content == name.as_bytes() || content.contains(&b'\\') && decode(string).is_some_and(|text| text == name))
}

/// A string without its quotes.
fn content(string: &[u8]) -> &[u8] {
    string.get(1..string.len().saturating_sub(1)).unwrap_or_default()
}

/// Writes `text` as a JSON string, escaping no more than JSON demands.
pub(crate) fn write_string(text: &str, into: &mut Vec<u8>) {
    const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
    into.reserve(text.len() + 2);
    into.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => into.extend([b'\\', byte]),
            b'\n' => into.extend(b"\\n"),
            b'\r' => into.extend(b"\\r"),
            b'\t' => into.extend(b"\\t"),
            0..0x20 => {
                into.extend(b"\\u00");
                into.extend([byte >> 4, byte & 0xf].map(|digit| HEXADECIMAL[usize::from(digit)]));
            }
            _ => into.push(byte),
        }
    }
    into.push(b'"');
}

/// `text` as a JSON string.
pub(crate) fn string(text: &str) -> Vec<u8> {
    let mut written = Vec::new();
    write_string(text, &mut written);
    written
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
