//! Connects the sessions that share a process with that process, whichever process it is just now.

use crate::backward::Backward;
use crate::catalog::{Catalog, List, Offering};
use crate::client::{Client, ClientKey, Introduction};
use crate::dialect::Subject;
use crate::fault::Fault;
use crate::level::Level;
use crate::listens::Listens;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::owners::Owners;
use crate::pending::{Asker, Number, Pending, PendingTable, Purpose, Stage};
use crate::pool::Core;
use crate::principal::Principal;
use crate::surveys::Surveys;
use crate::sync::lock;
use bytes::Bytes;
use kennel_supervisor::{EraPlan, FeedError, Handshake, Instance, Link, Status};
use kennel_wire::{Era, Id, RawJson, notification, request};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use tokio::sync::oneshot;

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
    /// Tells it from all other exchanges of the hub that are or were.
    pub(crate) key: u64,
    pub(crate) name: String,
    pub(crate) sharing: Sharing,
    pub(crate) catalog: Arc<Catalog>,
    instance: OnceLock<Instance>,
    numbers: AtomicI64,
    /// In which era a process is tried first.
    pub(crate) plan: EraPlan,
    /// How Kennel introduces itself to the process.
    pub(crate) introduction: Introduction,
    /// How the process that is ready is talked to; see [`Exchange::era`].
    spoken: AtomicU8,
    state: Mutex<State>,
    /// For what goes on without being waited for.
    pub(crate) me: Weak<Self>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) link: Option<Link>,
    /// What the process says who it is.
    pub(crate) server: Option<RawJson>,
    pub(crate) has_been_ready: bool,
    /// Why no process will come; `None` as long as one may.
    pub(crate) ended: Option<Fault>,
    pub(crate) pending: PendingTable,
    /// What waits for a process, or for its turn, in order.
    pub(crate) waiting: VecDeque<Number>,
    /// Notifications of clients that no process has had yet.
    pub(crate) waiting_notifications: Vec<Bytes>,
    pub(crate) members: HashMap<ClientKey, Arc<Client>>,
    pub(crate) openers: Vec<oneshot::Sender<Result<Arc<Handshake>, Fault>>>,
    pub(crate) backward: Backward,
    pub(crate) listens: Listens,
    pub(crate) surveys: Surveys,
    pub(crate) repeatable: HashSet<String>,
    pub(crate) tasks: Owners,
    pub(crate) elicitations: Owners,
    /// The states that a modern process has given out, by their digests.
    pub(crate) states: Owners,
    /// The log level that the process was told.
    pub(crate) level: Option<Level>,
}

impl State {
    /// What requests wait for that do not go to the process at once.
    pub(crate) fn awaited(&self) -> &'static str {
        if self.link.is_some() { "their turn at the server" } else { "the server to start" }
    }
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

/// How [`Exchange::spoken`] says it.
const NOTHING: u8 = 0;
const LEGACY: u8 = 1;
const MODERN: u8 = 2;

impl Exchange {
    pub(crate) fn new(
        core: &Arc<Core>,
        key: u64,
        name: String,
        sharing: Sharing,
        introduction: &Introduction,
        owner: Option<&Principal>,
    ) -> Arc<Self> {
        let exchange = Arc::new_cyclic(|me| Self {
            core: Arc::clone(core),
            key,
            name,
            sharing,
            catalog: core.book.catalog(introduction.era, &introduction.params),
            instance: OnceLock::new(),
            numbers: AtomicI64::new(1),
            spoken: AtomicU8::new(NOTHING),
            plan: core.plan(sharing, introduction.era),
            introduction: introduction.clone(),
            state: Mutex::default(),
            me: Weak::clone(me),
        });
        lock(&exchange.state).repeatable = exchange.catalog.offer().repeatable_tools();
        let instance = Instance::new(
            core.supervision.clone(),
            kennel_supervisor::Introduction {
                legacy: introduction.params.clone(),
                modern: introduction.meta(),
                owner: owner.map(|owner| Arc::clone(owner.name())),
                is_stateless: introduction.is_stateless,
            },
            exchange.plan,
            Arc::clone(&core.launcher),
            Arc::clone(&exchange),
            core.stage.clone(),
        );
        // Nobody else has the exchange yet, so there is no instance in it.
        let _ = exchange.instance.set(instance);
        exchange
    }

    /// How the process that is ready is talked to; nothing while there is none.
    pub(crate) fn era(&self) -> Option<Era> {
        match self.spoken.load(Ordering::Acquire) {
            LEGACY => Some(Era::Legacy),
            MODERN => Some(Era::Modern),
            _ => None,
        }
    }

