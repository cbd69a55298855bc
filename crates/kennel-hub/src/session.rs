//! The hold of a door on one client session.

use crate::catalog::List;
use crate::client::Client;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::front::{self, Front, Way};
use crate::hub::Hub;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pool::Core;
use crate::principal::{Principal, SessionId};
use crate::settings::ProcessModel;
use kennel_wire::{Era, Id, Kind, Message, ProtocolVersion};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// One client session. Cheap to clone; it ends with its last clone, or when it is closed.
#[derive(Clone)]
pub struct Session(Arc<Hold>);

struct Hold {
    client: Arc<Client>,
    place: RwLock<Place>,
    /// What stands before the server, whichever hub serves it.
    front: Arc<Front>,
}

/// Where a session is served just now.
#[derive(Clone)]
struct Place {
    core: Arc<Core>,
    exchange: Arc<Exchange>,
    /// Where it was served before; calls may be in flight there.
    former: Option<(Arc<Core>, Arc<Exchange>)>,
}

impl Session {
    pub(crate) fn new(core: Arc<Core>, client: Arc<Client>, exchange: Arc<Exchange>) -> Self {
        let front = Hub(Arc::clone(&core)).front();
        Self(Arc::new(Hold { client, place: RwLock::new(Place { core, exchange, former: None }), front }))
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.0.client
    }

    pub(crate) fn exchange(&self) -> Arc<Exchange> {
        self.0.place().exchange
    }

    /// Its name on the wire.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.0.client.id
    }

    /// The version that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.0.client.version.get().copied().unwrap_or(ProtocolVersion::LATEST_LEGACY)
    }

    /// Whose it is.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.0.client.principal
    }

    /// Takes a message from a client at the server's own address, and looks at it as the rules for that address say.
    pub(crate) fn receive_at_door(&self, message: Message, mailbox: &Arc<Mailbox>) {
        let Kind::Request { id, .. } = message.kind() else { return self.receive(message, mailbox) };
        match self.0.front.way() {
            Way::Straight => self.receive(message, mailbox),
            Way::Through(union) => {
                if let Some((request, mailbox)) =
                    union.screen(Era::Legacy, &self.0.client.introduction, message, mailbox)
                {
                    self.receive(request, &mailbox);
                }
            }
            Way::Closed => front::refuse(id, mailbox),
        }
    }

    /// Takes a message from the client. Never waits.
    ///
    /// What belongs to a request arrives in `mailbox`, in order, and last its answer. Nothing comes back for a
    /// notification or an answer of the client.
    #[expect(clippy::needless_pass_by_value, reason = "a message is handed over, whatever becomes of it")]
    pub fn receive(&self, message: Message, mailbox: &Arc<Mailbox>) {
        let served = self.0.served(|place| {
            if self.0.client.is_closed() {
                return Err(place.exchange.closing());
            }
            // What a process of before has asked, and what was asked of it, is known to it alone.
            if let (Some((core, former)), false) = (&place.former, matches!(message.kind(), Kind::Request { .. }))
                && !core.closing.is_cancelled()
            {
                former.receive(&self.0.client, &message, mailbox);
            }
            place.receive(&self.0.client, &message, mailbox)
        });
        if let (Err(fault), Some(id), Some(_)) = (served, message.id(), message.method()) {
            mailbox.post(Outgoing { message: fault.response(id), kind: OutgoingKind::Response });
        }
    }

    /// Calls off what was asked under this id with this mailbox, as if the client had cancelled it.
    pub(crate) fn call_off(&self, id: &Id, mailbox: &Arc<Mailbox>) {
        let client = &self.0.client;
        let Place { core, exchange, former } = self.0.place();
        let places = [(core, exchange)].into_iter().chain(former);
        for (core, exchange) in places {
            exchange.call_off(client, id, mailbox);
            if core.settings.model == ProcessModel::PerCall {
                core.calls_of(client).iter().for_each(|call| call.call_off(client, id, mailbox));
            }
        }
    }

    /// Whether something that it asked is not answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.0.client.is_busy()
    }

    /// Whether something that it asked is not answered, or somebody else has it just now and may be about to ask.
    pub(crate) fn is_used(&self) -> bool {
        Arc::strong_count(&self.0) > 1 || self.is_busy()
    }

    /// Ends the session: what it asked is called off, and a process that served it alone is stopped.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Place {
    fn receive(&self, client: &Arc<Client>, message: &Message, mailbox: &Arc<Mailbox>) -> Result<(), Fault> {
        let Self { core, exchange, .. } = self;
        let takes_a_process = match message.kind() {
            Kind::Request { method, .. } => {
                core.settings.model == ProcessModel::PerCall && !is_about_the_session(&method)
            }
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => {
                // Whichever process the client means knows it; the others do not.
                if core.settings.model == ProcessModel::PerCall {
                    core.calls_of(client).iter().for_each(|call| call.receive(client, message, mailbox));
                }
                false
            }
        };
        if !takes_a_process {
            exchange.receive(client, message, mailbox);
        } else if let Some(call) = core.call_to_resume(client, message) {
            call.receive(client, message, mailbox);
        } else {
            let call = core.for_one_call(client)?;
            call.receive(client, message, mailbox);
            // What was answered without the process needs none.
            call.ended_call();
        }
        Ok(())
    }
}

impl Hold {
    fn place(&self) -> Place {
        self.place.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets `act` use the place where the session is served. Nothing takes that place before it returns.
    fn served(&self, act: impl FnOnce(&Place) -> Result<(), Fault>) -> Result<(), Fault> {
        loop {
            let place = self.place();
            let successor = place.core.successor();
            let Some(next) = &*successor else { return act(&place) };
            let next = Arc::clone(next);
            drop(successor);
            self.follow(&place, next)?;
        }
    }

    /// Goes where the hub of a session has handed over to.
    fn follow(&self, from: &Place, next: Arc<Core>) -> Result<(), Fault> {
        let mut place = self.place.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&place.core, &from.core) {
            // Another request was faster.
            return Ok(());
        }
        let exchange = next.assigned(&self.client)?;
        next.session_began();
        from.core.session_ended();
        *place = Place { core: next, exchange, former: Some((Arc::clone(&from.core), Arc::clone(&from.exchange))) };
        Ok(())
    }

    fn close(&self) {
        if !self.client.close() {
            return;
        }
        // It may be known already where it was to go.
        let _ = self.served(|_| Ok(()));
        let Place { core, exchange, former } = self.place();
        for (core, exchange) in
            [(&core, &exchange)].into_iter().chain(former.as_ref().map(|(core, exchange)| (core, exchange)))
        {
            for call in core.calls_of(&self.client) {
                call.leave(&self.client);
                core.retire(&call.name);
            }
            core.let_go(&self.client, exchange);
            core.results.forget(self.client.key);
        }
        self.client.unsolicited.finish();
        core.session_ended();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").field("client", &self.0.client).finish_non_exhaustive()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.close();
    }
}

/// What is answered without a process where each call has its own: from memory, or about the session itself.
fn is_about_the_session(method: &str) -> bool {
    matches!(method, "ping" | "initialize" | "logging/setLevel" | "server/discover" | "subscriptions/listen")
        || List::of_method(method).is_some()
}
