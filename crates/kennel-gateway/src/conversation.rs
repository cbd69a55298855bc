//! A client with a connection of its own, as over WebSocket and stdio: messages both ways, in one session or in none.
//!
//! Whether a message belongs to the session is told by the message: requests that say that they stand for themselves
//! (2026-07-28) are served apart from it, also before there is one.
//!
//! How messages are framed is left to an [`Inlet`] and an [`Outlet`]. Reading and writing go on side by side, so that a
//! client may send everything before it reads anything.

use crate::declared;
use crate::mcp::error_response;
use crate::metrics::Tally;
use crate::settings::Limits;
use crate::speaking::{Handed, Unanswered, speak};
use bytes::Bytes;
use kennel_hub::{Caller, Endpoint, EndpointSession, Mailbox, Principal, Refused};
use kennel_wire::{ByteSize, Era, ErrorCode, ErrorId, ErrorObject, Frame, Kind, Message, RawJson, success_response};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How many messages are held for a session that is still being made, and how many replies of the door itself wait.
const HELD: usize = 64;

/// What a client of either era may ask first, to find out which one is understood here. It is of the later one.
const DISCOVER: &str = "server/discover";

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
    /// How many bytes of answers may wait for a client that does not read, before no more is read from it.
    fn most_unread(limits: &Limits) -> usize;
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
    /// All that the gateway can hold of unfinished messages is taken.
    Exhausted,
    /// The client sent a frame that holds no text.
    NotText,
    /// The hub ended the session.
    SessionOver,
    /// The gateway is shutting down.
    ShuttingDown,
}

/// Talks until one side has enough.
pub(crate) async fn converse<O: Outlet>(
    endpoint: Endpoint,
    principal: &Principal,
    mut inlet: impl Inlet,
    outlet: &mut O,
    limits: &Limits,
    tally: &Tally,
    closing: &CancellationToken,
) -> Ending {
    let mailbox = Mailbox::new(limits.mailbox);
    let _attached = mailbox.attach();
    let present = Present { endpoint: endpoint.clone(), caller: Caller::connected(principal.clone()) };
    let unanswered = Unanswered::default();
    let done = CancellationToken::new();
    let (handing, handed) = mpsc::channel(HELD);
    let mut listener = Listener {
        endpoint,
        caller: &present.caller,
        limits,
        tally,
        mailbox: Arc::clone(&mailbox),
        most_unread: O::most_unread(limits),
        handing,
        unanswered: &unanswered,
        state: State::New,
        held: VecDeque::new(),
    };
    let speaking = speak(outlet, &mailbox, handed, &unanswered, &done);
    tokio::pin!(speaking);
    let ending = tokio::select! {
        ending = listener.listen(&mut inlet) => ending,
        ending = &mut speaking => return ending,
        () = closing.cancelled() => Ending::ShuttingDown,
    };
    if matches!(ending, Ending::ClientDone | Ending::ShuttingDown) {
        // What was asked before the end is still answered, within bounds; there is nobody to tell if it is not.
        done.cancel();
        match ending {
            Ending::ClientDone => unanswered.open.cancel_listening(),
            _ => present.endpoint.end_streams(),
        }
        let _ = timeout(limits.drain, listener.settle(&mut speaking)).await;
    }
    mailbox.close();
    ending
}

/// A caller as long as its connection is there.
struct Present {
    endpoint: Endpoint,
    caller: Caller,
}

impl Drop for Present {
    fn drop(&mut self) {
        self.endpoint.leave(&self.caller);
    }
}

struct Listener<'a> {
    endpoint: Endpoint,
    caller: &'a Caller,
    limits: &'a Limits,
    tally: &'a Tally,
    mailbox: Arc<Mailbox>,
    most_unread: usize,
    handing: mpsc::Sender<Handed>,
    unanswered: &'a Unanswered,
    state: State,
    /// What came while the session is being made.
    held: VecDeque<Message>,
}

type Initializing = Pin<Box<dyn Future<Output = Result<(EndpointSession, Bytes), Refused>> + Send>>;

