//! How one hub takes the place of another, and how a hub is kept from starting anything.
//!
//! Sessions outlive the hub they began with. What comes in them after the change goes to the new one; what is in flight is
//! answered by the old one, which whoever owns it shuts down when nothing is.

use crate::catalog::List;
use crate::client::Client;
use crate::exchange::{Delivery, Exchange, Sharing};
use crate::hub::Hub;
use crate::pool::Core;
use crate::sync::lock;
use kennel_wire::{RawJson, notification};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLockReadGuard};

impl Hub {
    /// Lets another hub take the place of this one: all that comes from now on goes there, also in sessions that are open
    /// and at doors that know only this one. What is in flight is answered here. Clients are told that all lists may have
    /// changed.
    pub fn hand_over(&self, successor: &Hub) {
        self.share_front(successor);
        *self.0.successor.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&successor.0));
        // Whoever listens has to do so again, there.
        self.end_streams();
        for exchange in self.0.exchanges() {
            if exchange.sharing != Sharing::OneCall {
                exchange.introduce(&successor.0);
            }
        }
    }

    /// Whether something that was asked of this hub is not answered.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.0.exchanges().iter().any(|exchange| {
            let mut state = exchange.state();
            state.openers.retain(|opener| !opener.is_closed());
            state.pending.has_clients() || !state.openers.is_empty()
        })
    }

    /// Starts nothing from now on, and says why to whoever asks for something. What runs already is not touched.
    pub fn hold(&self, reason: &str) {
        *lock(&self.0.held) = Some(reason.to_owned());
    }

    /// Starts what is asked for again.
    pub fn release(&self) {
        *lock(&self.0.held) = None;
    }

    /// Whether nothing is started.
    #[must_use]
    pub fn is_held(&self) -> bool {
        lock(&self.0.held).is_some()
    }

    /// The hub that has taken the place of this one.
    pub(crate) fn successor(&self) -> Option<Self> {
        self.0.successor().as_ref().map(|core| Self(Arc::clone(core)))
    }
}

impl Core {
    /// What has taken this one's place. As long as this is held, nothing can.
    pub(crate) fn successor(&self) -> RwLockReadGuard<'_, Option<Arc<Core>>> {
        self.successor.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of a session that has ended, and of a process that served it alone.
    pub(crate) fn let_go(&self, client: &Arc<Client>, exchange: &Arc<Exchange>) {
        exchange.leave(client);
        if exchange.sharing != Sharing::Shared {
            self.retire(&exchange.name);
        }
    }

    pub(crate) fn exchanges(&self) -> Vec<Arc<Exchange>> {
        lock(&self.pool).exchanges.values().cloned().collect()
    }
}

impl Exchange {
    /// Makes the sessions of this exchange known where they are served from now on, and tells them that everything may be
    /// different there.
    fn introduce(&self, successor: &Arc<Core>) {
        let clients: Vec<_> = self.state().members.values().cloned().collect();
        let mut homes: HashMap<u64, Arc<Exchange>> = HashMap::new();
        for client in clients.iter().filter(|client| !client.is_modern() && !client.unsolicited.is_closed()) {
            // Where none is taken in just now, the session finds its place with its next request.
            let Ok(exchange) = successor.assigned(client) else { continue };
            if client.is_closed() {
                successor.let_go(client, &exchange);
                continue;
            }
            homes.insert(exchange.key, exchange);
            let news = [List::Tools, List::Prompts, List::Resources].map(|list| {
                Delivery::notification(&client.unsolicited, notification(list.changed(), &RawJson::empty_object()))
            });
            self.post(news.into());
        }
        for exchange in homes.values() {
            exchange.welcome();
        }
    }

    /// Tells a process that was ready before its sessions came what they had told the one before.
    fn welcome(&self) {
        let mut state = self.state();
        if state.link.is_some() {
            self.restore(&mut state);
            self.refresh_listen(&mut state);
        }
    }
}
