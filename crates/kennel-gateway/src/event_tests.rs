use super::*;

const ID: EventId = EventId { stream: 3, sequence: 14 };

fn text(event: Event) -> String {
    String::from_utf8(event.chunks().flat_map(Vec::from).collect()).expect("text")
}

#[test]
fn an_id_is_read_as_it_was_written_and_not_otherwise() {
    assert_eq!("3-14".parse(), Ok(ID));
    for other in ["", "3", "3-", "-14", "3-14 ", "03-14", "+3-14", "3-14-1", "3-99999999999999999999", "x-1", "٣-14"] {
        assert_eq!(other.parse::<EventId>(), Err(NotAnEventId), "{other}");
    }
}

#[test]
fn a_message_is_one_line_of_data_whatever_its_size() {
    for size in [0, 10, COPIED - 8, COPIED + 1, 3 * COPIED] {
        let long = "x".repeat(size);
        let event = Event::message(ID, format!("{{\"a\":\r\n\"{long}\"\n}}\r").into());
        let expected = format!("event: message\nid: 3-14\ndata: {{\"a\":  \"{long}\" }} \n\n");
        assert_eq!(event.size(), expected.len());
        assert_eq!(text(event), expected);
    }
}

#[test]
fn a_small_message_does_not_keep_the_buffer_that_it_came_in() {
    let buffer = Bytes::from(vec![b' '; 10 * COPIED]);
    let event = Event::message(ID, buffer.slice(..10));
    assert!(matches!(&event, Event::Whole(_)));
    assert!(buffer.is_unique(), "nothing else holds the buffer");
}

#[test]
fn what_carries_no_message_is_as_clients_read_it() {
    let retry = Duration::from_millis(1500);
    assert_eq!(priming(ID, retry), "id: 3-14\nretry: 1500\ndata: \n\n");
    assert_eq!(farewell(retry), "retry: 1500\n\n");
    assert!(KEEP_ALIVE.starts_with(b":") && KEEP_ALIVE.ends_with(b"\n\n"));
    assert!(gap().starts_with(b":") && gap().ends_with(b"\n\n"));
}
