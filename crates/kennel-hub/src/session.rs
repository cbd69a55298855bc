//! The hold of a door on one client session.

use crate::catalog::List;
use crate::client::Client;
use crate::exchange::Exchange;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pool::Core;
use crate::principal::{Principal, SessionId};
use crate::settings::ProcessModel;
use kennel_wire::{Id, Kind, Message, ProtocolVersion};
use std::fmt;
use std::sync::Arc;

/// One client session. Cheap to clone; it ends with its last clone, or when it is closed.
#[derive(Clone)]
pub struct Session(Arc<Hold>);

struct Hold {
    core: Arc<Core>,
    client: Arc<Client>,
    exchange: Arc<Exchange>,
}

impl Session {
    pub(crate) fn new(core: Arc<Core>, client: Arc<Client>, exchange: Arc<Exchange>) -> Self {
        Self(Arc::new(Hold { core, client, exchange }))
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.0.client
    }

    pub(crate) fn exchange(&self) -> &Arc<Exchange> {
        &self.0.exchange
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

    /// Takes a message from the client. Never waits.
    ///
    /// What belongs to a request arrives in `mailbox`, in order, and last its answer. Nothing comes back for a
    /// notification or an answer of the client.
    #[expect(clippy::needless_pass_by_value, reason = "a message is handed over, whatever becomes of it")]
    pub fn receive(&self, message: Message, mailbox: &Arc<Mailbox>) {
        let Hold { core, client, exchange } = &*self.0;
        if client.is_closed() {
            if let (Some(id), Some(_)) = (message.id(), message.method()) {
                mailbox.post(Outgoing { message: exchange.closing().response(id), kind: OutgoingKind::Response });
            }
            return;
        }
        let takes_a_process = match message.kind() {
            Kind::Request { method, .. } => {
                core.settings.model == ProcessModel::PerCall && !is_about_the_session(&method)
            }
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => {
                // Whichever process the client means knows it; the others do not.
                if core.settings.model == ProcessModel::PerCall {
                    core.calls_of(client).iter().for_each(|call| call.receive(client, &message, mailbox));
                }
                false
            }
        };
        if !takes_a_process {
            return exchange.receive(client, &message, mailbox);
        }
        if let Some(call) = core.call_to_resume(client, &message) {
            return call.receive(client, &message, mailbox);
        }
        match core.for_one_call(client) {
            Ok(call) => {
                call.receive(client, &message, mailbox);
                // What was answered without the process needs none.
                call.ended_call();
            }
            Err(fault) => {
                if let Some(id) = message.id() {
                    mailbox.post(Outgoing { message: fault.response(id), kind: OutgoingKind::Response });
                }
            }
        }
    }

    /// Calls off what was asked under this id with this mailbox, as if the client had cancelled it.
    pub(crate) fn call_off(&self, id: &Id, mailbox: &Arc<Mailbox>) {
        let Hold { core, client, exchange } = &*self.0;
        exchange.call_off(client, id, mailbox);
        if core.settings.model == ProcessModel::PerCall {
            core.calls_of(client).iter().for_each(|call| call.call_off(client, id, mailbox));
        }
    }

    /// Whether something that it asked is not answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.0.client.is_busy()
    }

    /// Ends the session: what it asked is called off, and a process that served it alone is stopped.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Hold {
    fn close(&self) {
        if !self.client.close() {
            return;
        }
        for call in self.core.calls_of(&self.client) {
            call.leave(&self.client);
            self.core.retire(&call.name);
        }
        self.exchange.leave(&self.client);
        self.core.results.forget(self.client.key);
        if self.core.settings.model != ProcessModel::Shared && self.core.settings.model != ProcessModel::PerUser {
            self.core.retire(&self.exchange.name);
        }
        self.client.unsolicited.finish();
        self.core.session_ended();
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
