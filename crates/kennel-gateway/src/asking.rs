//! A request that stands for itself (2026-07-28), from the door to the hub and back: it is called off when nobody waits
//! for its answer any more.

use crate::settings::Limits;
use bytes::Bytes;
use kennel_hub::{Asked, Attached, Caller, Endpoint, Mailbox, OutgoingKind};
use kennel_wire::{ErrorCode, ErrorObject, Id, Message};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

/// An open request.
#[derive(Debug)]
pub(crate) struct Asking {
    id: Id,
    asked: Option<Asked>,
    mailbox: Arc<Mailbox>,
    /// Says to the hub that somebody reads.
    _attached: Attached,
}

/// What is heard about a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Something before the answer.
    Notification(Bytes),
    /// The answer, after which there is nothing.
    Response(Bytes),
    /// There will be no answer.
    Withdrawn,
}

impl Asking {
    /// Asks.
    pub(crate) fn begin(endpoint: &Endpoint, caller: &Caller, request: Message, id: Id, limits: &Limits) -> Self {
        let mailbox = Mailbox::new(limits.mailbox);
        let attached = mailbox.attach();
        let asked = endpoint.ask(caller, request, &mailbox);
        Self { id, asked: Some(asked), mailbox, _attached: attached }
    }

    /// The request's id.
    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Where what is heard comes in. To close it is to call the request off.
    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// What is heard next. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Told {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same, for whoever polls by hand.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Told> {
        loop {
            let told = match self.mailbox.poll_next(context) {
                Poll::Ready(Some(outgoing)) => self.hear(outgoing.kind, outgoing.message),
                Poll::Ready(None) => Some(Told::Withdrawn),
                Poll::Pending => return Poll::Pending,
            };
            if let Some(told) = told {
                return Poll::Ready(told);
            }
        }
    }

    /// What has already been heard.
    pub(crate) fn try_next(&mut self) -> Option<Told> {
        loop {
            let outgoing = self.mailbox.try_next()?;
            if let Some(told) = self.hear(outgoing.kind, outgoing.message) {
                return Some(told);
            }
        }
    }

    /// The answer, whatever is heard before it.
    pub(crate) async fn answer(mut self) -> Bytes {
        loop {
            match self.next().await {
                Told::Notification(_) => {}
                Told::Response(response) => return response,
                Told::Withdrawn => return self.apology(),
            }
        }
    }

    /// What is answered where there is no answer.
    pub(crate) fn apology(&self) -> Bytes {
        let text = "The request was called off before it was answered. Whether it had an effect is not known.";
        ErrorObject::new(ErrorCode::OUTCOME_UNKNOWN, text).response(&self.id.clone().into())
    }

    fn hear(&mut self, kind: OutgoingKind, message: Bytes) -> Option<Told> {
        match kind {
            OutgoingKind::Response => {
                if let Some(asked) = self.asked.take() {
                    asked.answered();
                }
                Some(Told::Response(message))
            }
            OutgoingKind::Notification => Some(Told::Notification(message)),
            OutgoingKind::Withdrawn => Some(Told::Withdrawn),
            // These clients are asked by answers, never by requests.
            OutgoingKind::Request => None,
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        drop(self.asked.take());
        self.mailbox.close();
    }
}
