//! What is shown of output: all of it, or its beginning and its end with a note between them.

use super::capture::Span;

/// What is shown of a part of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    head: String,
    tail: String,
    /// How many bytes are not shown.
    pub left_out: u64,
    /// How many bytes of the stream this stands for.
    pub bytes: u64,
}

/// Where all that was left out can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole<'a> {
    /// Nowhere.
    Nowhere,
    /// Not yet: when the cell is over.
    Later,
    /// At this address.
    At(&'a str),
    /// At this address, but only this many bytes of its beginning and as many of its end.
    EndsAt(&'a str, usize),
}

impl Shown {
    /// The text with the note of what was left out, if something was.
    #[must_use]
    pub fn text(&self, whole: Whole<'_>) -> String {
        if self.left_out == 0 {
            return format!("{}{}", self.head, self.tail);
        }
        let bytes = grouped(self.left_out);
        let note = match whole {
            Whole::Nowhere => format!("… {bytes} bytes left out …"),
            Whole::Later => format!("… {bytes} bytes left out, kept when the cell has ended …"),
            Whole::At(place) => format!("… {bytes} bytes left out, all kept: {place} …"),
            Whole::EndsAt(place, each) => {
                let each = grouped(each as u64);
                format!("… {bytes} bytes left out, the first and last {each} kept: {place} …")
            }
        };
        let before = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        let after = if self.tail.is_empty() || self.tail.starts_with('\n') { "" } else { "\n" };
        format!("{}{before}{note}{after}{}", self.head, self.tail)
    }

    /// How many characters of the stream are shown.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.head.chars().count() + self.tail.chars().count()
    }
}

/// Whether more of a stream may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coming {
    /// It may: a character that is not whole yet is left for later.
    More,
    /// It is over.
    Nothing,
}

/// Shows at most this many characters of a part of a stream.
#[must_use]
pub fn shown(span: Span<'_>, chars: usize, coming: Coming) -> Shown {
    let span = match coming {
        Coming::More => without_partial_end(span),
        Coming::Nothing => span,
    };
    let bytes = span.head.len() as u64 + span.missing + span.tail.len() as u64;
    if span.missing == 0 && bytes <= 4 * chars as u64 {
        let all = [span.head, span.tail].concat();
        let (head, length) = front(&all, chars);
        if length == all.len() {
            return Shown { head, bytes, ..Shown::default() };
        }
        return halves(&all, &all, bytes, chars);
    }
    if span.missing > 0 {
        // Characters that are cut where bytes are missing are left out as well.
        let head = span.head.get(..span.head.len() - partial_end(span.head)).unwrap_or_default();
        let whole = span.tail.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
        return halves(head, span.tail.get(whole..).unwrap_or_default(), bytes, chars);
    }
    // Long and whole: what the halves can need of it is enough.
    let all = |from: usize, to: usize| {
        let split = span.head.len();
        let head = span.head.get(from.min(split)..to.min(split)).unwrap_or_default();
        let tail = span.tail.get(from.max(split) - split..to.max(split) - split).unwrap_or_default();
        [head, tail].concat()
    };
    let (length, most) = (span.head.len() + span.tail.len(), 4 * chars);
    halves(&all(0, most.min(length)), &all(length.saturating_sub(most), length), bytes, chars)
}

/// Cuts the middle out of a text that has too many characters, and says how many bytes that were.
#[must_use]
pub fn cut(text: &str, chars: usize) -> Shown {
    shown(Span { head: text.as_bytes(), tail: &[], missing: 0 }, chars, Coming::Nothing)
}

/// Half of the characters from the beginning and half from the end.
fn halves(first: &[u8], last: &[u8], bytes: u64, chars: usize) -> Shown {
    let (head, head_length) = front(first, chars / 2);
    let (tail, tail_length) = back(last, chars - head.chars().count());
    Shown { head, tail, left_out: bytes.saturating_sub((head_length + tail_length) as u64), bytes }
}

/// The first characters, and how many bytes they are.
fn front(bytes: &[u8], chars: usize) -> (String, usize) {
    let (mut text, mut length, mut left) = (String::new(), 0, chars);
    for (character, bytes) in characters(bytes) {
        let Some(rest) = left.checked_sub(1) else { break };
        left = rest;
        text.push(character);
        length += bytes;
    }
    (text, length)
}

/// The last characters, and how many bytes they are.
fn back(bytes: &[u8], chars: usize) -> (String, usize) {
    // No character has more than four bytes; one that is cut here is not among the last.
    let from = bytes.len().saturating_sub(chars.saturating_mul(4).saturating_add(4));
    let all = characters(bytes.get(from..).unwrap_or_default()).collect::<Vec<_>>();
    let last = all.get(all.len().saturating_sub(chars)..).unwrap_or_default();
    (last.iter().map(|(character, _)| character).collect(), last.iter().map(|(_, length)| length).sum())
}

/// The characters of bytes with their lengths; what is no character counts as one.
fn characters(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> + '_ {
    bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = Some(chunk.invalid().len()).filter(|length| *length > 0);
        let valid = chunk.valid().chars().map(|character| (character, character.len_utf8()));
        valid.chain(invalid.map(|length| (char::REPLACEMENT_CHARACTER, length)))
    })
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes at the end begin a character and do not end it.
fn partial_end(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let last = bytes.get(from..).unwrap_or_default();
    let Some(begin) = last.iter().rposition(|byte| !is_continuation(*byte)) else { return 0 };
    let character = last.get(begin..).unwrap_or_default();
    match std::str::from_utf8(character) {
        Err(error) if error.error_len().is_none() => character.len(),
        _ => 0,
    }
}

fn without_partial_end(span: Span<'_>) -> Span<'_> {
    let without = |bytes: &'_ [u8]| bytes.len() - partial_end(bytes);
    if !span.tail.is_empty() {
        // The character may have begun in the head, where the two touch.
        let tail = if span.missing == 0 && span.tail.len() < 3 {
            let joined = [span.head, span.tail].concat();
            without(&joined).saturating_sub(span.head.len())
        } else {
            without(span.tail)
        };
        return Span { tail: span.tail.get(..tail).unwrap_or_default(), ..span };
    }
    if span.missing > 0 {
        return span;
    }
    Span { head: span.head.get(..without(span.head)).unwrap_or_default(), ..span }
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "show_tests.rs"]
mod tests;
