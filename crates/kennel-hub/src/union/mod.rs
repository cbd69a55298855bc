//! Many servers as one: what they offer is joined in one list, and each request goes to the server that it is for.
//!
//! A union is a client of the hubs of its servers and knows nothing of processes. Requests and answers go through it with
//! names and addresses changed ([`names`]) and are otherwise the server's and the client's own; ids, progress, questions
//! to clients and calls that are called off are the hubs' affair, as for any client. What a server offers is taken from
//! what its hub remembers, so that no list waits for processes; a server of which nothing is known is tried out, and a
//! list waits for that only so long: one that comes later is told as a change.

mod lens;
mod listen;
mod member;
mod names;
mod offered;
mod pages;
mod presentation;
mod route;
mod search;
mod session;
mod shelf;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use pages::cursor_again;

pub use member::{MemberSettings, Naming};
pub use offered::{OfferedServer, OfferedTool};
pub use presentation::{AsTheyAre, Presentation, Presented};
pub use session::UnionSession;

use crate::callers::{Asked, Caller};
use crate::catalog::List;
use crate::client::{Declaration, Introduction};
use crate::dialect;
use crate::fault::Fault;
use crate::hub::{Refused, RefusedReason};
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::mirrored::HeaderParameter;
use crate::principal::{Principal, SessionId};
use crate::sync::lock;
use bytes::Bytes;
use kennel_wire::{Era, ErrorCode, Id, Message, ProtocolVersion, RawJson, is_method, success_response};
pub(crate) use listen::Hearing;
use listen::Listeners;
use member::Member;
use route::Routed;
use search::{Finder, Meant};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How the tools of many servers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Surface {
    /// All are listed.
    #[default]
    Full,
    /// One tool finds the others, and one calls them.
    Search,
}

/// How a union is bounded.
#[derive(Debug, Clone)]
pub struct UnionSettings {
    /// Whether names say which server they are of.
    pub naming: Naming,
    /// How tools are shown.
    pub surface: Surface,
    /// How long a list waits for servers of which nothing is known.
    pub patience: Duration,
    /// How many servers are tried out at once; shared by all unions of a gateway.
    pub trials: Arc<Semaphore>,
}

impl Default for UnionSettings {
    fn default() -> Self {
        Self {
            naming: Naming::Joined,
            surface: Surface::Full,
            patience: Duration::from_secs(5),
            trials: Arc::new(Semaphore::new(4)),
        }
    }
}

/// Many servers as one. Cheap to clone; ends with its last clone.
#[derive(Clone)]
pub struct Union(Arc<Core>);

/// A union that somebody else keeps.
#[derive(Clone)]
pub(crate) struct WeakUnion(Weak<Core>);

impl WeakUnion {
    pub(crate) fn upgrade(&self) -> Option<Union> {
        self.0.upgrade().map(Union)
    }
}

impl fmt::Debug for WeakUnion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WeakUnion")
    }
}

type Members = BTreeMap<Arc<str>, Arc<Member>>;

struct Core {
    settings: UnionSettings,
    /// Whether one tool finds the others.
    is_search: AtomicBool,
    members: Mutex<Arc<Members>>,
    finder: Finder,
    /// Whom to tell that a list has changed.
    listeners: Listeners,
    runtime: Handle,
    /// Ends what goes on in the background.
    ended: CancellationToken,
    /// Ends what follows the servers that there are.
    following: Mutex<CancellationToken>,
}

impl Drop for Core {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl Union {
    /// A union of these servers. Must be called within a tokio runtime.
    #[must_use]
    pub fn new(settings: UnionSettings, members: Vec<MemberSettings>) -> Self {
        let union = Self(Arc::new(Core {
            is_search: AtomicBool::new(settings.surface == Surface::Search),
            settings,
            members: Mutex::default(),
            finder: Finder::default(),
            listeners: Listeners::default(),
            runtime: Handle::current(),
            ended: CancellationToken::new(),
            following: Mutex::default(),
        }));
        union.0.report();
        union.set(members);
        union
    }

    /// Makes it a union of these servers from now on. What was asked goes on; clients hear that lists have changed.
    pub fn replace(&self, members: Vec<MemberSettings>) {
        self.set(members);
        self.0.listeners.all_changed();
    }

    /// Shows its tools in this way from now on.
    pub fn show(&self, surface: Surface) {
        self.0.is_search.store(surface == Surface::Search, Ordering::Release);
    }

    pub(crate) fn downgrade(&self) -> WeakUnion {
        WeakUnion(Arc::downgrade(&self.0))
    }

    pub(crate) fn surface(&self) -> Surface {
        if self.0.is_search.load(Ordering::Acquire) { Surface::Search } else { Surface::Full }
    }