enum State {
    New,
    Initializing(Initializing),
    Open(EndpointSession),
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
            let (mailbox, most_unread) = (&self.mailbox, self.most_unread);
            let next = async {
                // A client that does not read its answers gets no more of them.
                mailbox.drained(most_unread).await;
                inlet.next().await
            };
            tokio::select! {
                biased;
                result = finish(initializing) => self.initialized(result).await,
                received = next, if has_room => match received {
                    Ok(Received::Frame(bytes)) => self.frame(bytes).await,
                    Ok(Received::TooLong { limit }) => {
                        let text = format!("The message is longer than the {} that are allowed.", ByteSize::from(limit));
                        self.hand(Some(Handed::Reply(refusal(&ErrorId::Null, text)))).await;
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
        let Self { handing, state, .. } = self;
        drop(handing);
        speaking.await;
        // The session lives until here, or its answers would not come.
        drop(state);
    }

    async fn frame(&mut self, bytes: Bytes) {
        match Frame::parse(bytes) {
            Ok(Frame::Single(message)) => {
                let handed = self.message(message);
                self.hand(handed).await;
            }
            Ok(Frame::Batch(_)) if !self.allows_batches() => {
                let text = "Batches are not allowed here: send each message on its own.";
                self.hand(Some(Handed::Reply(refusal(&ErrorId::Null, text)))).await;
            }
            Ok(Frame::Batch(messages)) => {
                for message in messages {
                    let handed = match message {
                        Ok(message) => self.message(message),
                        Err(error) => Some(Handed::Reply(error_response(&error))),
                    };
                    self.hand(handed).await;
                }
            }
            Err(error) => self.hand(Some(Handed::Reply(error_response(&error)))).await,
        }
    }

    fn allows_batches(&self) -> bool {
        match &self.state {
            State::Open(session) => session.version().allows_batches(),
            State::New | State::Initializing(_) => false,
        }
    }

    /// Takes a message, and says what is to be sent for it besides what the session says.
    fn message(&mut self, message: Message) -> Option<Handed> {
        match message.kind() {
            Kind::Request { id, method, .. } if method == DISCOVER || declared::is_modern(&message) => {
                self.tally.count(Era::Modern);
                let (id, open) = (id.clone(), &self.unanswered.open);
                let begun = open.begin(&self.endpoint, self.caller, message, id, self.limits);
                return Some(begun.map_or_else(Handed::Reply, Handed::Asking));
            }
            Kind::Request { .. } => self.tally.count(Era::Legacy),
            Kind::Notification { method, .. } if method == "notifications/cancelled" => {
                if let Ok(Some(id)) = message.cancelled_request()
                    && self.unanswered.open.cancel(&id)
                {
                    return None;
                }
            }
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => {}
        }
        self.in_session(message).map(Handed::Reply)
    }

    /// Hands a message over to the session, or says what the door itself answers to it.
    fn in_session(&mut self, message: Message) -> Option<Bytes> {
        match (&self.state, message.kind()) {
            (State::Open(session), kind) => {
                if matches!(kind, Kind::Request { .. }) {
                    self.unanswered.in_session.fetch_add(1, Ordering::AcqRel);
                }
                session.receive(message, &self.mailbox);
                None
            }
            (_, Kind::Request { id, method, .. }) if method == "ping" => {
                Some(success_response(id, &RawJson::empty_object()))
            }
            (State::New, Kind::Request { method, .. }) if method == "initialize" => {
                let (endpoint, principal) = (self.endpoint.clone(), self.caller.principal().clone());
                let mailbox = Arc::clone(&self.mailbox);
                let initializing = async move { endpoint.initialize(&principal, message, mailbox).await };
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

    async fn initialized(&mut self, result: Result<(EndpointSession, Bytes), Refused>) {
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
        self.hand(Some(Handed::Reply(response))).await;
        while let Some(message) = self.held.pop_front() {
            let reply = self.in_session(message);
            self.hand(reply.map(Handed::Reply)).await;
        }
    }

    /// Hands something to the half that sends. Waits if the client does not read, as reading should.
    async fn hand(&mut self, handed: Option<Handed>) {
        if let Some(handed) = handed {
            // Without the other half the conversation is over.
            let _ = self.handing.send(handed).await;
        }
    }
}

fn refusal(id: &ErrorId, text: impl Into<String>) -> Bytes {
    ErrorObject::new(ErrorCode::INVALID_REQUEST, text).response(id)
}

/// Waits for a session that is being made; for ever if there is none.
async fn finish(initializing: Option<&mut Initializing>) -> Result<(EndpointSession, Bytes), Refused> {
    match initializing {
        Some(initializing) => initializing.await,
        None => std::future::pending().await,
    }
}
