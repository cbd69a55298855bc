//! From the process to clients: its notifications.

use crate::catalog::List;
use crate::client::Client;
use crate::exchange::{Delivery, Exchange, Sharing, State};
use crate::level::Level;
use crate::mailbox::{Mailbox, Outgoing, Posted};
use crate::pending::Asker;
use crate::sync::lock;
use kennel_supervisor::Generation;
use kennel_wire::{Id, Message};
use std::sync::Arc;
use tokio::time::{Instant, timeout};

impl Exchange {
    /// Takes a notification of the process.
    pub(crate) async fn announced(&self, generation: Generation, message: Message, method: &str) {
        let deliveries = {
            let mut state = self.state();
            self.audience(&mut state, generation, &message, method)
        };
        for Delivery { mailbox, outgoing } in deliveries.into_iter().chain(self.heard_elsewhere(method)) {
            self.deliver(&mailbox, outgoing).await;
        }
    }

    /// Who hears of a list that has changed though they listen to another process: where each call has one of its own,
    /// the client of the call listens elsewhere.
    fn heard_elsewhere(&self, method: &str) -> Vec<Delivery> {
        let list = List::ALL.into_iter().find(|list| list.changed() == method);
        let Some(list) = list.filter(|_| self.sharing == Sharing::OneCall) else { return Vec::new() };
        let clients: Vec<_> = self.state().members.keys().copied().collect();
        let exchanges: Vec<_> = lock(&self.core.pool).exchanges.values().cloned().collect();
        let others = exchanges.iter().filter(|exchange| exchange.key != self.key);
        others.flat_map(|exchange| exchange.state().listens.list_changed_for(list, &clients)).collect()
    }

    /// Decides who hears a notification, and what of it is said in their own words.
    fn audience(&self, state: &mut State, generation: Generation, message: &Message, method: &str) -> Vec<Delivery> {
        if let Some(streamed) = self.streamed(state, message, method) {
            return streamed;
        }
        match method {
            "notifications/progress" => return Self::progress(state, generation, message).into_iter().collect(),
            "notifications/cancelled" => return Self::withdrawn(state, generation, message).into_iter().collect(),
            _ => {}
        }
        if let Some(list) = List::ALL.into_iter().find(|list| list.changed() == method) {
            self.list_has_changed(state, list);
            let mut heard = everybody(state, message);
            heard.extend(state.listens.list_changed(list));
            return heard;
        }
        let owners = Self::owners_of_news(state, message, method);
        if method == "notifications/resources/updated" {
            return self.resource_updated(state, message);
        }
        if self.sharing != Sharing::Shared {
            let listener = self.only_listener(state);
            return listener
                .and_then(|(client, mailbox)| addressed(state, &client, &mailbox, message, method))
                .into_iter()
                .collect();
        }
        if let Some(owners) = owners {
            if owners.is_empty() {
                self.core.counters.dropped_notifications.add();
            }
            return owners.iter().map(|client| told(&client.unsolicited, message)).collect();
        }
        self.unaddressed(state, message, method)
    }

    /// Decides who hears that a resource has changed: who has subscribed to it.
    fn resource_updated(&self, state: &State, message: &Message) -> Vec<Delivery> {
        let Ok(Some(uri)) = message.resource_uri() else { return Vec::new() };
        let mut heard = state.listens.updated(&uri, message);
        if self.sharing == Sharing::Shared {
            let subscribers = state.members.values().filter(|client| client.is_subscribed(&uri));
            heard.extend(subscribers.map(|client| told(&client.unsolicited, message)));
        } else if let Some((client, mailbox)) = self.only_listener(state)
            && !client.is_modern()
        {
            heard.push(told(&mailbox, message));
        }
        heard
    }

