//! The conversation that the supervisor itself has with a process: the opening, and probes.
//!
//! Pure: answers go in, what to do comes out. Each era has its own way to open and to probe; the legacy one is in
//! `legacy`, and another would be a second variant of [`Era`] beside it, chosen before the first byte is sent.

use crate::failure::{Cause, Permanence};
use crate::legacy::Legacy;
use crate::phase::Phase;
use crate::receiver::{Handshake, HandshakeParams};
use crate::settings::Settings;
use bytes::Bytes;
use kennel_wire::{Id, Message, RawJson, one_line, request};
use std::sync::Arc;

/// How the supervisor's own ids begin, spelled as JSON. Those of the hub are numbers.
const OWN: &[u8] = b"\"kennel:";

/// What to do next in the opening.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send this line.
    Send(Bytes),
    /// A new phase has begun.
    Enter(Phase),
    /// The process is ready.
    Open(Handshake),
    /// The process is of no use.
    Fail(Cause, Permanence),
}

/// The supervisor's side of a conversation with one process.
pub(crate) struct Opening {
    era: Era,
    ids: Ids,
}

/// How the process is talked to.
enum Era {
    Legacy(Legacy),
}

/// Makes the supervisor's own ids, and knows which of them waits for an answer.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    last: u64,
    awaited: Option<Id>,
}

impl Ids {
    /// A line that asks for `method`; its answer is awaited from now on.
    pub(crate) fn ask(&mut self, method: &str, params: &RawJson) -> Bytes {
        let id = self.mint();
        let line = as_line(request(&id, method, params));
        self.awaited = Some(id);
        line
    }

    fn mint(&mut self) -> Id {
        self.last += 1;
        Id::string(&format!("kennel:{}", self.last))
    }
}

/// A message as a line, with its line end.
pub(crate) fn as_line(message: Bytes) -> Bytes {
    let mut line = Vec::from(one_line(message));
    line.push(b'\n');
    line.into()
}

/// Whether an id is one of the supervisor's own.
pub(crate) fn is_own(id: &Id) -> bool {
    id.spelling().starts_with(OWN)
}

impl Opening {
    /// The opening of a process of the legacy era.
    pub(crate) fn legacy(params: HandshakeParams, settings: Arc<Settings>) -> Self {
        Self { era: Era::Legacy(Legacy::new(params, settings)), ids: Ids::default() }
    }

    /// The first step.
    pub(crate) fn begin(&mut self) -> Vec<Step> {
        let Era::Legacy(legacy) = &mut self.era;
        legacy.begin(&mut self.ids)
    }

    /// Takes an answer to one of the supervisor's own requests; unless it is the one that is awaited, such as a late
    /// answer to a probe, nothing follows.
    pub(crate) fn answer(&mut self, message: &Message) -> Vec<Step> {
        if message.id() != self.ids.awaited.as_ref() {
            return Vec::new();
        }
        self.ids.awaited = None;
        let Era::Legacy(legacy) = &mut self.era;
        legacy.answer(message, &mut self.ids)
    }

    /// Takes what should have been an answer, with the reason why it is none.
    pub(crate) fn refused(&mut self, id: &Id, reason: &str) -> Vec<Step> {
        if self.ids.awaited.as_ref() != Some(id) {
            return Vec::new();
        }
        self.ids.awaited = None;
        let text = format!("the process answered with what is not a message: {reason}");
        vec![Step::Fail(Cause::Protocol(text), Permanence::Permanent)]
    }

    /// A line to which every process that lives has an answer.
    pub(crate) fn probe(&mut self) -> Bytes {
        let Era::Legacy(_) = &self.era;
        as_line(request(&self.ids.mint(), "ping", &RawJson::empty_object()))
    }
}