    /// Looks at a request at the address of the one server there is: lists its tools and calls them by the rules, and
    /// lets through whatever else the protocol has. Returns what is to be asked of the server, and where the answer goes.
    pub(crate) fn screen(
        &self,
        era: Era,
        introduction: &Introduction,
        request: Message,
        mailbox: &Arc<Mailbox>,
    ) -> Option<(Message, Arc<Mailbox>)> {
        let (Some(id), Some(method)) = (request.id(), request.method()) else { return None };
        let answer = |fault: Fault| {
            mailbox.post(Outgoing { message: fault.response(id), kind: OutgoingKind::Response });
            None
        };
        match &*method {
            "tools/list" => {
                self.page(era, introduction, List::Tools, &request, id.clone(), mailbox);
                None
            }
            "tools/call" => match self.route(introduction, &request, &method, mailbox) {
                Ok(Routed { request, mailbox, .. }) => Some((request, mailbox)),
                Err(fault) => answer(fault),
            },
            _ if is_method(&method) => {
                drop(method);
                Some((request, Arc::clone(mailbox)))
            }
            // Nobody knows whether it is a way to a tool that the rules deny.
            _ => {
                let text = format!("`{method}` is not passed on to a server for whose tools there are rules");
                answer(Fault::refused(ErrorCode::METHOD_NOT_FOUND, text))
            }
        }
    }

    fn set(&self, members: Vec<MemberSettings>) {
        let naming = self.0.settings.naming;
        let members: Members = members
            .into_iter()
            .map(|settings| {
                let member = Member::new(settings, naming);
                (Arc::clone(&member.name), member)
            })
            .collect();
        let members = Arc::new(members);
        let before = std::mem::replace(&mut *lock(&self.0.members), Arc::clone(&members));
        for member in members.values() {
            let same = before.get(&member.name).filter(|before| before.hub.leads_to(&member.hub));
            if same.is_some_and(|before| before.is_late()) {
                member.came_late();
            }
        }
        self.0.listeners.servers_changed(&members);
        self.0.follow();
    }

    /// Opens a session with a client's `initialize` and returns the answer to it, without waiting for any server.
    pub(crate) fn initialize(
        &self,
        principal: &Principal,
        request: &Message,
        unsolicited: Arc<Mailbox>,
    ) -> Result<(UnionSession, Bytes), Refused> {
        let id = request.id().cloned().unwrap_or_else(|| Id::number(0));
        let refused = |fault: &Fault| Refused { response: fault.response(&id), reason: RefusedReason::Invalid };
        let introduction = Introduction::read(request).map_err(|text| {
            let text = format!("this initialize request is not valid: {text}");
            refused(&Fault::refused(ErrorCode::INVALID_PARAMS, text))
        })?;
        let name = SessionId::random().map_err(|fault| refused(&fault))?;
        let session = UnionSession::open(self, principal, name, introduction, unsolicited);
        let response = success_response(&id, &self.introduced(session.version()));
        Ok((session, response))
    }

    /// Serves one request of a caller that opens no session and says nothing about itself.
    pub(crate) fn call(&self, caller: &Caller, request: &Message, mailbox: &Arc<Mailbox>) {
        let Some(id) = request.id() else { return };
        if request.method().as_deref() == Some("initialize") {
            let message = success_response(id, &self.introduced(ProtocolVersion::LATEST_LEGACY));
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
            return;
        }
        if let Some(Routed { member, request, mailbox }) =
            self.serve(Era::Legacy, &Introduction::plain(), request, mailbox)
        {
            member.hub.call(caller, request, &mailbox);
        }
    }

    /// Serves one request that stands for itself (2026-07-28).
    pub(crate) fn ask(&self, caller: &Caller, request: &Message, mailbox: &Arc<Mailbox>) -> Asked {
        let Some(id) = request.id().cloned() else { return Asked::nothing() };
        let introduction = match Declaration::read(request) {
            Ok(declaration) => declaration.introduction(),
            Err(text) => {
                let message = Fault::refused(ErrorCode::INVALID_PARAMS, text).response(&id);
                mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
                return Asked::nothing();
            }
        };
        if request.method().as_deref() == Some("subscriptions/listen") {
            return self.listen(caller, request, &id, mailbox);
        }
        match self.serve(Era::Modern, &introduction, request, mailbox) {
            Some(Routed { member, request, mailbox }) => member.hub.ask(caller, request, &mailbox),
            None => Asked::nothing(),
        }
    }

    /// Forgets a caller, whose connection has ended.
    pub(crate) fn leave(&self, caller: &Caller) {
        for member in self.members().values() {
            member.hub.leave(caller);
        }
    }

