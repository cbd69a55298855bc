//! Stepping over bytes that mean nothing to the envelope, many at a time.

/// How many bytes are looked at in one step.
const BLOCK: usize = 64;

/// Where the whitespace at `at` ends.
pub(crate) fn after_whitespace(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Finds the quotes, backslashes and control characters of one text. Most bytes of most messages are in strings, so a
/// whole block is looked at in one step, and what was seen is remembered for the next search.
#[derive(Debug)]
pub(crate) struct Specials {
    /// Where the block begins that was looked at last; beyond all bytes before there is one.
    start: usize,
    /// One bit for each of its bytes that is special.
    marks: u64,
}

impl Default for Specials {
    fn default() -> Self {
        Self { start: usize::MAX, marks: 0 }
    }
}

impl Specials {
    /// Where the next one is from `at` on, or the end. The bytes must be the same each time.
    pub(crate) fn next(&mut self, bytes: &[u8], at: usize) -> usize {
        let mut from = at;
        if let Some(offset) = at.checked_sub(self.start)
            && offset < BLOCK
        {
            let marks = self.marks >> offset;
            if marks != 0 {
                return at + first(marks);
            }
            from = self.start + BLOCK;
        }
        while let Some(block) = bytes.get(from..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            let marks = marks(block);
            if marks != 0 {
                return self.remember(from, marks);
            }
            from += BLOCK;
        }
        let rest = bytes.get(from..).unwrap_or_default();
        let mut block = [b' '; BLOCK];
        if let Some(place) = block.get_mut(..rest.len()) {
            place.copy_from_slice(rest);
        }
        match marks(&block) {
            0 => bytes.len(),
            marks => self.remember(from, marks),
        }
    }

    fn remember(&mut self, start: usize, marks: u64) -> usize {
        *self = Self { start, marks };
        start + first(marks)
    }
}

/// Which of the bytes of a block the first mark is at.
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize
}

/// Marks the special bytes of a block.
fn marks(block: &[u8; BLOCK]) -> u64 {
    // Numbers rather than truth values: the compiler looks at many of them at once.
    let flags = block.map(|byte| u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20));
    let (words, _) = flags.as_chunks::<8>();
    // The product gathers the lowest bits of eight bytes in its highest byte, in their order.
    let bits = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |marks, word| marks << 8 | bits(word))
}

#[cfg(test)]
#[path = "skip_tests.rs"]
mod tests;
