//! A client with a connection of its own, as over WebSocket and stdio: one session, one mailbox, messages both ways.
//!
//! How messages are framed is left to an [`Inlet`] and an [`Outlet`]. Reading and writing go on side by side, so that a
//! client may send everything before it reads anything.

use crate::mcp::error_response;
use crate::settings::Limits;
use bytes::Bytes;
use kennel_hub::{Hub, Mailbox, Outgoing, OutgoingKind, Principal, Refused, Session};
use kennel_wire::{ErrorCode, ErrorId, ErrorObject, Frame, Kind, Message, RawJson, success_response};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How many messages are held for a session that is still being made, and how many replies of the door itself wait.
const HELD: usize = 64;

/// Where messages come from.
pub(crate) trait Inlet: Send {
    /// The next frame, or why there is none. Safe to cancel.
    fn next(&mut self) -> impl Future<Output = Result<Received, Ending>> + Send;
}

/// What came in.
#[derive(Debug)]
pub(crate) enum Received {
    /// A message or a batch.
    Frame(Bytes),
    /// Something longer than the limit, which was passed over.
    TooLong { limit: usize },
}

/// Where messages go.
pub(crate) trait Outlet: Send {
    /// Sends a message. Not safe to cancel.
    fn send(&mut self, message: Bytes) -> impl Future<Output = Result<(), Ending>> + Send;
    /// How often [`Outlet::keep_alive`] wants to be called.
    fn rhythm(&self) -> Option<Duration>;
    /// Sends a sign of life, or finds that the client gives none.
    fn keep_alive(&mut self) -> impl Future<Output = Result<(), Ending>> + Send;
}

/// Why a conversation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The client will send nothing more.
    ClientDone,
    /// The client cannot be reached any more.
    ClientGone,
    /// The client sent a frame that is longer than the limit, and what follows cannot be told.
    TooLong,
    /// The client sent a frame that holds no text.
    NotText,
    /// The hub ended the session.
    SessionOver,
    /// The gateway is shutting down.
    ShuttingDown,
}

/// Talks until one side has enough.
pub(crate) async fn converse(
    hub: Hub,
    principal: &Principal,
    mut inlet: impl Inlet,
    outlet: &mut impl Outlet,
    limits: &Limits,
    closing: &CancellationToken,
) -> Ending {
    let mailbox = Mailbox::new(limits.mailbox);
    let _attached = mailbox.attach();
    let unanswered = AtomicUsize::new(0);
    let done = CancellationToken::new();
    let (replies, waiting) = mpsc::channel(HELD);
    let mut listener = Listener {
        hub,
        principal: principal.clone(),
        mailbox: Arc::clone(&mailbox),
        replies,
        unanswered: &unanswered,
        state: State::New,
        held: VecDeque::new(),
    };
    let speaking = speak(outlet, &mailbox, waiting, &unanswered, &done);
    tokio::pin!(speaking);
    let ending = tokio::select! {
        ending = listener.listen(&mut inlet) => ending,
        ending = &mut speaking => return ending,
        () = closing.cancelled() => Ending::ShuttingDown,
    };
    if matches!(ending, Ending::ClientDone | Ending::ShuttingDown) {
        // What was asked before the end is still answered, within bounds; there is nobody to tell if it is not.
        done.cancel();
        let _ = timeout(limits.drain, listener.settle(&mut speaking)).await;
    }
    mailbox.close();
    ending
}

struct Listener<'a> {
    hub: Hub,
    principal: Principal,
    mailbox: Arc<Mailbox>,
    replies: mpsc::Sender<Bytes>,
    unanswered: &'a AtomicUsize,
    state: State,
    /// What came while the session is being made.
    held: VecDeque<Message>,
}

type Initializing = Pin<Box<dyn Future<Output = Result<(Session, Bytes), Refused>> + Send>>;

enum State {
    New,
    Initializing(Initializing),
    Open(Session),
}

