use super::*;
use proptest::prelude::*;

async fn read_all(input: &[u8], limit: usize) -> Vec<String> {
    let mut inlet = LineInlet::new(input, limit);
    let mut all = Vec::new();
    loop {
        match inlet.next().await {
            Ok(Received::Frame(line)) => all.push(String::from_utf8(line.into()).expect("text")),
            Ok(Received::TooLong { limit: told }) => {
                assert_eq!(told, limit);
                all.push(TOO_LONG.to_owned());
            }
            Err(ending) => {
                assert_eq!(ending, Ending::ClientDone);
                return all;
            }
        }
    }
}

const TOO_LONG: &str = "(too long)";

#[tokio::test]
async fn lines_are_told_apart_and_the_last_needs_no_end() {
    assert_eq!(read_all(b"one\n\n  \r\ntwo\nthree", 10).await, ["one", "two", "three"]);
    assert!(read_all(b"", 10).await.is_empty());
}

#[tokio::test]
async fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
    let long = "x".repeat(3 * READ);
    let input = format!("a\n{long}\nb\n12345\n123456\nc\n{long}");
    assert_eq!(read_all(input.as_bytes(), 5).await, ["a", TOO_LONG, "b", "12345", TOO_LONG, "c", TOO_LONG]);
}

#[tokio::test]
async fn a_message_is_written_as_one_line() {
    for size in [1, COPIED + 1] {
        let mut written = Vec::new();
        let message = format!("{{\n\"a\":\r\"{}\"}}", "x".repeat(size));
        LineOutlet::new(&mut written).send(message.clone().into()).await.expect("it is taken");
        assert_eq!(String::from_utf8(written).expect("text"), message.replace(['\n', '\r'], " ") + "\n");
    }
}

proptest! {
    /// However the bytes are cut, the lines are the same.
    #[test]
    fn cuts_do_not_matter(lines in proptest::collection::vec("[a-z]{1,30}", 0..8), cuts in proptest::collection::vec(1_usize..9, 1..60)) {
        let input = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let read = runtime.block_on(async {
            let mut mock = tokio_test_reader(input.as_bytes(), &cuts);
            let mut inlet = LineInlet::new(&mut mock, 20);
            let mut read = Vec::new();
            while let Ok(received) = inlet.next().await {
                read.push(match received {
                    Received::Frame(line) => String::from_utf8(line.into()).ok(),
                    Received::TooLong { .. } => None,
                });
            }
            read
        });
        let expected = lines.into_iter().map(|line| (line.len() <= 20).then_some(line)).collect::<Vec<_>>();
        prop_assert_eq!(read, expected);
    }
}

/// A reader that gives the bytes in pieces of these sizes, over and over.
fn tokio_test_reader(bytes: &[u8], cuts: &[usize]) -> impl AsyncRead + Unpin + Send {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for size in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        pieces.push(std::io::Cursor::new(piece.to_vec()));
        rest = after;
    }
    let empty: Box<dyn AsyncRead + Unpin + Send> = Box::new(tokio::io::empty());
    pieces.into_iter().rev().fold(empty, |rest, piece| Box::new(AsyncReadExt::chain(piece, rest)))
}
