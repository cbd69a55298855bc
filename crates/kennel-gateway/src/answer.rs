//! How requests that came by HTTP are answered: as plain JSON where the response is all there is and comes soon, as a
//! stream of events otherwise.

use crate::alarm::Alarm;
use crate::body::Body;
use crate::feed::EventFeed;
use crate::reply::{self, Reply};
use crate::session::UsedSession;
use crate::settings::Limits;
use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use kennel_hub::{Mailbox, Outgoing, OutgoingKind};
use std::sync::Arc;
use tokio::time::Instant;

/// Where the answer to a request comes in. When the client goes away before a stream has begun, it has no id to come
/// back with, so nobody will read any more; the request itself goes on.
pub(crate) struct Inbox {
    mailbox: Arc<Mailbox>,
    kept: bool,
}

impl Inbox {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { mailbox: Mailbox::new(limits.mailbox), kept: false }
    }

    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Leaves the mailbox to somebody else.
    fn keep(mut self) -> Arc<Mailbox> {
        self.kept = true;
        Arc::clone(&self.mailbox)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        if !self.kept {
            self.mailbox.close();
        }
    }
}

/// What the client sent, so what it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One request: one response.
    Single,
    /// A batch: an array.
    Batch,
}

/// Waits for as many responses as `expected` says and answers with them. Those in `collected` count as well.
pub(crate) async fn answer(
    session: UsedSession,
    inbox: Inbox,
    form: Form,
    mut expected: usize,
    mut collected: Vec<Outgoing>,
    limits: &Limits,
) -> Reply {
    let _attached = inbox.mailbox().attach();
    let mut alarm = Alarm::set(session.alarms(), Instant::now() + limits.patience);
    while collected.len() < expected {
        let next = tokio::select! {
            biased;
            next = inbox.mailbox().next() => Ok(next),
            () = alarm.rings() => Err(()),
        };
        match next {
            Ok(Some(Outgoing { message, kind: OutgoingKind::Response })) if form == Form::Single => {
                return reply::json(StatusCode::OK, message);
            }
            Ok(Some(outgoing)) => match outgoing.kind {
                OutgoingKind::Response => collected.push(outgoing),
                // The client has cancelled it.
                OutgoingKind::Withdrawn => expected -= 1,
                OutgoingKind::Request | OutgoingKind::Notification => {
                    collected.push(outgoing);
                    drop(alarm);
                    return stream(session, inbox, expected, collected, limits);
                }
            },
            // The session is over; whoever asks again is told so.
            Ok(None) => return reply::empty(StatusCode::ACCEPTED),
            Err(()) => {
                drop(alarm);
                return stream(session, inbox, expected, collected, limits);
            }
        }
    }
    drop(alarm);
    if expected == 0 {
        return reply::empty(StatusCode::ACCEPTED);
    }
    reply::json(StatusCode::OK, array(collected.iter().map(|outgoing| &outgoing.message)))
}

/// Goes on as a stream.
fn stream(session: UsedSession, inbox: Inbox, expected: usize, collected: Vec<Outgoing>, limits: &Limits) -> Reply {
    let feed = EventFeed::begin(session, inbox.keep(), expected, collected, limits);
    reply::events(Body::Events(Box::new(feed)))
}

/// Messages as one array.
pub(crate) fn array<'a>(messages: impl Iterator<Item = &'a Bytes> + Clone) -> Bytes {
    let mut array = BytesMut::with_capacity(messages.clone().map(|message| message.len() + 1).sum::<usize>() + 1);
    for message in messages {
        array.put_u8(if array.is_empty() { b'[' } else { b',' });
        array.put_slice(message);
    }
    array.put_u8(b']');
    array.freeze()
}
