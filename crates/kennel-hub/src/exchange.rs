//! Connects the sessions that share a process with that process, whichever process it is just now.

use crate::backward::Backward;
use crate::catalog::{Catalog, List};
use crate::client::{Client, ClientKey};
use crate::fault::Fault;
use crate::level::Level;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::owners::Owners;
use crate::pending::{Asker, Number, Pending, PendingTable, Purpose, Stage};
use crate::pool::Core;
use crate::sync::lock;
use bytes::Bytes;
use kennel_supervisor::{EraPlan, FeedError, Handshake, Instance, Introduction, Link, Status};
use kennel_wire::{Era, Id, RawJson, notification, request};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Whom a process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// One session: everything the process says is for it.
    Solitary,
    /// One request of one session; the process ends with it.
    OneCall,
    /// Any number of sessions.
    Shared,
}

/// The sessions and the process.
///
/// Requests get numbers that are never used twice, and the same number as their progress token, so nothing that
/// clients choose can collide. The one lock is held for looking up and noting down, and while a process that became
/// ready is told what waited for it; never while anything waits.
pub(crate) struct Exchange {
    pub(crate) core: Arc<Core>,
    pub(crate) name: String,
    pub(crate) sharing: Sharing,
    pub(crate) catalog: Arc<Catalog>,
    instance: OnceLock<Instance>,
    numbers: AtomicI64,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) link: Option<Link>,
    pub(crate) has_been_ready: bool,
    /// Why no process will come; `None` as long as one may.
    pub(crate) ended: Option<Fault>,
    pub(crate) pending: PendingTable,
    pub(crate) waiting: VecDeque<Number>,
    /// Notifications of clients that no process has had yet.
    pub(crate) waiting_notifications: Vec<Bytes>,
    pub(crate) members: HashMap<ClientKey, Arc<Client>>,
    pub(crate) openers: Vec<oneshot::Sender<Result<Arc<Handshake>, Fault>>>,
    pub(crate) backward: Backward,
    pub(crate) repeatable: HashSet<String>,
    pub(crate) tasks: Owners,
    pub(crate) elicitations: Owners,
    /// The log level that the process was told.
    pub(crate) level: Option<Level>,
}

/// A message and where it goes, decided under the lock and posted after it.
pub(crate) struct Delivery {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) outgoing: Outgoing,
}

impl Delivery {
    pub(crate) fn notification(mailbox: &Arc<Mailbox>, message: Bytes) -> Self {
        Self { mailbox: Arc::clone(mailbox), outgoing: Outgoing { message, kind: OutgoingKind::Notification } }
    }
}

impl Exchange {
    pub(crate) fn new(core: &Arc<Core>, name: String, sharing: Sharing, params: &RawJson) -> Arc<Self> {
        let exchange = Arc::new(Self {
            core: Arc::clone(core),
            name,
            sharing,
            catalog: core.book.catalog(params),
            instance: OnceLock::new(),
            numbers: AtomicI64::new(1),
            state: Mutex::default(),
        });
        lock(&exchange.state).repeatable = exchange.catalog.offer().repeatable_tools();
        let instance = Instance::new(
            core.supervision.clone(),
            Introduction { legacy: params.clone(), modern: RawJson::empty_object() },
            EraPlan { first: Era::Legacy, is_fixed: true },
            Arc::clone(&core.launcher),
            Arc::clone(&exchange),
            core.stage.clone(),
        );
        // Nobody else has the exchange yet, so there is no instance in it.
        let _ = exchange.instance.set(instance);
        exchange
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn join(&self, client: &Arc<Client>) {
        self.state().members.insert(client.key, Arc::clone(client));
    }

    /// Wants a process.
    pub(crate) fn wake(&self) {
        self.with_instance(Instance::wake);
    }

    pub(crate) fn with_instance(&self, act: impl FnOnce(&Instance)) {
        if let Some(instance) = self.instance.get() {
            act(instance);
        }
    }

    pub(crate) fn status(&self) -> Option<Status> {
        self.instance.get().map(Instance::status)
    }

    /// Waits for a process to be ready, or for the news that none will be.
    pub(crate) async fn opened(&self) -> Result<Arc<Handshake>, Fault> {
        let opened = {
            let mut state = self.state();
            if let Some(link) = &state.link {
                return Ok(Arc::clone(&link.handshake));
            }
            if let Some(fault) = &state.ended {
                return Err(fault.clone());
            }
            let (opener, outcome) = oneshot::channel();
            state.openers.retain(|opener| !opener.is_closed());
            state.openers.push(opener);
            outcome
        };
        self.wake();
        let patience = self.core.settings.timeouts.start;
        match tokio::time::timeout(patience, opened).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(self.closing()),
            Err(_) => Err(Fault::not_ready(&self.core.settings.name, patience)),
        }
    }

