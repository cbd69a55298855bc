//! The state that a modern client carries from one round of a request to the next: sealed, so that only what Kennel has
//! issued counts, and only for whom and for what it was issued.

use crate::principal::Principal;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use kennel_supervisor::Generation;
use sha2::{Digest, Sha256};

/// How many bytes of a digest are kept.
const DIGEST: usize = 16;

/// What a state stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) errand: Errand,
    /// When it is worth nothing any more, in milliseconds of the hub's own time.
    pub(crate) expires: u64,
    /// Whose request it was.
    pub(crate) holder: Mark,
    /// What the request was.
    pub(crate) request: Mark,
}

/// What the state is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errand {
    /// A request that a process still works on, and which one of its exchange's.
    Resume {
        /// The exchange.
        exchange: u64,
        /// The process.
        generation: Generation,
        /// The request.
        number: i64,
        /// How often it was answered with a question before.
        round: u64,
    },
    /// A request that has to be made once more.
    Repeat,
}

/// Stands for something that need not be known, only known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark([u8; DIGEST]);

impl Mark {
    pub(crate) fn of_principal(principal: &Principal) -> Self {
        Self::of(&[b"principal", principal.to_string().as_bytes()])
    }

    /// The mark of a request: its method, and the tool, prompt or resource it names.
    pub(crate) fn of_request(method: &str, name: &str) -> Self {
        Self::of(&[method.as_bytes(), name.as_bytes()])
    }

    fn of(parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        let mut mark = [0; DIGEST];
        mark.iter_mut().zip(digest.finalize()).for_each(|(place, byte)| *place = byte);
        Self(mark)
    }
}

/// Seals tickets, with a key that lives as long as this hub.
pub(crate) struct Sealer([u8; 32]);

impl Sealer {
    /// A new key; none if the system has no randomness to give, and then nothing can be sealed or opened.
    pub(crate) fn new() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(key))
    }

    pub(crate) fn seal(&self, ticket: &Ticket) -> String {
        let payload = ticket.encode();
        let mut sealed = self.mac(&payload).unwrap_or_default();
        sealed.extend_from_slice(&payload);
        BASE64_URL_SAFE_NO_PAD.encode(sealed)
    }

    /// Opens what this hub has sealed and nobody has changed.
    pub(crate) fn open(&self, sealed: &str) -> Option<Ticket> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (tag, payload) = sealed.split_at_checked(DIGEST)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(payload);
        mac.verify_truncated_left(tag).ok()?;
        Ticket::decode(payload)
    }

    fn mac(&self, payload: &[u8]) -> Option<Vec<u8>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(payload);
        mac.finalize().into_bytes().get(..DIGEST).map(<[u8]>::to_vec)
    }
}

impl Ticket {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.expires.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.holder.0);
        bytes.extend_from_slice(&self.request.0);
        if let Errand::Resume { exchange, generation, number, round } = self.errand {
            bytes.extend_from_slice(&exchange.to_be_bytes());
            bytes.extend_from_slice(&generation.get().to_be_bytes());
            bytes.extend_from_slice(&number.to_be_bytes());
            bytes.extend_from_slice(&round.to_be_bytes());
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (expires, rest) = bytes.split_first_chunk()?;
        let (holder, rest) = rest.split_first_chunk()?;
        let (request, rest) = rest.split_first_chunk()?;
        let errand = if rest.is_empty() {
            Errand::Repeat
        } else {
            let (exchange, rest) = rest.split_first_chunk()?;
            let (generation, rest) = rest.split_first_chunk()?;
            let (number, rest) = rest.split_first_chunk()?;
            let round = rest.first_chunk().filter(|round| round.len() == rest.len())?;
            Errand::Resume {
                exchange: u64::from_be_bytes(*exchange),
                generation: Generation::new(u64::from_be_bytes(*generation)),
                number: i64::from_be_bytes(*number),
                round: u64::from_be_bytes(*round),
            }
        };
        Some(Self { errand, expires: u64::from_be_bytes(*expires), holder: Mark(*holder), request: Mark(*request) })
    }
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
