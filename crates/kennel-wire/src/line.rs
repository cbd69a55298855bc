//! Messages as lines: what is written to a process must not hold a line end.

use bytes::{Bytes, BytesMut};

/// A message that may span lines, as one line without its line end.
///
/// JSON allows line feeds and carriage returns only between tokens, so each becomes a space and the message means the
/// same. Carriage returns go as well because some readers, Python's among them, take a lone one for a line end. Where
/// there is nothing to do, the same bytes come back without a copy.
#[must_use]
pub fn one_line(message: Bytes) -> Bytes {
    if !spans_lines(&message) {
        return message;
    }
    let mut folded = BytesMut::from(message.as_ref());
    fold(&mut folded);
    folded.freeze()
}

/// Makes one line of a message in its place.
pub(crate) fn fold(message: &mut [u8]) {
    if spans_lines(message) {
        message.iter_mut().filter(|byte| ends_line(**byte)).for_each(|byte| *byte = b' ');
    }
}

fn spans_lines(message: &[u8]) -> bool {
    // Folding numbers over blocks, rather than stopping at the first hit, lets the compiler look at many bytes at once.
    message.chunks(64).any(|block| block.iter().fold(0_u8, |hit, byte| hit | u8::from(ends_line(*byte))) != 0)
}

fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
