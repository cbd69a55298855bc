//! The requests that a process has not answered yet, and who asked.

use crate::audit::Entry;
use crate::catalog::List;
use crate::client::{Client, ClientKey};
use crate::dialect::Subject;
use crate::level::Level;
use crate::mailbox::Mailbox;
use crate::places::Place;
use crate::retries::Inquiry;
use crate::rounds::Rounds;
use kennel_supervisor::Generation;
use kennel_wire::{Id, Message, RawJson};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use tokio::time::Instant;

/// The id under which Kennel makes a request: never used twice with one process.
pub(crate) type Number = i64;

/// A request that is not answered yet. Small, for each goes in and out of a table; what few of them have is boxed.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) asker: Asker,
    pub(crate) purpose: Purpose,
    pub(crate) subject: Subject,
    pub(crate) stage: Stage,
    pub(crate) place: Place,
    pub(crate) began: Instant,
    /// How many bytes count for it; more than fit here are as many as do.
    pub(crate) bytes: u32,
    /// When something was last heard of it.
    pub(crate) heard: Instant,
    /// The request to make once more if the process dies, where that does no harm.
    pub(crate) again: Option<Box<Message>>,
    /// From which level on a client without a session wants to hear what is logged about it.
    pub(crate) level: Option<Level>,
    /// What a client has to answer before it goes on, where it cannot be asked directly.
    pub(crate) rounds: Option<Box<Rounds>>,
    /// What the client is asked before it is made again.
    pub(crate) inquiry: Option<Box<Inquiry>>,
    /// The request as the client made it, where the answer may be a question.
    pub(crate) origin: Option<Box<Origin>>,
    /// What is written down of it.
    pub(crate) entry: Option<Box<Entry>>,
}

/// A request as its client made it.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) message: Message,
    /// How often it was made again.
    pub(crate) rounds: usize,
}

impl Origin {
    pub(crate) fn of(message: &Message) -> Box<Self> {
        Box::new(Self { message: message.clone(), rounds: 0 })
    }
}

impl Pending {
    /// A request that nobody has yet.
    pub(crate) fn new(asker: Asker, purpose: Purpose, subject: Subject, stage: Stage) -> Self {
        let now = Instant::now();
        Self {
            asker,
            purpose,
            subject,
            stage,
            place: Place::NotNeeded,
            began: now,
            bytes: 0,
            heard: now,
            again: None,
            level: None,
            rounds: None,
            inquiry: None,
            origin: None,
            entry: None,
        }
    }

    /// Whether this process has it.
    pub(crate) fn is_with(&self, generation: Generation) -> bool {
        matches!(self.stage, Stage::Sent(with) | Stage::Parked(with) if with == generation)
    }
}

/// Who waits for the answer.
#[derive(Debug)]
pub(crate) enum Asker {
    /// A client.
    Client {
        client: Arc<Client>,
        /// Where the answer goes.
        mailbox: Arc<Mailbox>,
        /// The id that the answer must carry.
        id: Id,
        /// The token that its progress must carry.
        token: Option<Id>,
    },
    /// Kennel itself.
    Kennel,
}

/// What the answer is needed for, beside handing it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Nothing else.
    Other,
    /// The result of a tool, which may be too large.
    Tool,
    /// A task, which is the client's from then on.
    Task,
    /// How a task of the client is, or what came of it.
    AboutTask(String),
    /// The tasks there are, of which the client sees its own.
    TaskList,
    /// A page for the catalog, and those before it.
    Catalog(List, Vec<RawJson>),
    /// A subscription that begins if it succeeds.
    Subscribe(String),
    /// A subscription that ends.
    Unsubscribe(String),
    /// A level that holds for the client if it succeeds.
    SetLevel {
        /// What the client wants.
        wanted: Level,
        /// What the process is told, which suits the other clients as well.
        told: Level,
    },
}

/// How far a request has come.
#[derive(Debug)]
pub(crate) enum Stage {
    /// It waits for a process, or for its turn.
    Waiting(Box<Message>),
    /// This process has it.
    Sent(Generation),
    /// This process has it, but the client was asked for something, and nobody waits before it comes back with that.
    Parked(Generation),
    /// The process has answered with a question, and the client is asked.
    Asking,
}

