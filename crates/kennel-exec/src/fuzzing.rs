//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::{Line, LineAssembler};
use bytes::Bytes;

/// Any stream in any pieces (cut at 0xff, after a byte that is the limit): the lines are those of the whole stream, and
/// no line is longer than it may be.
pub fn lines(data: &[u8]) {
    let Some((limit, data)) = data.split_first() else { return };
    let limit = usize::from(*limit);
    let pieces: Vec<&[u8]> = data.split(|byte| *byte == 0xff).collect();
    let stream = pieces.concat();
    let mut assembler = LineAssembler::new(limit);
    let mut lines: Vec<Line> =
        pieces.into_iter().flat_map(|piece| assembler.push(Bytes::copy_from_slice(piece))).collect();
    lines.extend(assembler.finish());
    let mut expected: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    expected.pop_if(|last| last.is_empty());
    assert_eq!(lines.len(), expected.len(), "other lines than those of the stream");
    for (line, piece) in lines.iter().zip(expected) {
        let content = piece.strip_suffix(b"\r").unwrap_or(piece);
        match line {
            Line::Whole(line) => assert!(content.len() <= limit && line == content),
            Line::TooLong { head, tail, length } => {
                assert!(content.len() > limit && *length == piece.len() as u64);
                assert!(piece.starts_with(head) && piece.ends_with(tail));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_the_fuzzer_has_no_findings() {
        kennel_testkit::replay_corpus("lines", super::lines).unwrap();
    }
}
