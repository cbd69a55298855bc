//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::channel::Token;
use crate::docs::{Detail, Shown, Tool, stub};
use crate::output::{Capture, Ending, Mark, Stream};
use kennel_wire::RawJson;
use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, ReadBuf};

pub use crate::channel::fuzzing::packets;
pub use crate::notebook::fuzzing::cell_messages;

/// What an interpreter prints, in any pieces (cut at 0xff; 0xfe is the cell's mark, 0xfd that of a cell that is over): the
/// output of the cell is what comes before its mark.
pub fn cell_output(data: &[u8]) {
    let (mark, stale) = (Mark::of(&Token::from([0xab; 16])), Mark::of(&Token::from([0xcd; 16])));
    let marked = |piece: &[u8]| {
        piece.iter().fold(Vec::new(), |mut bytes, byte| {
            match byte {
                0xfe => bytes.extend_from_slice(mark.bytes()),
                0xfd => bytes.extend_from_slice(stale.bytes()),
                byte => bytes.push(*byte),
            }
            bytes
        })
    };
    let pieces: VecDeque<Vec<u8>> =
        data.split(|byte| *byte == 0xff).map(marked).filter(|piece| !piece.is_empty()).collect();
    let whole: Vec<u8> = pieces.iter().flatten().copied().collect();
    let mut stream = Stream::new(Box::pin(Pieces(pieces)));
    stream.forget(&stale);
    let capture = Mutex::new(Capture::new(1 << 20));
    let Poll::Ready(ending) = pin!(stream.read_to(&mark, &capture)).poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("waits for what is there")
    };
    let (mut expected, mut rest, mut end) = (Vec::new(), whole.as_slice(), Ending::Ended);
    while let Some((byte, after)) = rest.split_first() {
        if rest.starts_with(mark.bytes()) {
            end = Ending::Marked;
            break;
        }
        rest = if let Some(after) = rest.strip_prefix(stale.bytes()) {
            after
        } else {
            expected.push(*byte);
            after
        };
    }
    let kept = capture.into_inner().unwrap_or_else(PoisonError::into_inner).seal();
    assert_eq!((ending, [&*kept.head, &kept.tail].concat()), (end, expected), "other output than that of the cell");
}

/// Gives one piece for each read.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut piece = self.0.pop_front().unwrap_or_default();
        let rest = piece.split_off(piece.len().min(buffer.remaining()));
        buffer.put_slice(&piece);
        if !rest.is_empty() {
            self.0.push_front(rest);
        }
        Poll::Ready(Ok(()))
    }
}

/// What a server says of a tool: what is made of it for Python is bounded, and its lines are those of one function.
pub fn definitions(data: &[u8]) {
    let Ok(definition) = RawJson::parse(data.to_vec()) else { return };
    let tool = Tool::read(&definition);
    assert!(!tool.signature.contains(['\n', '\r']), "a signature of several lines");
    assert!(!tool.summary.contains(char::is_control), "control letters in {:?}", tool.summary);
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    assert!(is_name(&tool.python) && !tool.python.starts_with(|first: char| first.is_ascii_digit()));
    let text = stub(&[Shown { alias: "s", tool: &tool, definition: &definition }], Detail::Full);
    assert!(text.len() <= 4 * 1024 + 200, "a stub of {} bytes", text.len());
}

#[cfg(test)]
mod tests {
    use kennel_testkit::replay_corpus;

    #[test]
    fn the_corpora_of_the_fuzzer_have_no_findings() {
        replay_corpus("packets", super::packets).unwrap();
        replay_corpus("cell_messages", super::cell_messages).unwrap();
        replay_corpus("cell_output", super::cell_output).unwrap();
        replay_corpus("definitions", super::definitions).unwrap();
    }
}
