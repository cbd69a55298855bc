//! Who is told that a list has changed: sessions, and streams of `subscriptions/listen`.

use crate::book::shown_to;
use crate::callers::{Asked, Caller};
use crate::catalog::{List, Offer};
use crate::fault::Fault;
use crate::filter::Filter;
use crate::listens::{SUBSCRIPTION, acknowledgement, ending};
use crate::mailbox::{Lens, Mailbox, Outgoing, OutgoingKind};
use crate::sync::lock;
use crate::union::lens::{Answer, ServerLens};
use crate::union::member::Member;
use crate::union::session::WeakSession;
use crate::union::{Core, Members, Union};
use kennel_wire::{ErrorCode, Id, Message, RawJson, notification};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// How long changes are collected: where many servers start, they come one after the other.
const COLLECTED: Duration = Duration::from_millis(100);

/// Who listens.
#[derive(Debug, Default, Clone)]
pub(crate) struct Listeners(Arc<Registry>);

#[derive(Debug, Default)]
struct Registry {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    listeners: HashMap<u64, Listener>,
    /// What has changed and was not told.
    changed: BTreeSet<List>,
}

#[derive(Debug)]
struct Listener {
    mailbox: Arc<Mailbox>,
    /// The session, where it is one.
    session: Option<WeakSession>,
    /// The stream, where it is one.
    stream: Option<(Id, Filter)>,
}

/// Listens as long as it lives.
#[derive(Debug)]
pub(crate) struct Hearing {
    registry: Weak<Registry>,
    key: u64,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        if let Some(registry) = self.registry.upgrade() {
            lock(&registry.state).listeners.remove(&self.key);
        }
    }
}

impl Listeners {
    /// Tells a session.
    pub(crate) fn session(&self, unsolicited: &Arc<Mailbox>, session: WeakSession) -> Hearing {
        self.add(Listener { mailbox: Arc::clone(unsolicited), session: Some(session), stream: None })
    }

    /// Has sessions let go of servers that are there no longer.
    pub(crate) fn servers_changed(&self, members: &Members) {
        let sessions: Vec<_> = {
            let state = lock(&self.0.state);
            state.listeners.values().filter_map(|listener| listener.session.clone()).collect()
        };
        for session in sessions {
            session.keep_only(members);
        }
    }

    fn add(&self, listener: Listener) -> Hearing {
        let mut state = lock(&self.0.state);
        state.last += 1;
        let key = state.last;
        state.listeners.insert(key, listener);
        Hearing { registry: Arc::downgrade(&self.0), key }
    }

    /// Says that everything may have changed.
    pub(crate) fn all_changed(&self) {
        self.changed(List::ALL);
    }

    fn changed(&self, lists: impl IntoIterator<Item = List>) {
        let mut state = lock(&self.0.state);
        state.changed.extend(lists);
        if !state.changed.is_empty() {
            self.0.news.notify_one();
        }
    }

    /// Tells everybody what has changed.
    fn tell(&self) {
        let mut state = lock(&self.0.state);
        let changed = std::mem::take(&mut state.changed);
        // Two lists have one notification.
        let methods: BTreeMap<_, _> = changed.into_iter().map(|list| (list.changed(), list)).collect();
        for (method, list) in methods {
            let message = notification(method, &RawJson::empty_object());
            for Listener { mailbox, stream, .. } in state.listeners.values() {
                let message = match stream {
                    None => Some(message.clone()),
                    Some((_, filter)) if !filter.wants(list) => None,
                    Some((id, _)) => Message::parse(message.clone())
                        .ok()
                        .and_then(|message| Some(message.rewrite().set(SUBSCRIPTION, &id.into()).ok()?.finish())),
                };
                if let Some(message) = message {
                    // Who does not read is told when it asks for the list.
                    mailbox.post(Outgoing { message, kind: OutgoingKind::Notification });
                }
            }
        }
    }

    /// Ends all streams in order: nothing comes after their last message.
    pub(crate) fn end(&self) {
        lock(&self.0.state).listeners.retain(|_, Listener { mailbox, stream, .. }| {
            if let Some((id, _)) = stream {
                mailbox.post(Outgoing { message: ending(id), kind: OutgoingKind::Response });
            }
            stream.is_none()
        });
    }
}

