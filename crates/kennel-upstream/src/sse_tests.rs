use super::*;
use proptest::prelude::*;

fn read(chunks: &[&[u8]]) -> (Vec<(String, String)>, EventReader) {
    let mut reader = EventReader::new(100);
    let mut events = Vec::new();
    for chunk in chunks {
        reader.push(chunk).expect("it fits");
        while let Some(Event { kind, data }) = reader.next() {
            events.push((kind, String::from_utf8(data.to_vec()).expect("text")));
        }
    }
    (events, reader)
}

fn event(kind: &str, data: &str) -> (String, String) {
    (kind.to_owned(), data.to_owned())
}

const STREAM: &str = "\u{feff}: hello\n\nid: 7\nretry: 250\nevent: endpoint\ndata: /a\n\ndata:one\r\ndata: two\r\n\r\ndata\rdata:  x\r\rother: 1\nretry: 1x\ndata: {\"a\":\"ü\"}\n\nid: 8\ndata: lost";

#[test]
fn fields_lines_and_ends_of_every_kind() {
    let (events, reader) = read(&[STREAM.as_bytes()]);
    let expected = [event("endpoint", "/a"), event("", "one\ntwo"), event("", "\n x"), event("", "{\"a\":\"ü\"}")];
    assert_eq!(events, expected);
    assert_eq!(reader.last_id(), Some("7"), "an event that did not come whole does not count");
    assert_eq!(reader.retry(), Some(Duration::from_millis(250)));
}

#[test]
fn an_event_without_data_moves_the_place() {
    let (events, reader) = read(&[b"id: first\ndata:\n\nid: second\n\n"]);
    assert_eq!(events, [event("", "")]);
    assert_eq!(reader.last_id(), Some("second"));
    let (_, reader) = read(&[b"id: first\n\nid\n\n"]);
    assert_eq!(reader.last_id(), None, "an empty id takes the place back");
}

#[test]
fn ids_that_no_header_can_carry_are_not_kept() {
    let (_, reader) = read(&[b"id: a\0b\n\n", "id: ü\n\n".as_bytes()]);
    assert_eq!(reader.last_id(), None);
}

#[test]
fn what_is_too_large_is_noticed_before_it_is_held() {
    let mut reader = EventReader::new(10);
    let mut pushed = 0;
    while reader.push(b"data: xxxxxxxx").is_ok() {
        pushed += 1;
        assert!(pushed < 100, "one line without an end");
    }
    let mut reader = EventReader::new(10);
    assert_eq!(reader.push(b"data: 12345\ndata: 6789\n\n"), Ok(()));
    assert_eq!(reader.push(b"data: 12345\ndata: 67890\n\n"), Err(TooLarge), "many lines of one event");
}

proptest! {
    #[test]
    fn chunks_may_be_cut_anywhere(cuts in proptest::collection::vec(0..STREAM.len(), 0..20)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let (mut chunks, mut start) = (Vec::new(), 0);
        for cut in cuts {
            chunks.push(&STREAM.as_bytes()[start..cut]);
            start = cut;
        }
        chunks.push(&STREAM.as_bytes()[start..]);
        let (events, reader) = read(&chunks);
        let (whole, _) = read(&[STREAM.as_bytes()]);
        prop_assert_eq!(events, whole);
        prop_assert_eq!(reader.last_id(), Some("7"));
    }
}

#[test]
fn kinds_and_ids_without_measure_are_not_kept() {
    let mut reader = EventReader::new(1 << 20);
    let long = "x".repeat(100_000);
    reader.push(format!("id: 1\n\nid: {long}\nevent: {long}\ndata: a\n\n").as_bytes()).expect("it fits");
    assert_eq!(reader.last_id(), Some("1"), "one that no header can carry cannot be asked for");
    assert!(reader.next().expect("an event").kind.len() <= KIND_BYTES);
}
