use super::*;
use crate::channel::packet::{MAX_PAYLOAD, packets};
use proptest::prelude::*;

const SPEAKER: i32 = 7;

fn token(byte: u8) -> Token {
    Token::from([byte; 16])
}

fn assembly(limit: usize) -> Assembly {
    let known = Known::default();
    known.admit(token(1));
    known.admit(token(2));
    Assembly::new(known, limit)
}

fn packet(byte: u8, number: u32, more: bool, payload: &[u8]) -> Vec<u8> {
    let packet = Packet { token: token(byte), number, more, payload };
    [packet.header().as_slice(), payload].concat()
}

#[test]
fn a_message_of_any_length_comes_whole() {
    for length in [0, 1, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 3 * MAX_PAYLOAD, 200_001] {
        let message = (0..length).map(|index| u8::try_from(index % 251).unwrap()).collect::<Vec<_>>();
        let mut assembly = assembly(length);
        let sent = packets(token(1), 9, &message).map(|part| [part.header().as_slice(), part.payload].concat());
        let mut received = sent.filter_map(|bytes| assembly.take(&bytes, SPEAKER)).collect::<Vec<_>>();
        let last = received.pop().unwrap();
        assert!(received.is_empty() && last.token == token(1) && last.body == message, "{length} bytes");
        assert_eq!(assembly.dropped, Dropped::default());
    }
}

#[test]
fn a_message_over_the_limit_is_dropped_whole_and_the_next_one_comes() {
    let mut assembly = assembly(10);
    for (more, payload) in [(true, "123456"), (true, "789ab"), (true, "c"), (false, "{}")] {
        assert_eq!(assembly.take(&packet(1, 0, more, payload.as_bytes()), SPEAKER), None);
        assert!(assembly.held() <= 10);
    }
    assert_eq!(assembly.dropped, Dropped { too_large: 1, stale: 2, ..Dropped::default() });
    assert_eq!(assembly.take(&packet(1, 1, false, b"0123456789"), SPEAKER).unwrap().body, "0123456789");
}

#[test]
fn an_unfinished_message_is_dropped_and_its_rest_is_no_message() {
    let mut assembly = assembly(100);
    assert_eq!(assembly.take(&packet(1, 0, true, b"begin"), SPEAKER), None);
    assert_eq!(assembly.take(&packet(1, 1, false, b"next"), SPEAKER).unwrap().body, "next");
    assert_eq!(assembly.take(&packet(1, 0, false, b"rest"), SPEAKER), None);
    assert_eq!(assembly.dropped, Dropped { unfinished: 1, stale: 1, ..Dropped::default() });
}

#[test]
fn another_process_is_not_heard() {
    let mut assembly = assembly(100);
    assert_eq!(assembly.take(&packet(9, 0, false, b"unknown token"), SPEAKER + 1), None);
    assert!(assembly.take(&packet(1, 0, false, b"ready"), SPEAKER).is_some());
    assert_eq!(assembly.take(&packet(1, 1, false, b"forked"), SPEAKER + 1), None);
    assert!(assembly.take(&packet(1, 1, false, b"own"), SPEAKER).is_some());
    assert_eq!(assembly.dropped, Dropped { unknown: 1, foreign: 1, ..Dropped::default() });
}

#[test]
fn a_token_that_is_forgotten_takes_its_message_along() {
    let mut assembly = assembly(100);
    assert_eq!(assembly.take(&packet(1, 0, true, b"begin"), SPEAKER), None);
    assembly.known.forget(&token(1));
    assert_eq!(assembly.take(&packet(1, 0, false, b"end"), SPEAKER), None);
    assert_eq!(assembly.take(&packet(2, 1, false, b"other"), SPEAKER).unwrap().token, token(2));
    assert_eq!(assembly.dropped, Dropped { unknown: 1, unfinished: 1, ..Dropped::default() });
}

#[test]
fn numbers_begin_again_after_the_last() {
    let mut assembly = assembly(100);
    for number in [u32::MAX - 1, u32::MAX, 0, 1] {
        assert!(assembly.take(&packet(1, number, false, b"x"), SPEAKER).is_some(), "{number}");
    }
    assert!(assembly.take(&packet(1, u32::MAX, false, b"x"), SPEAKER).is_none());
}

/// What a box may send: whole headers with odd fields, and bytes that are no packet at all.
fn anything() -> impl Strategy<Value = (Vec<u8>, i32)> {
    let payload = || prop::collection::vec(any::<u8>(), 0..40);
    let formed = (0..4_u8, 0..6_u32, any::<bool>(), payload())
        .prop_map(|(token, number, more, payload)| packet(token, number, more, &payload));
    let bytes = prop_oneof![4 => formed, 1 => prop::collection::vec(any::<u8>(), 0..60)];
    (bytes, prop_oneof![5 => Just(SPEAKER), 1 => Just(SPEAKER + 1)])
}

proptest! {
    #[test]
    fn nothing_grows_mixes_or_panics(sent in prop::collection::vec(anything(), 0..60), limit in 0..80_usize) {
        let mut assembly = assembly(limit);
        let mut delivered = Vec::new();
        for (bytes, process) in &sent {
            delivered.extend(assembly.take(bytes, *process));
            prop_assert!(assembly.held() <= limit);
        }
        for message in delivered {
            prop_assert!(message.body.len() <= limit);
            // It is what one process has sent under one token and one number, from some packet on to one that ends it.
            let whole = |number: u32, process: i32| {
                let own = sent.iter().filter(|(_, by)| *by == process).filter_map(|(bytes, _)| Packet::parse(bytes));
                let parts = own.filter(|part| part.token == message.token && part.number == number).collect::<Vec<_>>();
                (0..parts.len()).any(|first| {
                    let end = parts[first..].iter().position(|part| !part.more).map_or(first, |end| first + end + 1);
                    parts[first..end].iter().flat_map(|part| part.payload).eq(&message.body)
                })
            };
            prop_assert!((0..6).any(|number| whole(number, SPEAKER) || whole(number, SPEAKER + 1)));
        }
    }

    #[test]
    fn noise_takes_nothing_away(
        lengths in prop::collection::vec(0..150_000_usize, 1..4),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..5),
    ) {
        let mut assembly = assembly(150_000);
        let messages = lengths.iter().zip(1_u8..).map(|(length, fill)| vec![fill; *length]).collect::<Vec<_>>();
        let mut received = Vec::new();
        for (number, message) in (0..).zip(&messages) {
            for (part, noise) in packets(token(1), number, message).zip(noise.iter().cycle()) {
                // Random bytes never have a known token, and what another process says does not count.
                prop_assert!(received.is_empty() || assembly.take(&packet(1, number, false, noise), SPEAKER + 1).is_none());
                prop_assert_eq!(assembly.take(noise, SPEAKER), None);
                received.extend(assembly.take(&[part.header().as_slice(), part.payload].concat(), SPEAKER));
            }
        }
        prop_assert!(received.iter().map(|message| &message.body[..]).eq(messages.iter().map(|message| &message[..])));
    }
}
