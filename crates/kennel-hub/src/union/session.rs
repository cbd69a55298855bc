//! A client's session with many servers: one with each of those that it has used.

use crate::client::Introduction;
use crate::fault::Fault;
use crate::level::Level;
use crate::mailbox::{Mailbox, MailboxLimits, Outgoing, OutgoingKind};
use crate::principal::{Principal, SessionId};
use crate::session::Session;
use crate::sync::lock;
use crate::union::lens::Answer;
use crate::union::listen::Hearing;
use crate::union::member::Member;
use crate::union::route::Routed;
use crate::union::{Members, Union};
use kennel_wire::{Era, ErrorCode, Id, Kind, Message, ProtocolVersion, RawJson, request, success_response};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// A client's session with many servers. Cheap to clone; it ends with its last clone, or when it is closed.
#[derive(Clone)]
pub struct UnionSession(Arc<Hold>);

struct Hold {
    union: Union,
    id: SessionId,
    principal: Principal,
    introduction: Introduction,
    version: ProtocolVersion,
    unsolicited: Arc<Mailbox>,
    /// For what has no answer, and for answers that nobody waits for.
    nowhere: Arc<Mailbox>,
    state: Mutex<State>,
    hearing: OnceLock<Hearing>,
}

/// A session, for those that only tell it something.
#[derive(Clone)]
pub(crate) struct WeakSession(Weak<Hold>);

impl WeakSession {
    /// Lets go of the sessions with servers that are not among these any more: they finish what they were asked, and
    /// hear and say nothing else.
    pub(crate) fn keep_only(&self, members: &Members) {
        if let Some(hold) = self.0.upgrade() {
            hold.keep_only(members);
        }
    }
}

impl fmt::Debug for WeakSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WeakSession")
    }
}

#[derive(Default)]
struct State {
    seats: HashMap<Arc<str>, Seat>,
    /// Sessions with servers that have been replaced, as long as they have something open.
    leaving: Vec<Session>,
    level: Option<Level>,
    is_closed: bool,
}

/// The session with one server.
struct Seat {
    member: Arc<Member>,
    session: Session,
}

impl UnionSession {
    pub(crate) fn open(
        union: &Union,
        principal: &Principal,
        id: SessionId,
        introduction: Introduction,
        unsolicited: Arc<Mailbox>,
    ) -> Self {
        let version = introduction.version.unwrap_or(ProtocolVersion::LATEST_LEGACY);
        let nowhere = Mailbox::new(MailboxLimits::default());
        nowhere.close();
        let hold = Arc::new(Hold {
            union: union.clone(),
            id,
            principal: principal.clone(),
            introduction,
            version: version.min(ProtocolVersion::LATEST_LEGACY),
            unsolicited,
            nowhere,
            state: Mutex::default(),
            hearing: OnceLock::new(),
        });
        let hearing = union.0.listeners.session(&hold.unsolicited, WeakSession(Arc::downgrade(&hold)));
        let _ = hold.hearing.set(hearing);
        Self(hold)
    }

    pub(crate) fn union(&self) -> &Union {
        &self.0.union
    }

    pub(crate) fn introduction(&self) -> &Introduction {
        &self.0.introduction
    }

