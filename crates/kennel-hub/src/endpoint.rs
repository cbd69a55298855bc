//! What clients reach at one address, whatever is behind it.

use crate::callers::{Asked, Caller};
use crate::client::{Declaration, Introduction};
use crate::fault::Fault;
use crate::front::{self, Way};
use crate::hub::{Hub, Refused, RefusedReason};
use crate::mailbox::{Mailbox, MailboxLimits};
use crate::mirrored::HeaderParameter;
use crate::principal::{Principal, SessionId};
use crate::session::Session;
use crate::union::{Union, UnionSession};
use bytes::Bytes;
use kennel_wire::{Era, ErrorCode, Id, Message, ProtocolVersion, RawJson, request};
use std::sync::Arc;

/// One server, or many as one. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// One server.
    Server(Hub),
    /// Many as one.
    Union(Union),
}

/// A client's session at an endpoint. Cheap to clone; it ends with its last clone, or when it is closed.
#[derive(Debug, Clone)]
pub enum EndpointSession {
    /// With one server.
    Server(Session),
    /// With many.
    Union(UnionSession),
}

impl Endpoint {
    /// Opens a session with a client's `initialize` and returns the answer to it.
    pub async fn initialize(
        &self,
        principal: &Principal,
        request: Message,
        unsolicited: Arc<Mailbox>,
    ) -> Result<(EndpointSession, Bytes), Refused> {
        match self {
            Self::Server(hub) => {
                let (session, response) = hub.initialize(principal, request, unsolicited).await?;
                Ok((EndpointSession::Server(session), response))
            }
            Self::Union(union) => {
                let (session, response) = union.initialize(principal, &request, unsolicited)?;
                Ok((EndpointSession::Union(session), response))
            }
        }
    }

    /// Goes on with a session that a client has from before a restart of the gateway: a process is introduced to the
    /// client when the first request needs one, as after any restart.
    pub fn resume(
        &self,
        principal: &Principal,
        past: &PastSession,
        unsolicited: Arc<Mailbox>,
    ) -> Result<EndpointSession, Refused> {
        let id = Id::number(0);
        let refused = |fault: &Fault| Refused { response: fault.response(&id), reason: RefusedReason::Invalid };
        let invalid = || refused(&Fault::refused(ErrorCode::INVALID_REQUEST, "what is kept of the session is damaged"));
        let params = RawJson::parse(past.introduction.clone()).map_err(|_| invalid())?;
        let request = Message::parse(request(&id, "initialize", &params)).map_err(|_| invalid())?;
        let introduction = Introduction::read(&request).map_err(|_| invalid())?;
        let name = SessionId::known(&past.id);
        let session = match self {
            Self::Server(hub) => {
                let session = hub.open(principal, name, introduction, unsolicited).map_err(|fault| refused(&fault))?;
                let _ = session.client().version.set(past.version);
                EndpointSession::Server(session)
            }
            Self::Union(union) => {
                EndpointSession::Union(UnionSession::open(union, principal, name, introduction, unsolicited))
            }
        };
        session.stand(past);
        Ok(session)
    }

    /// Serves one request of a caller that opens no session and says nothing about itself; the answer arrives in the
    /// mailbox.
    pub fn call(&self, caller: &Caller, request: Message, mailbox: &Arc<Mailbox>) {
        match self {
            Self::Server(hub) => {
                let introduction = |_: &Message| Introduction::plain();
                if let Some((request, mailbox)) = screened(hub, Era::Legacy, introduction, request, mailbox) {
                    hub.call(caller, request, &mailbox);
                }
            }
            Self::Union(union) => union.call(caller, &request, mailbox),
        }
    }

