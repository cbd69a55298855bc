//! The form of a packet: token, message number, flags, payload.

use super::token::Token;

/// The bytes before the payload: 16 of token, 4 of number, 1 of flags, 3 of zero.
pub const HEADER_BYTES: usize = 24;

/// The most bytes of payload in one packet.
pub const MAX_PAYLOAD: usize = 65_536;

/// The largest packet.
pub(super) const MAX_PACKET: usize = HEADER_BYTES + MAX_PAYLOAD;

/// Set in the flags where more packets of the same message follow.
const MORE: u8 = 1;

/// A packet as it was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) token: Token,
    pub(super) number: u32,
    pub(super) more: bool,
    pub(super) payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads a packet; nothing where it has not the form of one.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (token, rest) = bytes.split_first_chunk::<{ Token::BYTES }>()?;
        let (number, rest) = rest.split_first_chunk::<4>()?;
        let ([flags, zeros @ ..], payload) = rest.split_first_chunk::<4>()?;
        if *flags & !MORE != 0 || *zeros != [0; 3] || payload.len() > MAX_PAYLOAD {
            return None;
        }
        Some(Self {
            token: Token::from(*token),
            number: u32::from_le_bytes(*number),
            more: *flags & MORE != 0,
            payload,
        })
    }

    /// What comes before the payload.
    pub(super) fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let fields = self.token.bytes().iter().copied().chain(self.number.to_le_bytes()).chain([u8::from(self.more)]);
        for (to, from) in header.iter_mut().zip(fields) {
            *to = from;
        }
        header
    }
}

/// The packets of a message, at least one.
pub(super) fn packets(token: Token, number: u32, message: &[u8]) -> impl Iterator<Item = Packet<'_>> {
    let count = message.len().div_ceil(MAX_PAYLOAD).max(1);
    (0..count).map(move |index| {
        let rest = message.get(index * MAX_PAYLOAD..).unwrap_or_default();
        let payload = rest.get(..MAX_PAYLOAD).unwrap_or(rest);
        Packet { token, number, more: index + 1 < count, payload }
    })
}