    /// Its name on the wire.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.0.id
    }

    /// The version that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.0.version
    }

    /// Whose it is.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// Takes a message from the client. Never waits.
    pub fn receive(&self, message: &Message, mailbox: &Arc<Mailbox>) {
        let hold = &*self.0;
        match message.kind() {
            Kind::Request { id, method, .. } => hold.request(message, id, &method, mailbox),
            Kind::Notification { ref method, .. } if method == "notifications/initialized" => {}
            Kind::Notification { ref method, .. } if !is_for_servers(method) => {
                // It goes no further than to be counted.
                if let Some(session) = hold.sessions().first() {
                    session.receive(message.clone(), &hold.nowhere);
                }
            }
            // Whichever server it is for knows it; the others do not.
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => {
                for session in hold.sessions() {
                    session.receive(message.clone(), &hold.nowhere);
                }
            }
        }
    }

    /// Ends the session: what it asked is called off, and processes that served it alone are stopped.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Hold {
    fn request(&self, message: &Message, id: &Id, method: &str, mailbox: &Arc<Mailbox>) {
        let answer = |message| {
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        };
        match method {
            "initialize" => {
                let fault = Fault::refused(ErrorCode::INVALID_REQUEST, "this session has been initialized");
                return answer(fault.response(id));
            }
            "logging/setLevel" => {
                let Some(level) = Level::of(message) else {
                    let fault = Fault::refused(ErrorCode::INVALID_PARAMS, "`params.level` is missing or no level");
                    return answer(fault.response(id));
                };
                lock(&self.state).level = Some(level);
                for session in self.sessions() {
                    self.set_level(&session, level);
                }
                return answer(success_response(id, &RawJson::empty_object()));
            }
            _ => {}
        }
        let routed = self.union.serve(Era::Legacy, &self.introduction, message, mailbox);
        let Some(Routed { member, request, mailbox }) = routed else { return };
        match self.seat(&member) {
            Ok(session) => session.receive(request, &mailbox),
            Err(fault) => answer(fault.response(id)),
        }
    }

    /// The session with a server, opened if there is none.
    fn seat(&self, member: &Arc<Member>) -> Result<Session, Fault> {
        let mut state = lock(&self.state);
        if state.is_closed {
            return Err(Fault::refused(ErrorCode::INVALID_REQUEST, "this session has ended"));
        }
        state.leaving.retain(Session::is_used);
        if let Some(seat) = state.seats.get(&member.name) {
            if seat.member.hub.leads_to(&member.hub) {
                return Ok(seat.session.clone());
            }
            // The server was replaced; what it still works on is finished.
            if let Some(seat) = state.seats.remove(&member.name) {
                state.leaving.push(seat.session);
            }
        }
        let unsolicited = Mailbox::onward(&self.unsolicited, member.lens(Answer::Plain));
        let session = member.hub.begin(&self.principal, self.introduction.clone(), unsolicited)?;
        let _ = session.client().version.set(self.version);
        let seat = Seat { member: Arc::clone(member), session: session.clone() };
        state.seats.insert(Arc::clone(&member.name), seat);
        let level = state.level;
        drop(state);
        if let Some(level) = level {
            self.set_level(&session, level);
        }
        Ok(session)
    }

    /// Tells a server how much the client wants to hear of what it logs; one that logs nothing need not know.
    fn set_level(&self, session: &Session, level: Level) {
        let params = RawJson::object([("level", &level.raw())]);
        let message = request(&Id::string("level"), "logging/setLevel", &params);
        if let Ok(message) = Message::parse(message) {
            session.receive(message, &self.nowhere);
        }
    }

    fn keep_only(&self, members: &Members) {
        let ended: Vec<_> = {
            let mut state = lock(&self.state);
            let State { seats, leaving, .. } = &mut *state;
            let is_gone = |seat: &Seat| {
                members.get(&seat.member.name).is_none_or(|member| !seat.member.hub.leads_to(&member.hub))
            };
            leaving.extend(seats.extract_if(|_, seat| is_gone(seat)).map(|(_, seat)| seat.session));
            leaving.extract_if(.., |session| !session.is_used()).collect()
        };
        // Their end takes locks of its own.
        drop(ended);
    }

    fn sessions(&self) -> Vec<Session> {
        let state = lock(&self.state);
        state.seats.values().map(|seat| &seat.session).chain(&state.leaving).cloned().collect()
    }

    fn close(&self) {
        let ended = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            (std::mem::take(&mut state.seats), std::mem::take(&mut state.leaving))
        };
        ended.0.values().map(|seat| &seat.session).chain(&ended.1).for_each(Session::close);
        self.unsolicited.finish();
    }
}

/// Whether servers may hear a notification of a client.
fn is_for_servers(method: &str) -> bool {
    matches!(
        method,
        "notifications/cancelled"
            | "notifications/progress"
            | "notifications/roots/list_changed"
            | "notifications/tasks/status"
    )
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for UnionSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("UnionSession").field("principal", &self.0.principal).finish_non_exhaustive()
    }
}