impl Core {
    /// Follows what the servers that there are now offer, instead of those that there were.
    pub(crate) fn follow(&self) {
        let following = self.ended.child_token();
        std::mem::replace(&mut *lock(&self.following), following.clone()).cancel();
        for member in lock(&self.members).values() {
            let (listeners, member) = (self.listeners.clone(), Arc::clone(member));
            let watching = following.clone();
            self.runtime.spawn(async move {
                watching.run_until_cancelled(listeners.watch(&member)).await;
            });
        }
    }

    /// Tells what changes from now on, as long as the union lives: whoever took its place could miss what was said
    /// meanwhile.
    pub(crate) fn report(&self) {
        let (listeners, ended) = (self.listeners.clone(), self.ended.clone());
        self.runtime.spawn(async move { ended.run_until_cancelled(listeners.report()).await });
    }
}

impl Listeners {
    /// Tells what has changed, for ever.
    async fn report(&self) {
        loop {
            self.0.news.notified().await;
            tokio::time::sleep(COLLECTED).await;
            self.tell();
        }
    }

    /// Hears what changes in what a server offers.
    async fn watch(&self, member: &Member) {
        let book = &member.hub.core().book;
        let mut changes = book.changes();
        let mut before = book.shown();
        while changes.changed().await.is_ok() {
            let now = book.shown();
            let kinds = now.iter().flat_map(|(kind, offer)| {
                // Who is of a new kind was shown what others are.
                let before = shown_to(&before, kind);
                List::ALL.into_iter().filter(move |list| pages(before, *list) != pages(Some(offer), *list))
            });
            self.changed(kinds.collect::<BTreeSet<_>>());
            before = now;
        }
    }
}

fn pages(offer: Option<&Arc<Offer>>, list: List) -> &[RawJson] {
    offer.and_then(|offer| offer.lists.get(&list)).map(Vec::as_slice).unwrap_or_default()
}

impl Union {
    /// Opens a stream: what the union itself knows comes from here, what is said of resources from their servers.
    pub(crate) fn listen(&self, caller: &Caller, request: &Message, id: &Id, mailbox: &Arc<Mailbox>) -> Asked {
        let filter = match Filter::read(request) {
            Ok(filter) => filter,
            Err(text) => {
                let message = Fault::refused(ErrorCode::INVALID_PARAMS, text).response(id);
                mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
                return Asked::nothing();
            }
        };
        let mut wanted: BTreeMap<Arc<str>, (Arc<Member>, BTreeSet<String>)> = BTreeMap::new();
        let mut honoured = BTreeSet::new();
        for address in &filter.resource_subscriptions {
            if let Some((member, own)) = self.resource(address) {
                let entry = wanted.entry(Arc::clone(&member.name)).or_insert_with(|| (member, BTreeSet::new()));
                entry.1.insert(own);
                honoured.insert(address.clone());
            }
        }
        let filter = Filter { resource_subscriptions: honoured, task_ids: BTreeSet::new(), ..filter };
        let message = acknowledgement(id, &filter);
        mailbox.post(Outgoing { message, kind: OutgoingKind::Notification });
        let streams = wanted.into_values().filter_map(|(member, resource_subscriptions)| {
            let wanted = Filter { resource_subscriptions, ..Filter::default() };
            let rewritten = request.rewrite().replace(&["params", "notifications"], &wanted.raw()).ok()?.finish();
            let request = Message::parse(rewritten).ok()?;
            let lens = Arc::new(StreamLens(ServerLens { member: Arc::clone(&member), answer: Answer::Plain }));
            Some(member.hub.ask(caller, request, &Mailbox::onward(mailbox, lens)))
        });
        let streams = streams.collect();
        let hearing = self.0.listeners.add(Listener {
            mailbox: Arc::clone(mailbox),
            session: None,
            stream: Some((id.clone(), filter)),
        });
        Asked::joint(streams, hearing)
    }
}

/// Lets through what a server says of its resources on a stream, and nothing of the stream itself.
#[derive(Debug)]
struct StreamLens(ServerLens);

impl Lens for StreamLens {
    fn through(&self, outgoing: Outgoing) -> Option<Outgoing> {
        let message = Message::parse(outgoing.message.clone()).ok()?;
        (message.method()? == "notifications/resources/updated").then(|| self.0.through(outgoing)).flatten()
    }
}
