//! `subscriptions/listen` (2026-07-28): the streams on which clients without sessions hear what changes, whatever era
//! their process speaks, and across its restarts.

use crate::catalog::List;
use crate::client::{Client, ClientKey};
use crate::exchange::{Delivery, Exchange, Sharing, State, line};
use crate::fault::Fault;
use crate::filter::Filter;
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::{Number, Purpose};
use crate::settings::ProcessModel;
use crate::withdraw::cancellation;
use bytes::Bytes;
use kennel_supervisor::{Generation, Link};
use kennel_wire::{Era, ErrorCode, Id, Message, RawJson, meta, notification, request, success_response};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// Where a message says to which stream it belongs.
pub(crate) const SUBSCRIPTION: &[&str] = &["params", "_meta", meta::SUBSCRIPTION_ID];

/// A stream.
#[derive(Debug)]
pub(crate) struct Listen {
    client: Arc<Client>,
    mailbox: Arc<Mailbox>,
    /// How the client calls it.
    id: Id,
    /// As the client asked for it, for a modern process to judge.
    request: Message,
    filter: Filter,
    is_acknowledged: bool,
}

/// The streams of one exchange, by the numbers under which a modern process knows them.
#[derive(Debug, Default)]
pub(crate) struct Listens {
    streams: HashMap<Number, Listen>,
    /// Kennel's own with a modern process: what it hears of for the catalog and for clients with sessions.
    own: Option<Number>,
}

impl Listens {
    /// Whether a stream wants to hear of this resource.
    pub(crate) fn wants(&self, uri: &str) -> bool {
        self.streams.values().any(|listen| listen.filter.resource_subscriptions.contains(uri))
    }

    /// What tells the streams that want to hear of it that a list has changed.
    pub(crate) fn list_changed(&self, list: List) -> Vec<Delivery> {
        self.tell_of(list, |_| true)
    }

    /// The same for the streams of these clients only.
    pub(crate) fn list_changed_for(&self, list: List, clients: &[ClientKey]) -> Vec<Delivery> {
        self.tell_of(list, |listen| clients.contains(&listen.client.key))
    }

    fn tell_of(&self, list: List, is_told: impl Fn(&Listen) -> bool) -> Vec<Delivery> {
        let message = notification(list.changed(), &RawJson::empty_object());
        let Ok(message) = Message::parse(message) else { return Vec::new() };
        let wants = |listen: &&Listen| listen.is_acknowledged && listen.filter.wants(list) && is_told(listen);
        self.streams.values().filter(wants).filter_map(|listen| listen.told(&message)).collect()
    }

    /// What tells the streams that want to hear of it what a process of the old era says of a resource.
    pub(crate) fn updated(&self, uri: &str, message: &Message) -> Vec<Delivery> {
        let wants = |listen: &&Listen| listen.is_acknowledged && listen.filter.resource_subscriptions.contains(uri);
        self.streams.values().filter(wants).filter_map(|listen| listen.told(message)).collect()
    }
}

impl Listen {
    /// A message as it belongs to this stream.
    fn told(&self, message: &Message) -> Option<Delivery> {
        let told = message.rewrite().set(SUBSCRIPTION, &(&self.id).into()).ok()?.finish();
        Some(Delivery::notification(&self.mailbox, told))
    }

    /// The first message of the stream.
    fn acknowledged(&mut self, honoured: &Filter) -> Delivery {
        self.is_acknowledged = true;
        Delivery::notification(&self.mailbox, acknowledgement(&self.id, honoured))
    }

    /// The last message of a stream that ends in order.
    fn ended(&self) -> Delivery {
        let message = ending(&self.id);
        Delivery { mailbox: Arc::clone(&self.mailbox), outgoing: Outgoing { message, kind: OutgoingKind::Response } }
    }
}

/// The first message of a stream.
pub(crate) fn acknowledgement(id: &Id, honoured: &Filter) -> Bytes {
    let about = RawJson::object([(meta::SUBSCRIPTION_ID, &id.into())]);
    let params = RawJson::object([("_meta", &about), ("notifications", &honoured.raw())]);
    notification(ACKNOWLEDGED, &params)
}

/// The last message of a stream that ends in order.
pub(crate) fn ending(id: &Id) -> Bytes {
    let about = RawJson::object([(meta::SUBSCRIPTION_ID, &id.into())]);
    let result = RawJson::object([("resultType", &RawJson::string("complete")), ("_meta", &about)]);
    success_response(id, &result)
}

