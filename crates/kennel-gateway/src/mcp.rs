//! The door `/mcp`: Streamable HTTP with sessions, as in the protocol's versions up to 2025-11-25. What is said in a later
//! version goes through the door beside it.

use crate::answer::{Form, Inbox, answer};
use crate::body::{self, Body, ReadError};
use crate::budget::Budget;
use crate::connection::Slot;
use crate::declared;
use crate::feed::EventFeed;
use crate::guarded::Reading;
use crate::headers::{self, LAST_EVENT_ID, SESSION_ID};
use crate::intake::{Intake, Share, Standing};
use crate::kept::{Found, KeptSessions};
use crate::metrics::Tally;
use crate::modern::ModernDoor;
use crate::reply::{self, Refusal, Reply};
use crate::session::{HttpSession, Sessions, UsedSession};
use crate::settings::Limits;
use crate::streams::ResumeError;
use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use kennel_hub::{Endpoint, Mailbox, Outgoing, OutgoingKind, Principal, Refused, RefusedReason};
use kennel_wire::{Era, ErrorCode, ErrorId, ErrorObject, Frame, Kind, Message, ParseError};
use std::sync::Arc;
use std::time::Duration;

/// The endpoint that a request is for, and its address.
#[derive(Clone, Copy)]
pub(crate) struct Home<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) address: &'a str,
}

/// What the door needs.
pub(crate) struct McpDoor {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) intake: Arc<Intake>,
    /// What all sessions together keep of what they sent.
    pub(crate) replay: Arc<Budget>,
    /// For messages that have no answer: a mailbox that is closed.
    pub(crate) nowhere: Arc<Mailbox>,
    pub(crate) tally: Arc<Tally>,
    /// Sessions that outlive the gateway.
    pub(crate) kept: Option<Arc<KeptSessions>>,
    /// For requests that stand for themselves.
    pub(crate) modern: ModernDoor,
}

impl McpDoor {
    pub(crate) async fn handle(
        &self,
        home: Home<'_>,
        principal: &Principal,
        slot: &Slot,
        request: Request<Incoming>,
    ) -> Reply {
        let handled = match *request.method() {
            Method::POST => self.post(home, principal, slot, request).await,
            Method::GET => self.get(home, principal, request.headers()).await,
            Method::DELETE => self.delete(home, principal, request.headers()).await,
            _ => Err(reply::method_not_allowed("GET, POST, DELETE")),
        };
        handled.unwrap_or_else(|refusal| *refusal)
    }

    /// A message of the client.
    async fn post(
        &self,
        home: Home<'_>,
        principal: &Principal,
        slot: &Slot,
        request: Request<Incoming>,
    ) -> Result<Reply, Refusal> {
        let (head, body) = request.into_parts();
        headers::accepts_answers(&head.headers)?;
        headers::sends_json(&head.headers)?;
        let read = async |standing| read_frame(body, &self.limits, self.intake.share(standing), slot).await;
        if headers::leaves_sessions(&head.headers) {
            let (frame, _share) = read(Standing::None).await?;
            return self.modern.take(home.endpoint, principal, slot.alarms(), &head.headers, frame).await;
        }
        let session = match headers::session_id(&head.headers) {
            Some(id) => Some(self.session(home, id, principal).await?),
            None => None,
        };
        let standing = if session.is_some() { Standing::Session } else { Standing::None };
        // Held until there is an answer: so long the message is held as well.
        let (frame, _share) = read(standing).await?;
        match (session, frame) {
            (Some(session), Frame::Single(message)) => Ok(self.message(session, message).await),
            (Some(session), Frame::Batch(messages)) => self.batch(session, messages).await,
            (None, Frame::Single(message)) if declared::is_modern(&message) => {
                self.modern.take(home.endpoint, principal, slot.alarms(), &head.headers, Frame::Single(message)).await
            }
            (None, Frame::Single(message)) if is_initialize(&message) => {
                self.initialize(home, principal, message).await
            }
            (None, Frame::Single(message)) => {
                let id = reply_id(&message);
                Err(reply::refusal_of(StatusCode::BAD_REQUEST, &id, NO_SESSION))
            }
            (None, Frame::Batch(_)) => Err(reply::refusal(StatusCode::BAD_REQUEST, NO_SESSION)),
        }
    }

    async fn message(&self, session: UsedSession, message: Message) -> Reply {
        if !matches!(message.kind(), Kind::Request { .. }) {
            session.hub().receive(message, &self.nowhere);
            return reply::empty(StatusCode::ACCEPTED);
        }
        self.tally.count(Era::Legacy);
        self.note(&session, &message);
        let inbox = Inbox::new(&self.limits);
        session.hub().receive(message, inbox.mailbox());
        answer(session, inbox, Form::Single, 1, Vec::new(), &self.limits).await
    }

