//! The half of a conversation that sends: what the door itself says, what the session says, and what is heard about
//! requests that stand for themselves.

use crate::asking::{Asking, Told};
use crate::conversation::{Ending, Outlet};
use crate::open_requests::{Hearing, OpenRequests};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use kennel_hub::{Mailbox, Outgoing, OutgoingKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// What the half that listens hands over.
#[derive(Debug)]
pub(crate) enum Handed {
    /// Something to be sent.
    Reply(Bytes),
    /// A request whose answer is to be sent.
    Asking(Asking),
}

/// What both halves of a conversation know of what is not answered.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    /// How many requests of the session.
    pub(crate) in_session: AtomicUsize,
    /// Those that stand for themselves.
    pub(crate) open: OpenRequests,
}

enum Source {
    Session(Option<Outgoing>),
    Request(Asking, Told),
}

/// Sends what there is for the client until it is gone, or until everything was answered once that is asked for.
pub(crate) async fn speak(
    outlet: &mut impl Outlet,
    mailbox: &Mailbox,
    mut handed: mpsc::Receiver<Handed>,
    unanswered: &Unanswered,
    done: &CancellationToken,
) -> Ending {
    let mut talking = true;
    let mut requests = FuturesUnordered::new();
    let mut alive = outlet.rhythm().map(|rhythm| Instant::now() + rhythm);
    loop {
        let waits = unanswered.in_session.load(Ordering::Acquire) > 0 || !requests.is_empty();
        if done.is_cancelled() && !talking && !waits {
            return Ending::ClientDone;
        }
        let sent = tokio::select! {
            biased;
            next = handed.recv(), if talking => match next {
                Some(Handed::Reply(reply)) => outlet.send(reply).await,
                Some(Handed::Asking(asking)) => {
                    requests.push(Hearing::new(asking));
                    Ok(())
                }
                None => {
                    talking = false;
                    Ok(())
                }
            },
            source = hear(mailbox, &mut requests) => match source {
                Source::Session(Some(outgoing)) => deliver(outlet, outgoing, &unanswered.in_session).await,
                Source::Session(None) => return Ending::SessionOver,
                Source::Request(asking, told) => {
                    let goes_on = matches!(told, Told::Notification(_));
                    let message = unanswered.open.heard(&asking, told);
                    if goes_on {
                        requests.push(Hearing::new(asking));
                    }
                    match message {
                        Some(message) => outlet.send(message).await,
                        None => Ok(()),
                    }
                }
            },
            () = sleep_until(alive.unwrap_or_else(Instant::now)), if alive.is_some() => {
                alive = outlet.rhythm().map(|rhythm| Instant::now() + rhythm);
                outlet.keep_alive().await
            }
        };
        if let Err(ending) = sent {
            return ending;
        }
    }
}

/// What comes next, from the session or about a request; neither can hold the other up.
async fn hear(mailbox: &Mailbox, requests: &mut FuturesUnordered<Hearing>) -> Source {
    tokio::select! {
        outgoing = mailbox.next() => Source::Session(outgoing),
        Some(Some((asking, told))) = requests.next(), if !requests.is_empty() => Source::Request(asking, told),
    }
}

/// Sends what comes from the session.
async fn deliver(outlet: &mut impl Outlet, outgoing: Outgoing, unanswered: &AtomicUsize) -> Result<(), Ending> {
    let (last, sent) = match outgoing.kind {
        OutgoingKind::Withdrawn => (true, Ok(())),
        OutgoingKind::Response => (true, outlet.send(outgoing.message).await),
        OutgoingKind::Request | OutgoingKind::Notification => (false, outlet.send(outgoing.message).await),
    };
    if last {
        // Nothing is answered that was not asked.
        unanswered.fetch_sub(1, Ordering::AcqRel);
    }
    sent
}
