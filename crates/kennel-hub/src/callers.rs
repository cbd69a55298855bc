//! Those who open no session: who they are, and the session that Kennel keeps for each of them as long as it is used.

use crate::client::{ClientKind, Declaration, Introduction};
use crate::fault::Fault;
use crate::hub::Hub;
use crate::mailbox::{Mailbox, MailboxLimits, Outgoing, OutgoingKind};
use crate::mirrored::HeaderParameter;
use crate::pool::Core;
use crate::principal::Principal;
use crate::session::Session;
use crate::sync::lock;
use crate::union::Hearing;
use kennel_wire::{ErrorCode, Id, Message};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Who makes requests that stand for themselves. What the same caller asks may be answered by the same process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    principal: Principal,
    connection: Option<u64>,
}

impl Caller {
    /// A principal, over whichever connection.
    #[must_use]
    pub fn new(principal: Principal) -> Self {
        Self { principal, connection: None }
    }

    /// A principal on a connection of its own, which makes it another caller than on any other.
    #[must_use]
    pub fn connected(principal: Principal) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self { principal, connection: Some(LAST.fetch_add(1, Ordering::Relaxed)) }
    }

    /// Who it is.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }
}

/// A request of a caller. Dropped before its answer is there, it is called off.
#[derive(Default)]
pub struct Asked {
    open: Option<Open>,
    /// What it became, where it is for several servers.
    parts: Vec<Asked>,
    _hearing: Option<Hearing>,
}

struct Open {
    session: Session,
    id: Id,
    mailbox: Arc<Mailbox>,
}

impl Asked {
    /// One that nothing has to be done for any more.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// One that is for several servers, and for whoever tells what changes.
    pub(crate) fn joint(parts: Vec<Self>, hearing: Hearing) -> Self {
        Self { open: None, parts, _hearing: Some(hearing) }
    }

