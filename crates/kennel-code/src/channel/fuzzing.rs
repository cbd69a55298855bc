//! What the fuzz target `packets` checks.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use super::assembly::Assembly;
use super::known::Known;
use super::packet::Packet;
use super::token::Token;

/// The most bytes of a message here.
const LIMIT: usize = 48;

/// Any packets of any processes: no message is larger than the limit, none is of a token that is not known, and each
/// packet is taken or counted. Four bytes say what a packet is, then come as many of payload as they say.
pub fn packets(data: &[u8]) {
    let known = Known::default();
    let named = |byte: u8| Token::from([byte; Token::BYTES]);
    known.admit(named(1));
    let mut assembly = Assembly::new(known.clone(), LIMIT);
    let (mut rest, mut count, mut taken) = (data, 0, 0);
    while let Some(([flags, number, process, length], after)) = rest.split_first_chunk::<4>() {
        let (payload, after) = after.split_at(after.len().min(usize::from(*length)));
        rest = after;
        match flags & 0x30 {
            0x10 => known.admit(named(2)),
            0x20 => known.forget(&named(2)),
            _ => {}
        }
        let packet = Packet { token: named(flags & 3), number: u32::from(*number), more: flags & 4 != 0, payload };
        let bytes = if flags & 8 == 0 { [&packet.header(), payload].concat() } else { payload.to_vec() };
        if let Some(parsed) = Packet::parse(&bytes) {
            assert_eq!([&parsed.header(), parsed.payload].concat(), bytes, "one packet has two spellings");
        }
        count += 1;
        let before = assembly.counted();
        match assembly.take(&bytes, i32::from(process & 1)) {
            Some(message) => {
                taken += 1;
                assert!(message.body.len() <= LIMIT, "a message is larger than the limit");
                assert!(known.contains(&message.token), "a message of a token that is not known");
                assert!(message.body.ends_with(Packet::parse(&bytes).map_or(b"", |last| last.payload)));
            }
            None => assert!(assembly.counted() > before || assembly.is_waiting(), "a packet was lost"),
        }
        assert!(assembly.held() <= LIMIT, "more is held than the limit");
    }
    assert!(taken <= count);
}