    pub(crate) fn speaks(&self, era: Option<Era>) {
        let spoken = match era {
            Some(Era::Legacy) => LEGACY,
            Some(Era::Modern) => MODERN,
            None => NOTHING,
        };
        self.spoken.store(spoken, Ordering::Release);
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
        let (taken, openers, ended) = {
            let mut state = self.state();
            state.ended.get_or_insert_with(|| fault.clone());
            state.waiting.clear();
            let ended = Self::end_listens(&mut state, None);
            (state.pending.take(|_| true), std::mem::take(&mut state.openers), ended)
        };
        self.post(ended);
        for opener in openers {
            let _ = opener.send(Err(fault.clone()));
        }
        self.refuse(taken, fault);
    }

    /// Says that the process no longer works on a request, unless that was said when its answer came and was held.
    pub(crate) fn work_ended(&self, pending: &Pending) {
        if !pending.rounds.as_ref().is_some_and(|rounds| rounds.has_answer()) {
            self.with_instance(Instance::work_ended);
        }
    }

    /// Answers requests with an error, and goes on with what waits for their places.
    pub(crate) fn refuse(&self, taken: Vec<(Number, Pending)>, fault: &Fault) {
        for (_, mut pending) in taken {
            self.work_ended(&pending);
            if let Some(entry) = &mut pending.entry {
                entry.refused(fault);
            }
            let is_parked = matches!(pending.stage, Stage::Parked(_));
            if let Purpose::Catalog(list, _) = pending.purpose {
                self.surveyed(list);
            }
            if let Asker::Client { client, mailbox, id, .. } = pending.asker {
                self.core.counters.faults.add();
                client.dismiss();
                if is_parked {
                    // It was answered with a question, and nobody waits.
                    continue;
                }
                mailbox.post(Outgoing { message: fault.response(&id), kind: OutgoingKind::Response });
            }
        }
        self.go_on();
    }

    pub(crate) fn next_number(&self) -> Number {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether everything that the process says it has is listed.
    pub(crate) fn is_surveyed(&self) -> bool {
        let Some(handshake) = self.state().link.as_ref().map(|link| Arc::clone(&link.handshake)) else { return true };
        let offer = self.catalog.offer();
        List::ALL
            .into_iter()
            .filter(|list| handshake.has_capability(list.capability()))
            .all(|list| offer.lists.contains_key(&list))
    }

    /// Makes a request of Kennel's own to a process that is ready, unless too many of them are unanswered. Says whether it
    /// was made.
    pub(crate) fn ask_for_itself(&self, state: &mut State, method: &str, params: &RawJson, purpose: Purpose) -> bool {
        let Some(link) = state.link.clone() else { return false };
        if state.pending.own() >= self.core.settings.limits.own_requests {
            self.core.counters.dropped_own_requests.add();
            return false;
        }
        let number = self.next_number();
        let declared;
        let params = match link.handshake.era {
            Era::Legacy => params,
            Era::Modern => {
                let mut members = params.members();
                members.push(("_meta".to_owned(), self.introduction.meta()));
                declared = RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value)));
                &declared
            }
        };
        let pending = Pending::new(Asker::Kennel, purpose, Subject::of(method), Stage::Sent(link.generation));
        state.pending.insert(number, pending);
        self.with_instance(Instance::work_began);
        if link.input.send(line(&request(&Id::number(number), method, params))) == Err(FeedError::Full) {
            state.pending.remove(number);
            self.with_instance(Instance::work_ended);
            self.core.counters.dropped_own_requests.add();
            return false;
        }
        self.core.watch();
        true
    }

    /// Sends a notification of Kennel's own to a process that is ready.
    pub(crate) fn tell(state: &State, message: &Bytes) {
        Self::tell_line(state, line(message));
    }

    /// Sends a line to a process that is ready.
    pub(crate) fn tell_line(state: &State, line: Bytes) {
        if let Some(link) = &state.link {
            // A process that cannot be told has more urgent troubles.
            let _ = link.input.send(line);
        }
    }

    /// What tells every session of the exchange that a list has changed.
    pub(crate) fn list_changed(state: &State, list: List) -> Vec<Delivery> {
        let message = notification(list.changed(), &RawJson::empty_object());
        let members = state.members.values().filter(|client| !client.is_modern());
        let members = members.map(|client| Delivery::notification(&client.unsolicited, message.clone()));
        members.chain(state.listens.list_changed(list)).collect()
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
