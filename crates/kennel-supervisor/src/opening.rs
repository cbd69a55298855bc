//! The conversation that the supervisor itself has with a process: the opening, and probes.
//!
//! Pure: answers go in, what to do comes out. Each era has its own way to open and to probe, in `legacy` and `modern`;
//! which one is chosen before the first byte is sent, because a process is locked to the first era that it sees.

use crate::failure::{Cause, Permanence};
use crate::introduction::Introduction;
use crate::legacy::Legacy;
use crate::modern::Modern;
use crate::phase::Phase;
use crate::receiver::Handshake;
use crate::settings::Settings;
use bytes::Bytes;
use kennel_wire::{Era, Id, Kind, Message, RawJson, ValueKind, one_line, request};
use std::sync::Arc;

/// How the supervisor's own ids begin, spelled as JSON. Those of the hub are numbers.
const OWN: &[u8] = b"\"kennel:";
/// How much of a process's own words goes into an error.
pub(crate) const QUOTED: usize = 300;

/// What to do next in the opening.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send this line.
    Send(Bytes),
    /// A new phase has begun.
    Enter(Phase),
    /// The process is ready.
    Open(Handshake),
    /// The process does not speak this era; another one may be of use in the other era.
    Refuse(Cause),
    /// The process is of no use.
    Fail(Cause, Permanence),
}

/// The supervisor's side of a conversation with one process.
pub(crate) struct Opening {
    talk: Talk,
    ids: Ids,
}

/// How the process is talked to.
enum Talk {
    Legacy(Legacy),
    Modern(Modern),
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
    /// The opening of a process in this era.
    pub(crate) fn new(era: Era, introduction: &Introduction, settings: Arc<Settings>) -> Self {
        let talk = match era {
            Era::Legacy => Talk::Legacy(Legacy::new(introduction.legacy.clone(), settings)),
            Era::Modern => Talk::Modern(Modern::new(introduction.modern.clone(), settings)),
        };
        Self { talk, ids: Ids::default() }
    }

    /// The first step.
    pub(crate) fn begin(&mut self) -> Vec<Step> {
        match &mut self.talk {
            Talk::Legacy(legacy) => legacy.begin(&mut self.ids),
            Talk::Modern(modern) => modern.begin(&mut self.ids),
        }
    }

    /// Takes an answer to one of the supervisor's own requests; unless it is the one that is awaited, such as a late
    /// answer to a probe, nothing follows.
    pub(crate) fn answer(&mut self, message: &Message) -> Vec<Step> {
        if message.id() != self.ids.awaited.as_ref() {
            return Vec::new();
        }
        self.ids.awaited = None;
        match &mut self.talk {
            Talk::Legacy(legacy) => legacy.answer(message, &mut self.ids),
            Talk::Modern(modern) => modern.answer(message, &mut self.ids),
        }
    }

    /// Takes what should have been an answer, with the reason why it is none.
    pub(crate) fn refused(&mut self, id: &Id, reason: &str) -> Vec<Step> {
        if self.ids.awaited.as_ref() != Some(id) {
            return Vec::new();
        }
        self.ids.awaited = None;
        let text = format!("the process answered with what is not a message: {reason}");
        vec![match &self.talk {
            Talk::Modern(modern) if modern.is_discovering() => Step::Refuse(Cause::Protocol(text)),
            Talk::Legacy(_) | Talk::Modern(_) => protocol(text),
        }]
    }

    /// Takes a line that was too long to be read; it may have been the answer that is awaited.
    pub(crate) fn skipped(&mut self, head: &[u8], tail: &[u8], length: u64) -> Vec<Step> {
        let is_for = |id: &Id| has_id(head, id) || has_id(tail, id);
        if !self.ids.awaited.as_ref().is_some_and(is_for) {
            return Vec::new();
        }
        self.ids.awaited = None;
        vec![Step::Fail(Cause::TooLarge { length }, Permanence::Permanent)]
    }

    /// A line to which every process that lives has an answer.
    pub(crate) fn probe(&mut self) -> Bytes {
        let id = self.ids.mint();
        match &self.talk {
            Talk::Legacy(_) => as_line(request(&id, "ping", &RawJson::empty_object())),
            Talk::Modern(modern) => modern.probe(&id),
        }
    }
}

/// Whether a part of a message has this id, which is none that others choose.
fn has_id(part: &[u8], id: &Id) -> bool {
    let after = |at: usize| {
        let rest = part[at..].strip_prefix(b"\"id\"")?.trim_ascii_start();
        rest.strip_prefix(b":")?.trim_ascii_start().strip_prefix(id.spelling())
    };
    (0..part.len()).any(|at| after(at).is_some())
}

/// A process that does not keep to the protocol, and will not another time.
pub(crate) fn protocol(text: String) -> Step {
    Step::Fail(Cause::Protocol(text), Permanence::Permanent)
}

/// The result of an answer that should be an object, or what the process says instead.
pub(crate) fn result_of(message: &Message, method: &str) -> Result<RawJson, String> {
    match message.kind() {
        Kind::Response { .. } => match message.result() {
            Some(result) if result.kind() == ValueKind::Object => Ok(result),
            Some(result) => Err(format!("the process answered `{method}` with {}, not an object", result.kind())),
            None => Err(format!("the process answered `{method}` without a result")),
        },
        Kind::Error { error, .. } => {
            let error = String::from_utf8_lossy(error);
            Err(format!("the process answered `{method}` with an error: {}", kennel_redact::cut(&error, QUOTED)))
        }
        Kind::Request { .. } | Kind::Notification { .. } => {
            Err(format!("the process answered `{method}` with a request"))
        }
    }
}
