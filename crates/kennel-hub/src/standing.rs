//! What holds for a session until it says otherwise, its log level and its subscriptions, and how the wishes of several
//! become what their one process is told.

use crate::client::Client;
use crate::exchange::{Exchange, Sharing, State};
use crate::level::Level;
use crate::pending::{Asker, Pending, Purpose};
use kennel_wire::{Era, RawJson};
use serde_json::json;
use std::collections::BTreeSet;

impl Exchange {
    /// Tells a new process what its sessions had told the one before.
    pub(crate) fn restore(&self, state: &mut State) {
        if state.link.as_ref().is_none_or(|link| link.handshake.era == Era::Modern) {
            // Told with each request, or heard on Kennel's own stream.
            return;
        }
        let subscriptions: BTreeSet<String> =
            state.members.values().flat_map(|client| client.subscriptions()).collect();
        for uri in subscriptions {
            self.subscribe_for_itself(state, &uri);
        }
        if let Some(level) = Self::wanted_level(state) {
            self.tell_level(state, level);
        }
    }

    /// Subscribes to a resource for whoever wants to hear of it.
    pub(crate) fn subscribe_for_itself(&self, state: &mut State, uri: &str) {
        let params = RawJson::object([("uri", &RawJson::string(uri))]);
        self.ask_for_itself(state, "resources/subscribe", &params, Purpose::Other);
    }

    /// Whether a request of a client with a session is about what a modern process has nothing to do with: then it holds
    /// from now on.
    pub(crate) fn is_settled(&self, state: &mut State, client: &Client, purpose: &Purpose) -> bool {
        match purpose {
            Purpose::SetLevel { wanted, .. } => client.set_level(*wanted),
            Purpose::Subscribe(uri) => {
                client.subscribe(uri);
                self.refresh_listen(state);
            }
            Purpose::Unsubscribe(uri) => {
                client.unsubscribe(uri);
                self.refresh_listen(state);
            }
            _ => return false,
        }
        true
    }

    /// The subscription of a client has ended, and with it that of the process, which another client may need: one that
    /// subscribed while the answer was on its way.
    pub(crate) fn unsubscribed(&self, client: &Client, uri: &str) {
        client.unsubscribe(uri);
        let mut state = self.state();
        if state.members.values().any(|other| other.is_subscribed(uri)) || state.listens.wants(uri) {
            self.subscribe_for_itself(&mut state, uri);
        }
    }

    /// The process has taken a level. Where the wishes have changed meanwhile, it is told again.
    pub(crate) fn level_was_set(&self, told: Level) {
        let mut state = self.state();
        state.level = Some(told);
        if let Some(wanted) = Self::wanted_level(&state)
            && wanted != told
        {
            self.tell_level(&mut state, wanted);
        }
    }

    /// The level that suits all sessions: the most talkative that one of them wants.
    fn wanted_level(state: &State) -> Option<Level> {
        state.members.values().filter_map(|client| client.level()).min()
    }

    /// The same, but for one session.
    pub(crate) fn level_of_others(state: &State, client: &Client) -> Option<Level> {
        let others = state.members.values().filter(|other| other.key != client.key);
        others.filter_map(|other| other.level()).min()
    }

    /// Whether the process already says as much as this client would have it say.
    pub(crate) fn has_level(&self, client: &Client, level: Level) -> bool {
        let state = self.state();
        let satisfied =
            self.sharing == Sharing::Shared && state.link.is_some() && state.level.is_some_and(|told| told <= level);
        let needed_by_other =
            state.members.values().any(|other| other.key != client.key && other.level() == state.level);
        // Where this client alone wanted so much, the process is told that less will do.
        let satisfied = satisfied && (state.level == Some(level) || needed_by_other);
        if satisfied {
            client.set_level(level);
        }
        satisfied
    }

    pub(crate) fn is_subscribed_by_another(&self, client: &Client, uri: &str) -> bool {
        let state = self.state();
        let other = state.members.values().any(|other| other.key != client.key && other.is_subscribed(uri));
        other || state.listens.wants(uri)
    }

    /// Whether another client has subscribed to a resource, or is about to.
    pub(crate) fn is_wanted_by_another(&self, client: &Client, uri: &str) -> bool {
        let asks = |pending: &Pending| match (&pending.asker, &pending.purpose) {
            (Asker::Client { client: other, .. }, Purpose::Subscribe(wanted)) => {
                other.key != client.key && wanted == uri
            }
            _ => false,
        };
        self.is_subscribed_by_another(client, uri) || self.state().pending.any(asks)
    }

    /// Ends subscriptions and lowers the level where nobody else needs them.
    pub(crate) fn tidy_after(&self, state: &mut State, client: &Client) {
        if state.link.as_ref().is_some_and(|link| link.handshake.era == Era::Modern) {
            if !client.subscriptions().is_empty() {
                self.refresh_listen(state);
            }
            return;
        }
        for uri in client.subscriptions() {
            if !state.members.values().any(|other| other.is_subscribed(&uri))
                && !state.listens.wants(&uri)
                && let Ok(params) = RawJson::parse(json!({ "uri": uri }).to_string())
            {
                self.ask_for_itself(state, "resources/unsubscribe", &params, Purpose::Other);
            }
        }
        // All sessions are looked at only where the process was ever told a level: many may leave at once.
        if let Some(told) = state.level
            && let Some(level) = Self::wanted_level(state)
            && told < level
        {
            self.tell_level(state, level);
        }
    }

    pub(crate) fn tell_level(&self, state: &mut State, level: Level) {
        let params = format!("{{\"level\":{}}}", String::from_utf8_lossy(level.raw().as_bytes()));
        if let Ok(params) = RawJson::parse(params) {
            state.level = Some(level);
            self.ask_for_itself(state, "logging/setLevel", &params, Purpose::Other);
        }
    }
}
