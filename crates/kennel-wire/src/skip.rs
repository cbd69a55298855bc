//! Stepping over bytes that mean nothing to the envelope, many at a time.

/// Where the whitespace at `at` ends.
pub(crate) fn after_whitespace(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Where the next quote, backslash or control character is, or the end. Most bytes of most messages are in strings,
/// so many of them are looked at in one step.
pub(crate) fn next_special(bytes: &[u8], mut at: usize) -> usize {
    // Near ones are found without the larger step.
    for _ in 0..2 {
        let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let specials = specials(*block);
        if specials != 0 {
            return at + first(specials);
        }
        at += block.len();
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        // Numbers rather than truth values: the compiler looks at all of them at once.
        let hit = block.iter().fold(0_u8, |hit, byte| hit | u8::from(is_special(*byte)));
        if hit != 0 {
            break;
        }
        at += block.len();
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let specials = specials(*block);
        if specials != 0 {
            return at + first(specials);
        }
        at += block.len();
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Marks the quotes, backslashes and control characters among eight bytes. Subtracting borrows into the highest bit of a
/// byte just if that byte is smaller, or follows one that is: so there may be marks after a mark, but none before.
fn specials(block: [u8; 8]) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let block = u64::from_le_bytes(block);
    let below = |block: u64, bound: u64| block.wrapping_sub(EACH * bound) & !block & (EACH * 0x80);
    below(block ^ (EACH * 0x22), 1) | below(block ^ (EACH * 0x5c), 1) | below(block, 0x20)
}

/// Which of eight bytes the first mark is at.
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
#[path = "skip_tests.rs"]
mod tests;
