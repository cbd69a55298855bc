//! The places that a process has for requests of clients, where they are limited: which requests need one, and who goes next.

use crate::exchange::{Exchange, State};
use crate::fault::Fault;
use crate::forward::Prepared;
use crate::mailbox::{Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Pending, Purpose, Stage};
use bytes::Bytes;
use kennel_supervisor::{FeedError, Instance, Link};
use kennel_wire::{Era, ErrorCode};
use std::collections::VecDeque;
use tokio::time::Instant;

/// What a request has to do with the places of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It needs none.
    NotNeeded,
    /// It goes to a process only where there is one for it.
    Wanted,
    /// It has one.
    Taken,
}

/// The requests that are about others with which the process is busy, and would wait for what they are to end or to bring on.
const ABOUT_OTHERS: &[&str] = &["tasks/cancel", "tasks/update"];

/// Requests that were next and have not gone to the process.
#[derive(Default)]
pub(crate) struct Unsent {
    /// Those for which there was no room on the way.
    refused: Vec<(Number, Pending)>,
    /// Those with which the process has nothing to do, and their answers.
    settled: Vec<(Pending, Bytes)>,
}

impl Exchange {
    /// Whether a request needs a place.
    pub(crate) fn place_for(&self, method: &str) -> Place {
        match self.core.settings.limits.concurrency {
            Some(_) if !ABOUT_OTHERS.contains(&method) => Place::Wanted,
            Some(_) | None => Place::NotNeeded,
        }
    }

    /// Whether a request can go to a process of this era now, if it is its turn.
    fn has_place(&self, state: &State, pending: &Pending, era: Era) -> bool {
        pending.place == Place::NotNeeded
            || state.pending.has_room(self.core.settings.limits.concurrency)
            || is_settled_without(pending, era)
    }

    /// Whether a request that has just come can go to a process of this era before all that waits.
    pub(crate) fn may_go(&self, state: &State, pending: &Pending, era: Era) -> bool {
        let is_next = pending.place == Place::NotNeeded || state.waiting.is_empty() || is_settled_without(pending, era);
        is_next && self.has_place(state, pending, era)
    }

    /// Sends what has waited for the process, which is new, as far as it has places.
    pub(crate) fn flush(&self, state: &mut State, link: &Link) -> Unsent {
        let era = link.handshake.era;
        for line in std::mem::take(&mut state.waiting_notifications) {
            if era == Era::Legacy {
                let _ = link.input.send(line);
            }
        }
        let (mut unsent, mut kept) = (Unsent::default(), VecDeque::new());
        for number in std::mem::take(&mut state.waiting) {
            let Some(pending) = state.pending.get(number) else { continue };
            if self.has_place(state, pending, era) {
                self.send_waiting(state, link, number, &mut unsent);
            } else {
                kept.push_back(number);
            }
        }
        state.waiting = kept;
        state.pending.wait_anew(Instant::now());
        unsent
    }

    /// Sends what waits for a place, as far as there are any. To be called when one may have become free.
    pub(crate) fn go_on(&self) {
        if self.core.settings.limits.concurrency.is_some() {
            let unsent = self.fill(&mut self.state());
            self.settle(unsent);
        }
    }

    /// Makes the place free of a request that was taken out as answered.
    pub(crate) fn vacate(&self, pending: &mut Pending) {
        if pending.place == Place::Taken {
            let unsent = {
                let mut state = self.state();
                state.pending.vacate(pending);
                self.fill(&mut state)
            };
            self.settle(unsent);
        }
    }

    fn fill(&self, state: &mut State) -> Unsent {
        let mut unsent = Unsent::default();
        if state.waiting.is_empty() {
            return unsent;
        }
        let Some(link) = state.link.clone() else { return unsent };
        while let Some(number) = state.waiting.front().copied() {
            if state.pending.get(number).is_some_and(|next| !self.has_place(state, next, link.handshake.era)) {
                break;
            }
            state.waiting.pop_front();
            self.send_waiting(state, &link, number, &mut unsent);
        }
        unsent
    }

    /// Sends a request that has waited and is next.
    fn send_waiting(&self, state: &mut State, link: &Link, number: Number, unsent: &mut Unsent) {
        let era = link.handshake.era;
        let Some(mut pending) = state.pending.remove(number) else { return };
        let Stage::Waiting(message) = std::mem::replace(&mut pending.stage, Stage::Asking) else { return };
        let Asker::Client { client, .. } = &pending.asker else { return };
        let said = self.line_for(era, client, &message, number, &pending.purpose);
        (pending.began, pending.heard) = (Instant::now(), Instant::now());
        match (self.prepare(state, link.generation, era, &mut pending, &message), said) {
            (Prepared::Settled(answer), _) => unsent.settled.push((pending, answer)),
            (Prepared::ToSend, Ok(said)) => {
                if link.input.send(said) == Err(FeedError::Full) {
                    unsent.refused.push((number, pending));
                } else {
                    state.pending.insert(number, pending);
                }
            }
            (Prepared::ToSend, Err(text)) => {
                let id = match &pending.asker {
                    Asker::Client { id, .. } => id.clone(),
                    Asker::Kennel => return,
                };
                unsent.settled.push((pending, Fault::refused(ErrorCode::INVALID_PARAMS, text).response(&id)));
            }
        }
    }

    /// Answers what has not gone to the process.
    pub(crate) fn settle(&self, unsent: Unsent) {
        for (pending, message) in unsent.settled {
            self.with_instance(Instance::work_ended);
            if let Asker::Client { client, mailbox, .. } = pending.asker {
                client.dismiss();
                mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
            }
        }
        if !unsent.refused.is_empty() {
            let limit = self.core.settings.limits.message_bytes;
            self.refuse(unsent.refused, &Fault::saturated("bytes on the way to the server", limit));
        }
    }
}

/// Whether a request of a client with a session is about what a process of this era has nothing to do with.
fn is_settled_without(pending: &Pending, era: Era) -> bool {
    let is_standing =
        matches!(pending.purpose, Purpose::SetLevel { .. } | Purpose::Subscribe(_) | Purpose::Unsubscribe(_));
    is_standing && era == Era::Modern && matches!(&pending.asker, Asker::Client { client, .. } if !client.is_modern())
}