    /// Notes what holds for the whole session.
    fn note(&self, session: &HttpSession, request: &Message) {
        if let Some(kept) = &self.kept
            && let Some(mut record) = session.record()
        {
            kept.heard(&mut record, request);
        }
    }

    async fn batch(&self, session: UsedSession, messages: Vec<Result<Message, ParseError>>) -> Result<Reply, Refusal> {
        let version = session.hub().version();
        if !version.allows_batches() {
            let reason = format!("The session speaks {version}, which has no batches: send each message on its own.");
            return Err(reply::refusal(StatusCode::BAD_REQUEST, reason));
        }
        let inbox = Inbox::new(&self.limits);
        let (mut expected, mut collected) = (0, Vec::new());
        for message in messages {
            match message {
                Ok(message) => {
                    if matches!(message.kind(), Kind::Request { .. }) {
                        expected += 1;
                        self.tally.count(Era::Legacy);
                        self.note(&session, &message);
                    }
                    session.hub().receive(message, inbox.mailbox());
                }
                Err(error) => {
                    expected += 1;
                    collected.push(Outgoing { message: error_response(&error), kind: OutgoingKind::Response });
                }
            }
        }
        if expected == 0 {
            return Ok(reply::empty(StatusCode::ACCEPTED));
        }
        Ok(answer(session, inbox, Form::Batch, expected, collected, &self.limits).await)
    }

    /// A new session. Its answer cannot be streamed: the id of the session stands before it.
    async fn initialize(&self, home: Home<'_>, principal: &Principal, message: Message) -> Result<Reply, Refusal> {
        self.tally.count(Era::Legacy);
        let id = reply_id(&message);
        let (place, evicted) = self.sessions.reserve().map_err(|full| {
            let reason = "The gateway has as many sessions as it may have, and all are in use. Try again later.";
            reply::retry_after(reply::refusal_of(StatusCode::SERVICE_UNAVAILABLE, &id, reason), full.retry_after)
        })?;
        if let Some(evicted) = evicted {
            self.ended(&evicted.value);
        }
        let unsolicited = Mailbox::new(self.limits.mailbox);
        let mut initialized = home.endpoint.initialize(principal, message.clone(), Arc::clone(&unsolicited)).await;
        // Clients rarely end their sessions: one that nobody uses makes room for one that somebody does.
        if let Err(Refused { reason: RefusedReason::Saturated { .. }, .. }) = initialized
            && let Ok(evicted) = self.sessions.evict()
        {
            self.ended(&evicted.value);
            initialized = home.endpoint.initialize(principal, message.clone(), Arc::clone(&unsolicited)).await;
        }
        let (session, response) = initialized.map_err(refused)?;
        let name = session.id().as_str().to_owned();
        let Ok(value) = HeaderValue::from_str(&name) else {
            session.close();
            return Err(reply::refusal_of(StatusCode::INTERNAL_SERVER_ERROR, &id, "The session's id is not ASCII."));
        };
        let version = session.version();
        let budget = Arc::clone(&self.replay);
        let mut session = HttpSession::new(session, home.address, unsolicited, self.limits.replay, budget);
        if let Some(kept) = &self.kept {
            session = session.recorded(kept.opened(&name, home.address, principal, &message, version.as_str()), false);
        }
        place.take(&name, principal, session);
        let mut reply = reply::json(StatusCode::OK, response);
        reply.headers_mut().insert(SESSION_ID, value);
        Ok(reply)
    }

    /// A stream for what belongs to no request, or one that goes on.
    async fn get(&self, home: Home<'_>, principal: &Principal, headers: &HeaderMap) -> Result<Reply, Refusal> {
        headers::accepts_events(headers)?;
        headers::speaks_version(headers)?;
        let session = self.session(home, required_session(headers)?, principal).await?;
        let feed = match headers.get(LAST_EVENT_ID) {
            None => EventFeed::listen(session, &self.limits).ok_or_else(no_such_session)?,
            Some(last) => {
                let last = last.to_str().ok().and_then(|last| last.parse().ok());
                let last = last.ok_or_else(|| unresumable(ResumeError::Unknown))?;
                if session.is_resumed() && !session.streams().knows(last) {
                    // Of before the restart; what is to come is heard all the same.
                    EventFeed::listen(session, &self.limits).ok_or_else(no_such_session)?
                } else {
                    EventFeed::resume(session, last, &self.limits).map_err(unresumable)?
                }
            }
        };
        Ok(reply::events(Body::Events(Box::new(feed))))
    }

    /// The end of a session.
    async fn delete(&self, home: Home<'_>, principal: &Principal, headers: &HeaderMap) -> Result<Reply, Refusal> {
        headers::speaks_version(headers)?;
        let id = required_session(headers)?;
        drop(self.session(home, id, principal).await?);
        let session = self.sessions.remove(id, principal).ok_or_else(no_such_session)?;
        self.ended(&session.value);
        if let Some(kept) = &self.kept {
            kept.written().await;
        }
        Ok(reply::empty(StatusCode::NO_CONTENT))
    }

