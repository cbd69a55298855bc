//! How the tools of one server are shown at its own address, also in sessions that were open before that changed.
//!
//! Doors know a server by its hub, and their sessions outlive both hubs and rules. So every message of a door is looked at
//! by what the rules are when it comes. Unions look after their own presentation and go past this.

use crate::catalog::List;
use crate::exchange::{Exchange, Sharing};
use crate::fault::Fault;
use crate::hub::Hub;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::union::{Union, WeakUnion};
use kennel_wire::{ErrorCode, Id};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// What stands before a server at its own address. All hubs that have served it share one.
#[derive(Debug, Default)]
pub(crate) struct Front {
    /// Whether there is anything to look at: most servers are shown as they are.
    is_shown: AtomicBool,
    /// Owned by whoever made the rules, for it knows the hub in turn.
    union: RwLock<Option<WeakUnion>>,
}

/// How messages get to a server.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// As they are.
    Straight,
    /// Through a union of this server alone, which knows the rules.
    Through(Union),
    /// Not at all: rules there are, but they are just being taken away.
    Closed,
}

impl Front {
    pub(crate) fn way(&self) -> Way {
        if !self.is_shown.load(Ordering::Acquire) {
            return Way::Straight;
        }
        match &*self.union.read().unwrap_or_else(PoisonError::into_inner) {
            None => Way::Straight,
            Some(union) => union.upgrade().map_or(Way::Closed, Way::Through),
        }
    }

    fn set(&self, union: Option<WeakUnion>) {
        let is_shown = union.is_some();
        *self.union.write().unwrap_or_else(PoisonError::into_inner) = union;
        self.is_shown.store(is_shown, Ordering::Release);
    }
}

/// Says that there is no way to a server.
pub(crate) fn refuse(id: &Id, mailbox: &Mailbox) {
    let fault = Fault::refused(ErrorCode::INTERNAL_ERROR, "the rules for this server are being changed; try again");
    mailbox.post(Outgoing { message: fault.response(id), kind: OutgoingKind::Response });
}

impl Hub {
    /// Shows the server at its own address through a union of it alone from now on, or as it is; also in sessions that
    /// are open, and by whichever hub takes the place of this one. The union has to be kept by the caller.
    pub fn show_through(&self, union: Option<&Union>) {
        self.front().set(union.map(Union::downgrade));
    }

    /// Tells clients at the server's own address that its tools have changed.
    pub fn tools_changed(&self) {
        // Who has a process for one call has a session elsewhere.
        for exchange in self.core().exchanges().iter().filter(|exchange| exchange.sharing != Sharing::OneCall) {
            let news = Exchange::list_changed(&exchange.state(), List::Tools);
            exchange.post(news);
        }
    }

    pub(crate) fn front(&self) -> Arc<Front> {
        Arc::clone(&self.core().front.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the successor stand behind what stands before this one.
    pub(crate) fn share_front(&self, successor: &Hub) {
        *successor.core().front.write().unwrap_or_else(PoisonError::into_inner) = self.front();
    }
}