impl Exchange {
    /// Opens a stream.
    pub(crate) fn listen(
        &self,
        client: &Arc<Client>,
        message: &Message,
        id: &Id,
        mailbox: &Arc<Mailbox>,
    ) -> Result<(), Fault> {
        let invalid = |text: String| Fault::refused(ErrorCode::INVALID_PARAMS, text);
        let mut filter = Filter::read(message).map_err(invalid)?;
        if self.core.settings.model == ProcessModel::PerCall {
            // Each call has its own process, and none of them is the one that this stream would be of.
            filter.resource_subscriptions.clear();
            filter.task_ids.clear();
        }
        let limits = &self.core.settings.limits;
        let (count, bytes) = (filter.addresses().count(), filter.addresses().map(String::len).sum());
        if count > limits.subscriptions {
            return Err(Fault::saturated("subscriptions of one stream", limits.subscriptions));
        }
        if usize::max(bytes, message.bytes().len()) > limits.subscription_bytes {
            let text = "bytes of a request for a stream and of the addresses in it";
            return Err(Fault::saturated(text, limits.subscription_bytes));
        }
        let limit = limits.session_requests;
        let number = self.next_number();
        let mut state = self.state();
        if let Some(fault) = &state.ended {
            return Err(fault.clone());
        }
        if self.sharing == Sharing::Shared && filter.task_ids.iter().any(|task| !state.tasks.is_of(task, client)) {
            return Err(invalid("there is no such task".to_owned()));
        }
        if state.listens.streams.len() >= limit {
            return Err(Fault::saturated("streams of this server", limit));
        }
        let (client, mailbox) = (Arc::clone(client), Arc::clone(mailbox));
        let request = if self.core.settings.model == ProcessModel::PerCall {
            let reduced = message.rewrite().replace(&["params", "notifications"], &filter.raw());
            reduced.ok().and_then(|reduced| Message::parse(reduced.finish()).ok()).unwrap_or_else(|| message.clone())
        } else {
            message.clone()
        };
        let listen = Listen { client, mailbox, id: id.clone(), request, filter, is_acknowledged: false };
        state.listens.streams.insert(number, listen);
        let link = state.link.clone();
        let deliveries = link.map(|link| self.connect(&mut state, &link, number));
        drop(state);
        match deliveries {
            Some(deliveries) => self.post(deliveries),
            None => self.wake(),
        }
        Ok(())
    }

    /// Connects a stream with a process that is ready.
    fn connect(&self, state: &mut State, link: &Link, number: Number) -> Vec<Delivery> {
        let Some(listen) = state.listens.streams.get_mut(&number) else { return Vec::new() };
        match link.handshake.era {
            Era::Modern => {
                if let Ok(rewrite) = listen.request.rewrite().id(&Id::number(number)) {
                    let _ = link.input.send(rewrite.finish_line());
                }
                Vec::new()
            }
            Era::Legacy => {
                let honoured = listen.filter.honoured(&link.handshake);
                listen.filter.resource_subscriptions.clone_from(&honoured.resource_subscriptions);
                let acknowledged = (!listen.is_acknowledged).then(|| listen.acknowledged(&honoured));
                for uri in honoured.resource_subscriptions {
                    self.subscribe_for_itself(state, &uri);
                }
                acknowledged.into_iter().collect()
            }
        }
    }

    /// Connects all streams, and Kennel's own, with a process that has become ready.
    pub(crate) fn reconnect(&self, state: &mut State, link: &Link) -> Vec<Delivery> {
        state.listens.own = None;
        if link.handshake.era == Era::Modern {
            self.listen_for_itself(state, link);
        }
        let numbers: Vec<Number> = state.listens.streams.keys().copied().collect();
        numbers.into_iter().flat_map(|number| self.connect(state, link, number)).collect()
    }

    /// Opens Kennel's own stream with a modern process, in place of the one there is.
    fn listen_for_itself(&self, state: &mut State, link: &Link) {
        let wanted = state.members.values().flat_map(|client| client.subscriptions()).collect();
        let all = Filter::all(wanted);
        let number = self.next_number();
        let params = RawJson::object([
            ("_meta", &self.introduction.meta()),
            ("notifications", &all.honoured(&link.handshake).raw()),
        ]);
        let _ = link.input.send(line(&request(&Id::number(number), "subscriptions/listen", &params)));
        if let Some(before) = state.listens.own.replace(number) {
            let _ = link.input.send(line(&cancellation(before, "another stream takes its place")));
        }
    }

    /// Has Kennel's own stream follow what clients with sessions have subscribed to.
    pub(crate) fn refresh_listen(&self, state: &mut State) {
        if let Some(link) = state.link.clone().filter(|link| link.handshake.era == Era::Modern) {
            self.listen_for_itself(state, &link);
        }
    }