    /// Decides who of several hears what does not say for whom it is: the owner of the task it belongs to; the only
    /// client at work; all if all are the same principal; otherwise nobody, for it may hold what one must not see.
    fn unaddressed(&self, state: &State, message: &Message, method: &str) -> Vec<Delivery> {
        let level = if method == "notifications/message" { Level::of(message) } else { None };
        let listens = |client: &Client| match (client.level(), level) {
            (Some(wanted), Some(level)) => level >= wanted,
            (None, _) | (_, None) => true,
        };
        if let Some(owner) = Self::related_owner(state, message) {
            let owners = owner.sessions(state).into_iter().filter(|client| listens(client));
            let told =
                owners.filter_map(|client| addressed(state, &client, &Self::place(state, &client), message, method));
            return told.collect();
        }
        if let Some((client, mailbox)) = self.only_listener(state) {
            let told = listens(&client).then(|| addressed(state, &client, &mailbox, message, method));
            return told.flatten().into_iter().collect();
        }
        let mut principals = state.members.values().map(|client| &client.principal);
        let first = principals.next();
        if principals.any(|principal| Some(principal) != first) {
            self.core.counters.dropped_notifications.add();
            return Vec::new();
        }
        let listeners = state.members.values().filter(|client| listens(client));
        listeners.map(|client| told(&client.unsolicited, message)).collect()
    }

    /// Progress goes to the stream of its request, under the token that the client chose.
    fn progress(state: &mut State, generation: Generation, message: &Message) -> Option<Delivery> {
        let number = message.reported_token().ok()??.as_integer()?;
        let Some(pending) = state.pending.get_mut(number) else {
            return Self::task_progress(state, generation, number, message);
        };
        if !matches!(pending.stage, crate::pending::Stage::Sent(sent) if sent == generation) {
            return None;
        }
        pending.heard = Instant::now();
        let Asker::Client { mailbox, token: Some(token), .. } = &pending.asker else { return None };
        let rewritten = message.rewrite().reported_token(token).ok()?.finish();
        Some(Delivery::notification(mailbox, rewritten))
    }

    /// The process no longer wants an answer from a client.
    fn withdrawn(state: &mut State, generation: Generation, message: &Message) -> Option<Delivery> {
        let id = message.cancelled_request().ok()??;
        let (number, question) = state.backward.withdrawn(generation, &id)?;
        if let Some(carrier) = question.carrier {
            Self::unpose(state, carrier, number);
        }
        let rewritten = message.rewrite().cancelled_request(&Id::number(number)).ok()?.finish();
        Some(Delivery::notification(question.mailbox.as_ref()?, rewritten))
    }

    /// Has the catalog follow a list that has changed.
    pub(crate) fn list_has_changed(&self, state: &mut State, list: List) {
        let lists = List::ALL.into_iter().filter(|other| other.changed() == list.changed());
        for list in lists {
            self.catalog.forget(list);
            self.survey(state, list);
        }
    }

    /// Hands a message to a client. One that reads now and serves itself alone is waited for; otherwise what does not
    /// fit is dropped, so that no client holds up another. Says whether the message is on its way.
    pub(crate) async fn deliver(&self, mailbox: &Arc<Mailbox>, outgoing: Outgoing) -> bool {
        match mailbox.post(outgoing) {
            Posted::Taken => return true,
            Posted::Closed => return false,
            Posted::Full(outgoing) if self.sharing != Sharing::Shared && mailbox.is_attached() => {
                let patience = self.core.settings.timeouts.slow_client;
                if timeout(patience, mailbox.post_patiently(outgoing)).await == Ok(true) {
                    return true;
                }
            }
            Posted::Full(_) => {}
        }
        self.core.counters.dropped_notifications.add();
        false
    }
}

/// To every session, where it listens for what belongs to no request.
fn everybody(state: &State, message: &Message) -> Vec<Delivery> {
    let members = state.members.values().filter(|client| !client.is_modern());
    members.map(|client| told(&client.unsolicited, message)).collect()
}

/// To one client: to a session as it is placed; without a session only what is logged can be for it, and only on a request
/// that wants to hear of it.
fn addressed(
    state: &State,
    client: &Client,
    mailbox: &Arc<Mailbox>,
    message: &Message,
    method: &str,
) -> Option<Delivery> {
    if !client.is_modern() {
        return Some(told(mailbox, message));
    }
    if method != "notifications/message" {
        return None;
    }
    state.pending.log_reader(client.key, Level::of(message)).map(|mailbox| told(&mailbox, message))
}

/// A notification as it is.
fn told(mailbox: &Arc<Mailbox>, message: &Message) -> Delivery {
    Delivery::notification(mailbox, message.bytes().clone())
}