impl Listener<'_> {
    /// Takes what the client sends.
    async fn listen(&mut self, inlet: &mut impl Inlet) -> Ending {
        loop {
            let initializing = match &mut self.state {
                State::Initializing(initializing) => Some(initializing),
                State::New | State::Open(_) => None,
            };
            let has_room = self.held.len() < HELD;
            tokio::select! {
                biased;
                result = finish(initializing) => self.initialized(result).await,
                received = inlet.next(), if has_room => match received {
                    Ok(Received::Frame(bytes)) => self.frame(bytes).await,
                    Ok(Received::TooLong { limit }) => {
                        let text = format!("The message is longer than the {limit} bytes that are allowed.");
                        self.reply(Some(refusal(&ErrorId::Null, text))).await;
                    }
                    Err(ending) => return ending,
                },
            }
        }
    }

    /// Lets a session that is being made get ready, hands over what was held for it, and waits for the answers.
    async fn settle(mut self, speaking: &mut Pin<&mut impl Future<Output = Ending>>) {
        if let State::Initializing(initializing) = &mut self.state {
            let result = tokio::select! {
                result = initializing => result,
                _ = &mut *speaking => return,
            };
            self.initialized(result).await;
        }
        let Self { replies, state, .. } = self;
        drop(replies);
        speaking.await;
        // The session lives until here, or its answers would not come.
        drop(state);
    }

    async fn frame(&mut self, bytes: Bytes) {
        match Frame::parse(bytes) {
            Ok(Frame::Single(message)) => {
                let reply = self.message(message);
                self.reply(reply).await;
            }
            Ok(Frame::Batch(_)) if !self.allows_batches() => {
                let text = "Batches are not allowed here: send each message on its own.";
                self.reply(Some(refusal(&ErrorId::Null, text))).await;
            }
            Ok(Frame::Batch(messages)) => {
                for message in messages {
                    let reply = match message {
                        Ok(message) => self.message(message),
                        Err(error) => Some(error_response(&error)),
                    };
                    self.reply(reply).await;
                }
            }
            Err(error) => self.reply(Some(error_response(&error))).await,
        }
    }

    fn allows_batches(&self) -> bool {
        match &self.state {
            State::Open(session) => session.version().allows_batches(),
            State::New | State::Initializing(_) => false,
        }
    }

    /// Hands a message over, or says what the door itself answers to it.
    fn message(&mut self, message: Message) -> Option<Bytes> {
        match (&self.state, message.kind()) {
            (State::Open(session), kind) => {
                if matches!(kind, Kind::Request { .. }) {
                    self.unanswered.fetch_add(1, Ordering::AcqRel);
                }
                session.receive(message, &self.mailbox);
                None
            }
            (_, Kind::Request { id, method, .. }) if method == "ping" => {
                Some(success_response(id, &RawJson::empty_object()))
            }
            (State::New, Kind::Request { method, .. }) if method == "initialize" => {
                let (hub, principal) = (self.hub.clone(), self.principal.clone());
                let mailbox = Arc::clone(&self.mailbox);
                let initializing = async move { hub.initialize(&principal, message, mailbox).await };
                self.state = State::Initializing(Box::pin(initializing));
                None
            }
            (State::New, Kind::Request { id, .. }) => {
                Some(refusal(&ErrorId::Known(id.clone()), "There is no session yet: begin with `initialize`."))
            }
            // To whom would it be said?
            (State::New, _) => None,
            (State::Initializing(_), _) => {
                self.held.push_back(message);
                None
            }
        }
    }

    async fn initialized(&mut self, result: Result<(Session, Bytes), Refused>) {
        let response = match result {
            Ok((session, response)) => {
                self.state = State::Open(session);
                response
            }
            Err(refused) => {
                self.state = State::New;
                refused.response
            }
        };
        self.reply(Some(response)).await;
        while let Some(message) = self.held.pop_front() {
            let reply = self.message(message);
            self.reply(reply).await;
        }
    }

    /// Says something that does not come from the hub. Waits if the client does not read, as reading should.
    async fn reply(&mut self, message: Option<Bytes>) {
        if let Some(message) = message {
            // Without the other half the conversation is over.
            let _ = self.replies.send(message).await;
        }
    }
}

fn refusal(id: &ErrorId, text: impl Into<String>) -> Bytes {
    ErrorObject::new(ErrorCode::INVALID_REQUEST, text).response(id)
}

/// Waits for a session that is being made; for ever if there is none.
async fn finish(initializing: Option<&mut Initializing>) -> Result<(Session, Bytes), Refused> {
    match initializing {
        Some(initializing) => initializing.await,
        None => std::future::pending().await,
    }
}

/// Sends what there is for the client until it is gone, or until everything was answered once that is asked for.
async fn speak(
    outlet: &mut impl Outlet,
    mailbox: &Mailbox,
    mut replies: mpsc::Receiver<Bytes>,
    unanswered: &AtomicUsize,
    done: &CancellationToken,
) -> Ending {
    let mut talking = true;
    let mut alive = outlet.rhythm().map(|rhythm| Instant::now() + rhythm);
    loop {
        if done.is_cancelled() && !talking && unanswered.load(Ordering::Acquire) == 0 {
            return Ending::ClientDone;
        }
        let sent = tokio::select! {
            biased;
            reply = replies.recv(), if talking => {
                talking = reply.is_some();
                match reply {
                    Some(reply) => outlet.send(reply).await,
                    None => Ok(()),
                }
            }
            outgoing = mailbox.next() => match outgoing {
                Some(outgoing) => deliver(outlet, outgoing, unanswered).await,
                None => return Ending::SessionOver,
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

/// Sends what comes from the hub.
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