    async fn session(&self, home: Home<'_>, id: &str, principal: &Principal) -> Result<UsedSession, Refusal> {
        let session = match self.sessions.get(id, principal) {
            Some(session) => Some(session),
            None => self.resumed(home, id, principal).await,
        };
        session.filter(|session| session.is_of(home.address)).ok_or_else(no_such_session)
    }

    /// A session from before a restart of the gateway.
    async fn resumed(&self, home: Home<'_>, id: &str, principal: &Principal) -> Option<UsedSession> {
        let kept = self.kept.as_ref()?;
        let _turn = kept.turn.lock().await;
        if let Some(session) = self.sessions.get(id, principal) {
            // Somebody else was faster.
            return Some(session);
        }
        let Found { past, record } = kept.find(id, home.address, principal).await?;
        let (place, evicted) = self.sessions.reserve().ok()?;
        if let Some(evicted) = evicted {
            self.ended(&evicted.value);
        }
        let unsolicited = Mailbox::new(self.limits.mailbox);
        let session = home.endpoint.resume(principal, &past, Arc::clone(&unsolicited)).ok()?;
        let replay = Arc::clone(&self.replay);
        let session = HttpSession::new(session, home.address, unsolicited, self.limits.replay, replay);
        Some(place.take(id, principal, session.recorded(record, true)))
    }

    /// Ends a session for good.
    fn ended(&self, session: &HttpSession) {
        session.end();
        if let (Some(kept), Some(record)) = (&self.kept, session.record()) {
            kept.ended(&record);
        }
    }
}

const NO_SESSION: &str =
    "The `Mcp-Session-Id` header is missing. Begin a session with `initialize` and send its id with every request.";

fn required_session(headers: &HeaderMap) -> Result<&str, Refusal> {
    headers::session_id(headers).ok_or_else(|| reply::refusal(StatusCode::BAD_REQUEST, NO_SESSION))
}

fn no_such_session() -> Refusal {
    let reason = "There is no session with the id in `Mcp-Session-Id`: it ended, or never was. Begin a new one.";
    reply::refusal(StatusCode::NOT_FOUND, reason)
}

fn unresumable(error: ResumeError) -> Refusal {
    match error {
        ResumeError::Unknown => reply::refusal(StatusCode::BAD_REQUEST, error),
        // 404 would say to the client that its session is over.
        ResumeError::Gone => reply::refusal(StatusCode::GONE, error),
        // A stream that ends at once would be asked for again and again: official clients count only a result as an
        // end, not an error. They take this as an end, too.
        ResumeError::Over => reply::not_allowed("POST, DELETE", error),
    }
}

fn refused(refused: Refused) -> Refusal {
    match refused.reason {
        RefusedReason::Saturated { retry_after } => {
            reply::retry_after(Box::new(reply::json(StatusCode::SERVICE_UNAVAILABLE, refused.response)), retry_after)
        }
        // The exchange was fine; what is behind it is not. Clients show the text of an error that comes with 200.
        RefusedReason::Unavailable => Box::new(reply::json(StatusCode::OK, refused.response)),
        RefusedReason::Invalid => Box::new(reply::json(StatusCode::BAD_REQUEST, refused.response)),
    }
}

/// When a client that was sent away because too much comes in at once may try again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Reads a body as a message or a batch, and returns it with its share of what the gateway can hold.
pub(crate) async fn read_frame(
    body: Incoming,
    limits: &Limits,
    mut share: Share,
    slot: &Slot,
) -> Result<(Frame, Share), Refusal> {
    let bytes = body::read(body, limits, &mut share).await.map_err(|error| {
        let status = match error {
            ReadError::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            ReadError::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
            ReadError::Broken => StatusCode::BAD_REQUEST,
            ReadError::Exhausted => {
                let error = ErrorObject::new(ErrorCode::SATURATED, error.to_string()).response(&ErrorId::Absent);
                return reply::retry_after(Box::new(reply::json(StatusCode::SERVICE_UNAVAILABLE, error)), TRY_AGAIN);
            }
        };
        reply::refusal(status, error)
    })?;
    slot.meter().whole(Reading::Head);
    match Frame::parse(bytes) {
        Ok(frame) => Ok((frame, share)),
        Err(error) => Err(Box::new(reply::json(StatusCode::BAD_REQUEST, error_response(&error)))),
    }
}

/// The error that tells a client what is wrong with what it sent.
pub(crate) fn error_response(error: &ParseError) -> Bytes {
    ErrorObject::from(error).response(&error.reply_id())
}

/// The id that an error about a message carries.
fn reply_id(message: &Message) -> ErrorId {
    match message.kind() {
        Kind::Request { id, .. } => ErrorId::Known(id.clone()),
        Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => ErrorId::Null,
    }
}

fn is_initialize(message: &Message) -> bool {
    matches!(message.kind(), Kind::Request { ref method, .. } if method == "initialize")
}
