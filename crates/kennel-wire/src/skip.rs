//! Stepping over bytes that mean nothing to the envelope, many at a time.

/// Where the whitespace at `at` ends.
pub(crate) fn after_whitespace(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Where the next quote, backslash or control character is, or the end. Most bytes of most messages are in strings,
/// so eight of them are looked at in one step.
pub(crate) fn next_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let before = before_special(*block);
        at += before;
        if before < block.len() {
            return at;
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    at + special.unwrap_or(rest.len())
}

/// How many of eight bytes come before a quote, a backslash or a control character. Subtracting borrows into the highest
/// bit of a byte just if that byte is smaller, or follows one that is: so there may be hits after a hit, but none before.
fn before_special(block: [u8; 8]) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let block = u64::from_le_bytes(block);
    let below = |block: u64, bound: u64| block.wrapping_sub(EACH * bound) & !block & (EACH * 0x80);
    let quote = below(block ^ (EACH * 0x22), 1);
    let backslash = below(block ^ (EACH * 0x5c), 1);
    let control = below(block, 0x20);
    (quote | backslash | control).trailing_zeros() as usize / 8
}

#[cfg(test)]
#[path = "skip_tests.rs"]
mod tests;
