use super::*;
use proptest::prelude::*;

/// What the assembler should say about a whole stream, found the slow and simple way.
fn oracle(stream: &[u8], limit: usize) -> Vec<Line> {
    let mut pieces: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    if pieces.last().is_some_and(|last| last.is_empty()) {
        pieces.pop();
    }
    let line = |piece: &[u8]| {
        let content = piece.strip_suffix(b"\r").unwrap_or(piece);
        if content.len() > limit {
            let head = Bytes::copy_from_slice(&piece[..piece.len().min(HEAD_BYTES)]);
            let tail = Bytes::copy_from_slice(&piece[piece.len().saturating_sub(HEAD_BYTES)..]);
            Line::TooLong { head, tail, length: piece.len() as u64 }
        } else {
            Line::Whole(Bytes::copy_from_slice(content))
        }
    };
    pieces.into_iter().map(line).collect()
}

fn assemble(chunks: impl IntoIterator<Item = Bytes>, limit: usize) -> Vec<Line> {
    let mut assembler = LineAssembler::new(limit);
    let mut lines = Vec::new();
    for chunk in chunks {
        lines.extend(assembler.push(chunk));
        assert!(assembler.unfinished().len() <= (limit + 1).max(HEAD_BYTES), "holds no more than a line may have");
    }
    lines.extend(assembler.finish());
    assert_eq!(assembler.finish(), None, "the end is said once");
    lines
}

fn whole(text: &'static str) -> Line {
    Line::Whole(Bytes::from_static(text.as_bytes()))
}

#[test]
fn two_messages_in_one_chunk_are_two_lines() {
    assert_eq!(
        assemble([Bytes::from_static(b"{\"id\":1}\n{\"id\":2}\r\n")], 64),
        [whole("{\"id\":1}"), whole("{\"id\":2}")]
    );
}

#[test]
fn a_line_and_a_character_cut_into_many_chunks_are_whole_again() {
    let text = "{\"text\":\"größer als ein Stück — 大\"}";
    let chunks = text.bytes().chain(*b"\n").map(|byte| Bytes::copy_from_slice(&[byte]));
    assert_eq!(assemble(chunks, 64), [whole(text)]);
}

#[test]
fn a_line_inside_one_chunk_is_not_copied() {
    let chunk = Bytes::from(b"before\nline\nafter".to_vec());
    let lines = LineAssembler::new(64).push(chunk.clone());
    let Line::Whole(line) = &lines[1] else { panic!("a whole line") };
    assert_eq!(line.as_ptr(), chunk[7..].as_ptr());
}

#[test]
fn the_last_line_needs_no_line_end() {
    assert_eq!(assemble([Bytes::from_static(b"a\nlast\r")], 64), [whole("a"), whole("last")]);
}

#[test]
fn a_line_of_exactly_the_limit_fits_whatever_its_line_end() {
    assert_eq!(assemble([Bytes::from_static(b"1234\n1234\r\n")], 4), [whole("1234"), whole("1234")]);
    let chunks = [Bytes::from_static(b"1234\r"), Bytes::from_static(b"\n1234"), Bytes::from_static(b"\r")];
    assert_eq!(assemble(chunks, 4), [whole("1234"), whole("1234")]);
}

#[test]
fn an_over_long_line_is_named_and_the_next_one_is_read() {
    let chunks = [Bytes::from_static(b"12"), Bytes::from_static(b"34567"), Bytes::from_static(b"89\nok\n")];
    let too_long =
        Line::TooLong { head: Bytes::from_static(b"1234567"), tail: Bytes::from_static(b"123456789"), length: 9 };
    assert_eq!(assemble(chunks, 4), [too_long, whole("ok")]);
}

#[test]
fn a_line_of_64_mib_is_skipped_without_being_held() {
    let chunk = Bytes::from(vec![b'x'; 64 * 1024]);
    let chunks = std::iter::repeat_n(chunk, 1024).chain([Bytes::from_static(b"\nok\n")]);
    let lines = assemble(chunks, 8 * 1024);
    assert!(matches!(&lines[0], Line::TooLong { length, head, .. } if *length == 64 << 20 && head.len() == HEAD_BYTES));
    assert_eq!(lines[1], whole("ok"));
}

proptest! {
    #[test]
    fn any_chunking_gives_the_lines_of_the_whole_stream(
        stream in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200),
        cuts in prop::collection::vec(0_usize..200, 0..20),
        limit in 0_usize..24,
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let chunks: Vec<Bytes> = cuts.windows(2).map(|cut| Bytes::copy_from_slice(&stream[cut[0]..cut[1]])).collect();
        let (lines, expected) = (assemble(chunks, limit), oracle(&stream, limit));
        prop_assert_eq!(lines.len(), expected.len());
        for (line, expected) in lines.into_iter().zip(expected) {
            match (line, expected) {
                // How much of the head is known depends on where the chunk ended in which the limit was passed.
                (
                    Line::TooLong { head, tail, length },
                    Line::TooLong { head: full, tail: expected_tail, length: expected },
                ) => {
                    prop_assert_eq!(length, expected);
                    prop_assert_eq!(tail, expected_tail);
                    prop_assert!(full.starts_with(&head) && head.len() > limit);
                }
                (line, expected) => prop_assert_eq!(line, expected),
            }
        }
    }
}

#[test]
fn a_short_line_of_a_large_chunk_does_not_keep_the_chunk() {
    let mut bytes = b"short\n".to_vec();
    bytes.extend(vec![b'x'; SMALL_CHUNK * 4]);
    bytes.push(b'\n');
    let chunk = Bytes::from(bytes);
    let range = chunk.as_ptr_range();
    let lines = LineAssembler::new(usize::MAX).push(chunk.clone());
    let lies_in_chunk = |line: &Line| matches!(line, Line::Whole(line) if range.contains(&line.as_ptr()));
    assert_eq!(lines.iter().map(lies_in_chunk).collect::<Vec<_>>(), [false, true], "most of a chunk is not copied");
}