    /// Takes a message of a modern process that belongs to a stream; says who hears it.
    pub(crate) fn streamed(&self, state: &mut State, message: &Message, method: &str) -> Option<Vec<Delivery>> {
        let number = message.id_at(SUBSCRIPTION).ok()??.as_integer()?;
        if state.listens.own == Some(number) {
            return Some(self.heard_for_itself(state, message, method));
        }
        let listen = state.listens.streams.get_mut(&number)?;
        if method == ACKNOWLEDGED && std::mem::replace(&mut listen.is_acknowledged, true) {
            // The stream goes on with another process; the client has had its acknowledgement.
            return Some(Vec::new());
        }
        let told = message.rewrite().replace(SUBSCRIPTION, &(&listen.id).into()).ok()?.finish();
        Some(vec![Delivery::notification(&listen.mailbox, told)])
    }

    /// What Kennel hears on its own stream, for the catalog and for clients with sessions.
    fn heard_for_itself(&self, state: &mut State, message: &Message, method: &str) -> Vec<Delivery> {
        if let Some(list) = List::ALL.into_iter().find(|list| list.changed() == method) {
            self.list_has_changed(state, list);
            let message = notification(method, &RawJson::empty_object());
            let old = state.members.values().filter(|client| !client.is_modern());
            return old.map(|client| Delivery::notification(&client.unsolicited, message.clone())).collect();
        }
        let Ok(Some(uri)) = message.resource_uri() else { return Vec::new() };
        let params = RawJson::object([("uri", &RawJson::string(&uri))]);
        let message = notification(method, &params);
        let subscribers = state.members.values().filter(|client| client.is_subscribed(&uri));
        subscribers.map(|client| Delivery::notification(&client.unsolicited, message.clone())).collect()
    }

    /// Takes the end of a stream that a modern process ends by itself; the client is told.
    pub(crate) fn stream_ended(&self, generation: Generation, number: Number, message: &Message) -> bool {
        let mut state = self.state();
        if state.link.as_ref().is_none_or(|link| link.generation != generation) {
            return false;
        }
        if state.listens.own == Some(number) {
            state.listens.own = None;
            return true;
        }
        let Some(listen) = state.listens.streams.remove(&number) else { return false };
        drop(state);
        let ended = if message.result().is_some() {
            listen.ended()
        } else {
            let message = message.with_id(&listen.id).unwrap_or_else(|_| message.bytes().clone());
            Delivery { mailbox: listen.mailbox, outgoing: Outgoing { message, kind: OutgoingKind::Response } }
        };
        self.post(vec![ended]);
        true
    }

    /// Ends the stream that is the one, by its id and where it leads; says whether there was one.
    pub(crate) fn stop_listening(&self, client: &Client, is_it: impl Fn(&Id, &Arc<Mailbox>) -> bool) -> bool {
        let mut state = self.state();
        let is_it = |listen: &Listen| listen.client.key == client.key && is_it(&listen.id, &listen.mailbox);
        let Some(number) = state.listens.streams.iter().find(|(_, listen)| is_it(listen)).map(|(number, _)| *number)
        else {
            return false;
        };
        self.disconnect(&mut state, number);
        true
    }

    /// Ends the streams of a client that has gone.
    pub(crate) fn leave_listens(&self, state: &mut State, client: &Client) {
        let own = state.listens.streams.iter().filter(|(_, listen)| listen.client.key == client.key);
        let numbers: Vec<Number> = own.map(|(number, _)| *number).collect();
        for number in numbers {
            self.disconnect(state, number);
        }
    }

    fn disconnect(&self, state: &mut State, number: Number) {
        let Some(listen) = state.listens.streams.remove(&number) else { return };
        let Some(link) = state.link.clone() else { return };
        match link.handshake.era {
            Era::Modern => {
                let _ = link.input.send(line(&cancellation(number, "the client listens no longer")));
            }
            Era::Legacy => {
                for uri in listen.filter.resource_subscriptions {
                    let wanted =
                        state.listens.wants(&uri) || state.members.values().any(|client| client.is_subscribed(&uri));
                    if !wanted && let Ok(params) = RawJson::parse(json!({ "uri": uri }).to_string()) {
                        self.ask_for_itself(state, "resources/unsubscribe", &params, Purpose::Other);
                    }
                }
            }
        }
    }

    /// Ends all streams in order.
    pub(crate) fn end_streams(&self) {
        let ended = Self::end_listens(&mut self.state(), None);
        self.post(ended);
    }

    /// Ends all streams: in order, or with the reason why there will be no process.
    pub(crate) fn end_listens(state: &mut State, fault: Option<&Fault>) -> Vec<Delivery> {
        state.listens.own = None;
        let ended = state.listens.streams.drain().map(|(_, listen)| match fault {
            None => listen.ended(),
            Some(fault) => {
                let message: Bytes = fault.response(&listen.id);
                Delivery { mailbox: listen.mailbox, outgoing: Outgoing { message, kind: OutgoingKind::Response } }
            }
        });
        ended.collect()
    }
}