    /// Ends all streams of `subscriptions/listen` in order. Those of the servers are ended by their hubs.
    pub(crate) fn end_streams(&self) {
        self.0.listeners.end();
    }

    /// The arguments of a tool that HTTP clients repeat in headers, as far as the tool is known.
    pub(crate) fn header_parameters(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        let (member, own) = self.tool(tool, &Introduction::plain())?;
        member.hub.header_parameters(&own)
    }

    fn members(&self) -> Arc<Members> {
        Arc::clone(&lock(&self.0.members))
    }

    /// Answers a request that is about all servers, and says where another one goes.
    fn serve(
        &self,
        era: Era,
        introduction: &Introduction,
        request: &Message,
        mailbox: &Arc<Mailbox>,
    ) -> Option<Routed> {
        let id = request.id()?.clone();
        let answer = |message| {
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        };
        let method = request.method()?;
        match &*method {
            "ping" if era == Era::Legacy => answer(success_response(&id, &RawJson::empty_object())),
            "server/discover" if era == Era::Modern => {
                let introduced = self.introduced(ProtocolVersion::LATEST_LEGACY);
                answer(success_response(&id, &dialect::discovered(&introduced)));
            }
            // Whoever stands for each request alone has streams instead.
            "resources/subscribe" | "resources/unsubscribe" if era == Era::Modern => {
                let text = format!("there is no `{method}` in this version; use subscriptions/listen");
                answer(Fault::refused(ErrorCode::METHOD_NOT_FOUND, text).response(&id));
            }
            "tools/call" if self.surface() == Surface::Search => match Self::meant(request) {
                Ok(Meant::Search(arguments)) => self.search(era, introduction, arguments, id, mailbox),
                Ok(Meant::Call(call)) => match self.route(introduction, &call, &method, mailbox) {
                    Ok(routed) => return Some(routed),
                    Err(fault) => answer(fault.response(&id)),
                },
                Err(fault) => answer(fault.response(&id)),
            },
            _ => match List::of_method(&method) {
                Some(list) => self.page(era, introduction, list, request, id, mailbox),
                None => match self.route(introduction, request, &method, mailbox) {
                    Ok(routed) => return Some(routed),
                    Err(fault) => answer(fault.response(&id)),
                },
            },
        }
        None
    }

    /// What a union says of itself. It has everything that a server may have, for it may have such a server tomorrow.
    fn introduced(&self, version: ProtocolVersion) -> RawJson {
        let capabilities = json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "completions": {},
            "logging": {},
        });
        let raw =
            |value: serde_json::Value| RawJson::parse(value.to_string()).unwrap_or_else(|_| RawJson::empty_object());
        let mut told = vec![
            ("protocolVersion".to_owned(), RawJson::string(version.as_str())),
            ("capabilities".to_owned(), raw(capabilities)),
        ];
        if let Some(own) = self.introduced_alone() {
            told.extend(own);
        } else {
            let server = json!({ "name": "kennel", "title": "Kennel", "version": env!("CARGO_PKG_VERSION") });
            told.push(("serverInfo".to_owned(), raw(server)));
            told.push(("instructions".to_owned(), RawJson::string(&self.instructions(&Introduction::plain()))));
        }
        RawJson::object(told.iter().map(|(name, value)| (name.as_str(), value)))
    }

    /// What the one server says of itself where there is only one, as far as it is known.
    fn introduced_alone(&self) -> Option<Vec<(String, RawJson)>> {
        if self.0.settings.naming == Naming::Joined {
            return None;
        }
        let members = self.members();
        let member = members.values().next()?;
        let offer = member.hub.core().book.offer_to(&Introduction::plain())?;
        let introduced = offer.introduction.as_ref()?.initialized(&member.name);
        let is_told = |name: &str| matches!(name, "serverInfo" | "instructions");
        Some(introduced.members().into_iter().filter(|(name, _)| is_told(name)).collect())
    }

    fn instructions(&self, introduction: &Introduction) -> String {
        /// What is worth a client's attention.
        const LONGEST: usize = 4000;
        let mut text = String::from(match self.0.settings.naming {
            Naming::Joined => "Several servers as one. A tool or prompt is called `server__name`. The servers:",
            Naming::Own => "The server:",
        });
        for member in self.members().values() {
            let line = match member.about(introduction) {
                Some(about) => format!("\n- {}: {about}", member.name),
                None => format!("\n- {}", member.name),
            };
            if text.len() + line.len() > LONGEST {
                text.push_str("\n- …");
                break;
            }
            text.push_str(&line);
        }
        text
    }
}

impl fmt::Debug for Union {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Union").field(&self.members().keys()).finish()
    }
}