/// All requests to one process that are not answered, by the ids that Kennel gave them.
#[derive(Debug, Default)]
pub(crate) struct PendingTable {
    requests: HashMap<Number, Pending>,
    /// How many of them have one of the places of the process.
    placed: usize,
    /// How many bytes wait.
    waiting_bytes: usize,
    /// How many bytes count for all of them.
    bytes: usize,
    /// How many of them are Kennel's own.
    own: usize,
}

impl PendingTable {
    /// Puts a request in. One that needs a place has it from now on, unless it waits.
    pub(crate) fn insert(&mut self, number: Number, mut pending: Pending) {
        match (&pending.stage, pending.place) {
            (Stage::Waiting(message), _) => self.waiting_bytes += message.bytes().len(),
            (_, Place::Wanted) => {
                pending.place = Place::Taken;
                self.placed += 1;
            }
            (_, Place::NotNeeded | Place::Taken) => {}
        }
        self.bytes += pending.bytes as usize;
        self.own += usize::from(matches!(pending.asker, Asker::Kennel));
        self.requests.insert(number, pending);
    }

    /// Takes a request out, and its place from it.
    pub(crate) fn remove(&mut self, number: Number) -> Option<Pending> {
        let mut pending = self.requests.remove(&number)?;
        self.removed(&mut pending);
        Some(pending)
    }

    fn removed(&mut self, pending: &mut Pending) {
        self.discount(pending);
        if let Stage::Waiting(message) = &pending.stage {
            self.waiting_bytes -= message.bytes().len();
        }
        self.vacate(pending);
    }

    fn discount(&mut self, pending: &Pending) {
        self.bytes -= pending.bytes as usize;
        self.own -= usize::from(matches!(pending.asker, Asker::Kennel));
    }

    /// Whether one more of so many bytes fits where there may be so many; the first one always does.
    pub(crate) fn has_room_for(&self, bytes: usize, most: usize) -> bool {
        self.bytes == 0 || self.bytes.saturating_add(bytes) <= most
    }

    /// Counts so many bytes more for a request, unless that is too much.
    pub(crate) fn grow(&mut self, number: Number, more: usize, most: usize) -> bool {
        let Some(pending) = self.requests.get_mut(&number) else { return false };
        let grown = pending.bytes.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        let all = self.bytes - pending.bytes as usize + grown as usize;
        if all > most {
            return false;
        }
        (pending.bytes, self.bytes) = (grown, all);
        true
    }

    /// How many are Kennel's own.
    pub(crate) fn own(&self) -> usize {
        self.own
    }

    /// Takes its place from a request that is not here any more.
    pub(crate) fn vacate(&mut self, pending: &mut Pending) {
        if pending.place == Place::Taken {
            pending.place = Place::Wanted;
            self.placed -= 1;
        }
    }

    /// Takes its place from a request that the process is done with, although it stays.
    pub(crate) fn displace(&mut self, number: Number) {
        if let Some(pending) = self.requests.get_mut(&number)
            && pending.place == Place::Taken
        {
            pending.place = Place::NotNeeded;
            self.placed -= 1;
        }
    }

    /// Whether one more has a place where there are this many.
    pub(crate) fn has_room(&self, places: Option<NonZeroUsize>) -> bool {
        places.is_none_or(|places| self.placed < places.get())
    }

    /// Counts the time of all that waits from now on.
    pub(crate) fn wait_anew(&mut self, now: Instant) {
        if self.waiting_bytes > 0 {
            for pending in self.requests.values_mut().filter(|pending| matches!(pending.stage, Stage::Waiting(_))) {
                pending.began = now;
            }
        }
    }

    pub(crate) fn contains(&self, number: Number) -> bool {
        self.requests.contains_key(&number)
    }

