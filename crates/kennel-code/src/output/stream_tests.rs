use super::*;
use crate::channel::Token;
use crate::output::{Coming, Whole, shown};
use proptest::prelude::*;
use tokio::io::{AsyncWriteExt, DuplexStream};

const QUIET: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(20);

fn mark(byte: u8) -> Mark {
    Mark::of(&Token::from([byte; 16]))
}

fn pipe() -> (DuplexStream, Stream) {
    let (writer, reader) = tokio::io::duplex(1 << 20);
    (writer, Stream::new(Box::pin(reader)))
}

fn capture() -> Mutex<Capture> {
    Mutex::new(Capture::new(1 << 20))
}

fn text(capture: &Mutex<Capture>) -> String {
    lock(capture).since(0, |span| shown(span, 1 << 20, Coming::Nothing)).text(Whole::Nowhere)
}

async fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(MOST, future).await.expect("the stream stalls")
}

#[tokio::test]
async fn output_ends_at_its_mark_and_the_rest_belongs_to_the_next_cell() {
    let (mut writer, mut stream) = pipe();
    let all = [b"one\0\0ken", mark(1).bytes(), b"two", mark(2).bytes()].concat();
    writer.write_all(&all).await.unwrap();
    let (one, two) = (capture(), capture());
    assert_eq!(run(stream.read_to(&mark(1), &one)).await, Ending::Marked);
    assert_eq!(run(stream.read_to(&mark(2), &two)).await, Ending::Marked);
    assert_eq!((text(&one).as_str(), text(&two).as_str()), ("one\0\0ken", "two"));
}

#[tokio::test]
async fn a_mark_of_another_cell_is_output() {
    let (mut writer, mut stream) = pipe();
    writer.write_all(&[mark(9).bytes(), mark(1).bytes()].concat()).await.unwrap();
    let capture = capture();
    run(stream.read_to(&mark(1), &capture)).await;
    assert_eq!(text(&capture).as_bytes(), mark(9).bytes());
}

#[tokio::test]
async fn the_end_of_the_stream_ends_the_output_with_all_of_it() {
    let (mut writer, mut stream) = pipe();
    let mark_one = mark(1);
    let part = &mark_one.bytes()[..20];
    writer.write_all(&[b"text", part].concat()).await.unwrap();
    drop(writer);
    let one = capture();
    assert_eq!(run(stream.read_to(&mark(1), &one)).await, Ending::Ended);
    assert_eq!(text(&one).as_bytes(), [b"text", part].concat());
    assert_eq!(run(stream.read_to(&mark(2), &capture())).await, Ending::Ended);
}

#[tokio::test]
async fn a_stream_without_a_mark_is_given_up_when_it_is_quiet_and_a_late_mark_is_no_output() {
    let (mut writer, mut stream) = pipe();
    writer.write_all(b"text").await.unwrap();
    let (one, two) = (capture(), capture());
    run(stream.settle(&mark(1), &one, QUIET, MOST)).await;
    assert_eq!(text(&one), "text");
    writer.write_all(&[mark(1).bytes(), b"next", mark(2).bytes()].concat()).await.unwrap();
    assert_eq!(run(stream.read_to(&mark(2), &two)).await, Ending::Marked);
    assert_eq!(text(&two), "next");
}

#[tokio::test]
async fn a_stream_that_never_is_quiet_is_given_up_as_well() {
    let (mut writer, mut stream) = pipe();
    let flood = tokio::spawn(async move { while writer.write_all(b"noise").await.is_ok() {} });
    let capture = capture();
    run(stream.settle(&mark(1), &capture, Duration::from_secs(10), Duration::from_millis(50))).await;
    assert!(text(&capture).starts_with("noise"));
    drop(stream);
    flood.await.unwrap();
}

proptest! {
    #[test]
    fn a_mark_is_found_however_the_stream_is_cut(
        before in prop::collection::vec(prop_oneof![Just(0), any::<u8>(), Just(b'k')], 0..100),
        after in prop::collection::vec(any::<u8>(), 0..50),
        sizes in prop::collection::vec(1..60_usize, 1..10),
        prefix in 0..40_usize,
    ) {
        // Output that ends with the beginning of a mark comes before the mark itself.
        let before = [&before[..], &mark(1).bytes()[..prefix]].concat();
        let all = [&before, mark(1).bytes(), &after, mark(2).bytes()].concat();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (one, two) = (capture(), capture());
        runtime.block_on(async {
            let (mut writer, mut stream) = pipe();
            let write = async {
                let mut rest = &all[..];
                for size in sizes.iter().cycle() {
                    let (piece, others) = rest.split_at((*size).min(rest.len()));
                    writer.write_all(piece).await.unwrap();
                    tokio::task::yield_now().await;
                    rest = others;
                    if rest.is_empty() { break }
                }
            };
            let read = async {
                run(stream.read_to(&mark(1), &one)).await;
                run(stream.read_to(&mark(2), &two)).await
            };
            tokio::join!(write, read)
        });
        let kept = lock(&one).seal();
        prop_assert_eq!(&kept.head[..], &before[..]);
        prop_assert_eq!(&lock(&two).seal().head[..], &after[..]);
    }
}