    /// Says that the answer is there.
    pub fn answered(mut self) {
        self.open = None;
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(Open { session, id, mailbox }) = self.open.take() {
            session.call_off(&id, &mailbox);
        }
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.open.as_ref().map(|open| &open.id);
        formatter.debug_struct("Asked").field("id", &id).field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// The sessions of callers; one caller may be several kinds of client.
#[derive(Default)]
pub(crate) struct Callers {
    sessions: HashMap<Caller, Vec<Kept>>,
}

struct Kept {
    kind: ClientKind,
    session: Session,
    used: Instant,
}

impl Callers {
    fn find(&mut self, caller: &Caller, kind: &ClientKind) -> Option<Session> {
        let kept = self.sessions.get_mut(caller)?.iter_mut().find(|kept| kept.kind == *kind)?;
        kept.used = Instant::now();
        Some(kept.session.clone())
    }

    fn keep(&mut self, caller: &Caller, kind: &ClientKind, session: Session) {
        let kept = Kept { kind: kind.detached(), session, used: Instant::now() };
        self.sessions.entry(caller.clone()).or_default().push(kept);
    }

    /// Takes all out.
    pub(crate) fn clear(&mut self) -> Vec<Session> {
        self.sessions.drain().flat_map(|(_, kept)| kept).map(|kept| kept.session).collect()
    }

    /// Takes those out that were unused for so long and have nothing open.
    fn take_unused(&mut self, longest: Duration) -> Vec<Session> {
        self.take(|kept| kept.used.elapsed() >= longest && !kept.session.is_busy())
    }

    /// Takes the one out that was unused the longest and has nothing open.
    fn take_oldest(&mut self) -> Vec<Session> {
        let idle = self.sessions.values().flatten().filter(|kept| !kept.session.is_busy());
        let Some(oldest) = idle.map(|kept| kept.used).min() else { return Vec::new() };
        self.take(|kept| kept.used == oldest && !kept.session.is_busy())
    }

    fn take(&mut self, mut wanted: impl FnMut(&Kept) -> bool) -> Vec<Session> {
        let mut taken = Vec::new();
        self.sessions.retain(|_, kept| {
            taken.extend(kept.extract_if(.., |kept| wanted(kept)).map(|kept| kept.session));
            !kept.is_empty()
        });
        taken
    }
}

impl Hub {
    /// Serves one request that stands for itself (2026-07-28). Everything about it arrives in the mailbox, last its
    /// answer. It is called off when what is returned is dropped.
    pub fn ask(&self, caller: &Caller, request: Message, mailbox: &Arc<Mailbox>) -> Asked {
        if let Some(successor) = self.successor() {
            return successor.ask(caller, request, mailbox);
        }
        let Some(id) = request.id().cloned() else { return Asked::nothing() };
        let opened = match Declaration::read(&request) {
            Ok(declaration) => self.caller(caller, &declaration.kind(), || declaration.introduction()),
            Err(text) => Err(Fault::refused(ErrorCode::INVALID_PARAMS, text)),
        };
        match opened {
            Ok(session) => {
                session.receive(request, mailbox);
                let open = Open { session, id, mailbox: Arc::clone(mailbox) };
                Asked { open: Some(open), parts: Vec::new(), _hearing: None }
            }
            Err(fault) => {
                mailbox.post(Outgoing { message: fault.response(&id), kind: OutgoingKind::Response });
                Asked::nothing()
            }
        }
    }

    /// Forgets a caller, whose connection has ended: what it asked is called off, and a process of its own is stopped.
    pub fn leave(&self, caller: &Caller) {
        // Their end takes the lock again.
        let sessions = lock(&self.core().pool).callers.sessions.remove(caller);
        for kept in sessions.into_iter().flatten() {
            kept.session.close();
        }
        if let Some(successor) = self.successor() {
            successor.leave(caller);
        }
    }

    /// Ends all streams of `subscriptions/listen` in order, so that their clients know before the doors close.
    pub fn end_streams(&self) {
        let exchanges: Vec<_> = lock(&self.core().pool).exchanges.values().cloned().collect();
        for exchange in exchanges {
            exchange.end_streams();
        }
    }

    /// The arguments of a tool that HTTP clients repeat in headers, as far as the tool is known.
    #[must_use]
    pub fn header_parameters(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        if let Some(successor) = self.successor() {
            return successor.header_parameters(tool);
        }
        self.core().book.mirrored(tool)
    }

    /// The session of a caller that opens none.
    pub(crate) fn caller(
        &self,
        caller: &Caller,
        kind: &ClientKind,
        introduction: impl Fn() -> Introduction,
    ) -> Result<Session, Fault> {
        let core = self.core();
        if let Some(session) = lock(&core.pool).callers.find(caller, kind) {
            return Ok(session);
        }
        // Whatever belongs to no request has nobody to go to.
        let unsolicited = Mailbox::new(MailboxLimits::default());
        unsolicited.close();
        let open = || {
            let introduction = Introduction { is_stateless: caller.connection.is_none(), ..introduction() };
            self.begin(caller.principal(), introduction, Arc::clone(&unsolicited))
        };
        let session = match open() {
            Err(fault) if fault.is_saturation() => {
                let oldest = lock(&core.pool).callers.take_oldest();
                // Its end takes the lock again.
                drop(oldest);
                open()?
            }
            opened => opened?,
        };
        // Where another was faster, this one is dropped after the lock is released, which its end takes again.
        let mut pool = lock(&core.pool);
        if let Some(first) = pool.callers.find(caller, kind) {
            drop(pool);
            return Ok(first);
        }
        pool.callers.keep(caller, kind, session.clone());
        drop(pool);
        core.called.notify_one();
        Ok(session)
    }
}

impl Core {
    /// Ends the sessions of callers that have not called for long, as long as there are any.
    pub(crate) async fn tend_callers(&self) {
        let longest = self.settings.timeouts.caller;
        loop {
            self.called.notified().await;
            while !lock(&self.pool).callers.sessions.is_empty() {
                sleep((longest / 4).max(Duration::from_millis(10))).await;
                let unused = lock(&self.pool).callers.take_unused(longest);
                drop(unused);
            }
        }
    }
}