    pub(crate) fn get(&self, number: Number) -> Option<&Pending> {
        self.requests.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: Number) -> Option<&mut Pending> {
        self.requests.get_mut(&number)
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether a client waits for an answer.
    pub(crate) fn has_clients(&self) -> bool {
        self.any(|pending| matches!(pending.asker, Asker::Client { .. }))
    }

    /// Whether there is a request of which this is true.
    pub(crate) fn any(&self, is_wanted: impl FnMut(&Pending) -> bool) -> bool {
        self.requests.values().any(is_wanted)
    }

    /// How many bytes wait for a process, or for their turn.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Takes the request if this process has it. It keeps its place until that is taken from it.
    pub(crate) fn answered(&mut self, number: Number, generation: Generation) -> Option<Pending> {
        match self.requests.get(&number)?.stage {
            Stage::Sent(sent) if sent == generation => {
                let pending = self.requests.remove(&number)?;
                self.discount(&pending);
                Some(pending)
            }
            Stage::Sent(_) | Stage::Parked(_) | Stage::Asking | Stage::Waiting(_) => None,
        }
    }

    /// The request of this client that a question of the process is most likely about: of those whose answer may ask for
    /// more, the oldest that somebody waits for and that has no question yet, as processes work in the order in which
    /// they are asked; otherwise the newest that somebody waits for, or the newest at all.
    pub(crate) fn carrier(&self, key: ClientKey, generation: Generation) -> Option<Number> {
        let carries = |pending: &Pending| {
            let is_own = matches!(&pending.asker, Asker::Client { client, .. } if client.key == key);
            is_own && pending.subject.may_ask() && pending.is_with(generation)
        };
        let candidates = self.requests.iter().filter(|(_, pending)| carries(pending));
        let best = candidates.max_by_key(|(number, pending)| {
            let waits = matches!(pending.stage, Stage::Sent(_));
            let is_free = waits && !pending.rounds.as_ref().is_some_and(|rounds| rounds.has_questions());
            (waits, is_free, if is_free { -**number } else { **number })
        });
        best.map(|(number, _)| *number)
    }

    /// The newest request of this client that wants to hear what is logged from this level on, and where.
    pub(crate) fn log_reader(&self, key: ClientKey, level: Option<Level>) -> Option<Arc<Mailbox>> {
        let reads = |pending: &Pending| {
            let wants = pending.level.is_some_and(|wanted| level.is_none_or(|level| level >= wanted));
            match &pending.asker {
                Asker::Client { client, mailbox, .. } if client.key == key && wants => Some(Arc::clone(mailbox)),
                _ => None,
            }
        };
        let readers = self.requests.iter().filter(|(_, pending)| matches!(pending.stage, Stage::Sent(_)));
        let readers = readers.filter_map(|(number, pending)| Some((*number, reads(pending)?)));
        readers.max_by_key(|(number, _)| *number).map(|(_, mailbox)| mailbox)
    }

    /// Takes all requests for which `wanted` says so, in the order they were made.
    pub(crate) fn take(&mut self, mut wanted: impl FnMut(&Pending) -> bool) -> Vec<(Number, Pending)> {
        let mut taken: Vec<_> = self.requests.extract_if(|_, pending| wanted(pending)).collect();
        for (_, pending) in &mut taken {
            self.removed(pending);
        }
        taken.sort_unstable_by_key(|(number, _)| *number);
        taken
    }

    /// The newest request of this client that is the one, by its id and where its answer goes.
    pub(crate) fn of_client(&self, key: ClientKey, is_it: impl Fn(&Id, &Arc<Mailbox>) -> bool) -> Option<Number> {
        let made = self.requests.iter().filter(|(_, pending)| match &pending.asker {
            Asker::Client { client, id, mailbox, .. } => client.key == key && is_it(id, mailbox),
            Asker::Kennel => false,
        });
        made.map(|(number, _)| *number).max()
    }

    /// The clients that have requests with the process, and for each the mailbox of its oldest one and how many.
    pub(crate) fn at_work(&self) -> HashMap<ClientKey, (Number, Arc<Mailbox>, usize)> {
        let mut found: HashMap<ClientKey, (Number, Arc<Mailbox>, usize)> = HashMap::new();
        for (number, pending) in &self.requests {
            if let (Asker::Client { client, mailbox, .. }, Stage::Sent(_)) = (&pending.asker, &pending.stage) {
                let entry = found.entry(client.key).or_insert_with(|| (*number, Arc::clone(mailbox), 0));
                entry.2 += 1;
                if *number < entry.0 {
                    (entry.0, entry.1) = (*number, Arc::clone(mailbox));
                }
            }
        }
        found
    }
}

const _: () = assert!(size_of::<Pending>() <= 224, "each request pays for its size twice");