    /// Ends the process and returns when nothing of it is left. Requests that are not answered get an error.
    pub(crate) async fn end(&self) {
        self.conclude(&self.closing());
        if let Some(instance) = self.instance.get() {
            instance.shutdown().await;
        }
        // What came between is answered too.
        self.conclude(&self.closing());
    }

    pub(crate) fn closing(&self) -> Fault {
        Fault::unavailable(&self.core.settings.name, kennel_supervisor::Phase::Runtime, "it is being stopped")
    }

    /// Lets nothing more in and answers all that waits.
    fn conclude(&self, fault: &Fault) {
        let (taken, openers) = {
            let mut state = self.state();
            state.ended.get_or_insert_with(|| fault.clone());
            state.waiting.clear();
            (state.pending.take(|_| true), std::mem::take(&mut state.openers))
        };
        for opener in openers {
            let _ = opener.send(Err(fault.clone()));
        }
        self.refuse(taken, fault);
    }

    /// Answers requests with an error.
    pub(crate) fn refuse(&self, taken: Vec<(Number, Pending)>, fault: &Fault) {
        for (_, pending) in taken {
            self.with_instance(Instance::work_ended);
            if let Asker::Client { client, mailbox, id, .. } = pending.asker {
                self.core.counters.faults.add();
                client.dismiss();
                mailbox.post(Outgoing { message: fault.response(&id), kind: OutgoingKind::Response });
            }
        }
    }

    pub(crate) fn next_number(&self) -> Number {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes a request of Kennel's own to a process that is ready.
    pub(crate) fn ask_for_itself(&self, state: &mut State, method: &str, params: &RawJson, purpose: Purpose) {
        let Some(link) = state.link.clone() else { return };
        let number = self.next_number();
        let now = Instant::now();
        let pending = Pending {
            asker: Asker::Kennel,
            purpose,
            stage: Stage::Sent(link.generation),
            began: now,
            heard: now,
            again: None,
        };
        state.pending.insert(number, pending);
        self.with_instance(Instance::work_began);
        if link.input.send(line(&request(&Id::number(number), method, params))) == Err(FeedError::Full) {
            state.pending.remove(number);
            self.with_instance(Instance::work_ended);
        }
        self.core.watch();
    }

    /// Sends a notification of Kennel's own to a process that is ready.
    pub(crate) fn tell(state: &State, message: &Bytes) {
        if let Some(link) = &state.link {
            // A process that cannot be told has more urgent troubles.
            let _ = link.input.send(line(message));
        }
    }

    /// Asks for the pages of a list that is not known, or may have changed.
    pub(crate) fn survey(&self, state: &mut State, list: List) {
        self.ask_for_itself(state, list.method(), &RawJson::empty_object(), Purpose::Catalog(list, Vec::new()));
    }

    /// What tells every session of the exchange that a list has changed.
    pub(crate) fn list_changed(state: &State, list: List) -> Vec<Delivery> {
        let message = notification(list.changed(), &RawJson::empty_object());
        state.members.values().map(|client| Delivery::notification(&client.unsolicited, message.clone())).collect()
    }

    /// Posts what a process cannot be held up for: what does not fit is dropped, and counted.
    pub(crate) fn post(&self, deliveries: Vec<Delivery>) {
        for Delivery { mailbox, outgoing } in deliveries {
            if matches!(mailbox.post(outgoing), crate::mailbox::Posted::Full(_)) {
                self.core.counters.dropped_notifications.add();
            }
        }
    }
}

/// A message of Kennel's own as a line.
pub(crate) fn line(message: &Bytes) -> Bytes {
    let mut line = Vec::with_capacity(message.len() + 1);
    line.extend_from_slice(message);
    line.push(b'\n');
    line.into()
}
