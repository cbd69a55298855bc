//! The requests of one connection that stand for themselves (2026-07-28) and are not answered: how many there may be, and
//! how the client calls one off by its id.

use crate::asking::{Asking, Told};
use crate::declared;
use crate::modern::LISTEN;
use crate::settings::Limits;
use crate::sync::lock;
use bytes::Bytes;
use kennel_hub::{Caller, Endpoint, Mailbox};
use kennel_wire::{ErrorCode, ErrorObject, Id, Message};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// The open requests by their ids.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests(Mutex<HashMap<Id, Entry>>);

#[derive(Debug)]
struct Entry {
    mailbox: Arc<Mailbox>,
    listens: bool,
}

impl OpenRequests {
    /// Asks, unless that cannot be; then the error says why.
    pub(crate) fn begin(
        &self,
        endpoint: &Endpoint,
        caller: &Caller,
        request: Message,
        id: Id,
        limits: &Limits,
    ) -> Result<Asking, Bytes> {
        let refusal = |code, text: String| ErrorObject::new(code, text).response(&id.clone().into());
        declared::check(&request).map_err(|improper| improper.response(&id.clone().into()))?;
        let (is_known, count) = self.look(&id);
        if is_known {
            let text = format!("The id {id} belongs to a request that is not answered yet. Give each request its own.");
            return Err(refusal(ErrorCode::INVALID_REQUEST, text));
        }
        let most = limits.open_requests;
        if count >= most {
            let text = format!("The connection has {most} unanswered requests, which is as many as it may have.");
            return Err(refusal(ErrorCode::SATURATED, text));
        }
        let listens = request.method().is_some_and(|method| method == LISTEN);
        let asking = Asking::begin(endpoint, caller, request, id.clone(), limits);
        // Nobody else lets requests in, so what was looked at before still holds.
        lock(&self.0).insert(id, Entry { mailbox: Arc::clone(asking.mailbox()), listens });
        Ok(asking)
    }

    /// Calls a request off, if there is one with this id.
    pub(crate) fn cancel(&self, id: &Id) -> bool {
        let Some(entry) = lock(&self.0).remove(id) else { return false };
        entry.mailbox.close();
        true
    }

    /// Calls off all that listen: of themselves they do not end.
    pub(crate) fn cancel_listening(&self) {
        let ended = lock(&self.0).extract_if(|_, entry| entry.listens).map(|(_, entry)| entry).collect::<Vec<_>>();
        for entry in ended {
            entry.mailbox.close();
        }
    }

    /// Whether there is a request with this id, and how many there are in all.
    fn look(&self, id: &Id) -> (bool, usize) {
        let open = lock(&self.0);
        (open.contains_key(id), open.len())
    }

    /// Takes note of what was heard; what of it is for the client is returned.
    pub(crate) fn heard(&self, asking: &Asking, told: Told) -> Option<Bytes> {
        let message = match told {
            Told::Notification(message) => return Some(message),
            Told::Response(message) => message,
            Told::Withdrawn => asking.apology(),
        };
        let mut open = lock(&self.0);
        // One that was called off is not there any more, and the client wants to hear nothing of it.
        open.get(asking.id()).filter(|entry| Arc::ptr_eq(&entry.mailbox, asking.mailbox()))?;
        open.remove(asking.id());
        Some(message)
    }
}

/// Waits for what is heard next about a request, and gives it back with that.
pub(crate) struct Hearing(Option<Asking>);

impl Hearing {
    pub(crate) fn new(asking: Asking) -> Self {
        Self(Some(asking))
    }
}

impl Future for Hearing {
    type Output = Option<(Asking, Told)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(asking) = &mut self.0 else { return Poll::Ready(None) };
        match asking.poll_next(context) {
            Poll::Ready(told) => Poll::Ready(self.0.take().map(|asking| (asking, told))),
            Poll::Pending => Poll::Pending,
        }
    }
}