    /// Serves one request that stands for itself (2026-07-28). Everything about it arrives in the mailbox, last its
    /// answer. It is called off when what is returned is dropped.
    pub fn ask(&self, caller: &Caller, request: Message, mailbox: &Arc<Mailbox>) -> Asked {
        match self {
            Self::Server(hub) => {
                // What says nothing about its sender is refused by the hub.
                let introduction = |request: &Message| {
                    Declaration::read(request).map_or_else(|_| Introduction::plain(), |said| said.introduction())
                };
                match screened(hub, Era::Modern, introduction, request, mailbox) {
                    Some((request, mailbox)) => hub.ask(caller, request, &mailbox),
                    None => Asked::nothing(),
                }
            }
            Self::Union(union) => union.ask(caller, &request, mailbox),
        }
    }

    /// Forgets a caller, whose connection has ended.
    pub fn leave(&self, caller: &Caller) {
        match self {
            Self::Server(hub) => hub.leave(caller),
            Self::Union(union) => union.leave(caller),
        }
    }

    /// Ends all streams of `subscriptions/listen` in order.
    pub fn end_streams(&self) {
        match self {
            Self::Server(hub) => hub.end_streams(),
            Self::Union(union) => union.end_streams(),
        }
    }

    /// The arguments of a tool that HTTP clients repeat in headers, as far as the tool is known.
    #[must_use]
    pub fn header_parameters(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        match self {
            Self::Server(hub) => match hub.front().way() {
                Way::Straight => hub.header_parameters(tool),
                Way::Through(union) => union.header_parameters(tool),
                Way::Closed => None,
            },
            Self::Union(union) => union.header_parameters(tool),
        }
    }
}

/// A request as the rules for the server's own address let it through, and where its answer goes; nothing where it is
/// answered.
fn screened(
    hub: &Hub,
    era: Era,
    introduction: impl FnOnce(&Message) -> Introduction,
    request: Message,
    mailbox: &Arc<Mailbox>,
) -> Option<(Message, Arc<Mailbox>)> {
    match hub.front().way() {
        Way::Straight => Some((request, Arc::clone(mailbox))),
        Way::Through(union) => union.screen(era, &introduction(&request), request, mailbox),
        Way::Closed => {
            if let Some(id) = request.id() {
                front::refuse(id, mailbox);
            }
            None
        }
    }
}

/// What is known of a session from before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastSession {
    /// Its name on the wire.
    pub id: String,
    /// The parameters of the client's `initialize`.
    pub introduction: Bytes,
    /// The version that was agreed on.
    pub version: ProtocolVersion,
    /// The log level that the client wanted.
    pub level: Option<String>,
    /// The resources that it had subscribed to.
    pub subscriptions: Vec<String>,
}

impl EndpointSession {
    /// Asks again for what holds for the whole session, as the client did before.
    fn stand(&self, past: &PastSession) {
        let nowhere = Mailbox::new(MailboxLimits::default());
        nowhere.close();
        let again = |method: &str, name: &str, value: &str| {
            let params = RawJson::object([(name, &RawJson::string(value))]);
            if let Ok(message) = Message::parse(request(&Id::string("again"), method, &params)) {
                self.receive(message, &nowhere);
            }
        };
        if let Some(level) = &past.level {
            again("logging/setLevel", "level", level);
        }
        for address in &past.subscriptions {
            again("resources/subscribe", "uri", address);
        }
    }

    /// Its name on the wire.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        match self {
            Self::Server(session) => session.id(),
            Self::Union(session) => session.id(),
        }
    }

    /// The version that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        match self {
            Self::Server(session) => session.version(),
            Self::Union(session) => session.version(),
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        match self {
            Self::Server(session) => session.principal(),
            Self::Union(session) => session.principal(),
        }
    }

    /// Takes a message from the client. Never waits.
    pub fn receive(&self, message: Message, mailbox: &Arc<Mailbox>) {
        match self {
            Self::Server(session) => session.receive_at_door(message, mailbox),
            Self::Union(session) => session.receive(&message, mailbox),
        }
    }

    /// Ends the session.
    pub fn close(&self) {
        match self {
            Self::Server(session) => session.close(),
            Self::Union(session) => session.close(),
        }
    }
}
