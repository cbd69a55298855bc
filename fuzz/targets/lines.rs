//! Any stream in any pieces: the lines are those of the whole stream, and no more is held than a line may have.
#![no_main]

use bytes::Bytes;
use kennel_exec::{Line, LineAssembler};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<Vec<u8>>)| {
    let (limit, pieces) = (usize::from(input.0), input.1);
    let stream = pieces.concat();
    let mut assembler = LineAssembler::new(limit);
    let mut lines: Vec<Line> = pieces.into_iter().flat_map(|piece| assembler.push(Bytes::from(piece))).collect();
    lines.extend(assembler.finish());
    let mut expected: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    expected.pop_if(|last| last.is_empty());
    assert_eq!(lines.len(), expected.len());
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
});
