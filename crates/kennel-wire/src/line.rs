//! Messages as lines: what is written to a process must not hold a line end.

use bytes::Bytes;

/// A message that may span lines, as one line without its line end.
///
/// JSON allows line feeds and carriage returns only between tokens, so each becomes a space and the message means the
/// same. Carriage returns go as well because some readers, Python's among them, take a lone one for a line end. Where
/// there is nothing to do, the same bytes come back without a copy.
#[must_use]
pub fn one_line(message: Bytes) -> Bytes {
    // Folding over blocks, rather than stopping at the first hit, lets the compiler look at many bytes at once.
    let broken = message.chunks(64).any(|block| block.iter().fold(false, |hit, byte| hit | ends_line(*byte)));
    if !broken {
        return message;
    }
    message.iter().map(|byte| if ends_line(*byte) { b' ' } else { *byte }).collect()
}

fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
