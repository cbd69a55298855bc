//! From a client to the process: its requests, notifications and answers.

use crate::catalog::List;
use crate::client::Client;
use crate::exchange::{Exchange, Sharing, line};
use crate::fault::Fault;
use crate::level::{LEVEL, Level};
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Pending, Purpose, Stage};
use crate::results::Results;
use bytes::Bytes;
use kennel_supervisor::{FeedError, Instance};
use kennel_wire::{Era, ErrorCode, Id, Kind, Message, ProtocolVersion, RawJson, notification, success_response};
use std::sync::Arc;
use tokio::time::Instant;

/// From how many unanswered requests on what is sent to a process is sent together.
const CROWD: usize = 4;

/// The methods that do nothing but look, so that asking twice does no harm.
const LOOKING: &[&str] = &[
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "tasks/get",
    "tasks/list",
];

/// The methods that came to an end with the sessions.
const REMOVED: &[&str] = &[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "tasks/result",
];

impl Exchange {
    /// Takes a message from a client of this exchange.
    pub(crate) fn receive(&self, client: &Arc<Client>, message: &Message, mailbox: &Arc<Mailbox>) {
        match message.kind() {
            Kind::Request { id, method, .. } => self.request(client, message, &method, id, mailbox),
            Kind::Notification { method, .. } => self.notified(client, message, &method),
            Kind::Response { .. } | Kind::Error { .. } => self.answered_back(client, message),
        }
    }

    fn request(&self, client: &Arc<Client>, message: &Message, method: &str, id: &Id, mailbox: &Arc<Mailbox>) {
        self.core.counters.requests.add();
        let answer = |message: Bytes| {
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        };
        let done = || answer(success_response(id, &RawJson::empty_object()));
        if client.introduction.era == Era::Modern && REMOVED.contains(&method) {
            let text = format!("there is no `{method}` in {} any more", ProtocolVersion::LATEST);
            return answer(Fault::refused(ErrorCode::METHOD_NOT_FOUND, text).response(id));
        }
        let refuse = |text: &str| answer(Fault::refused(ErrorCode::INVALID_PARAMS, text).response(id));
        let uri = || message.resource_uri().ok().flatten();
        let purpose = match method {
            "ping" => return done(),
            "initialize" => {
                let text = "this session has been initialized";
                return answer(Fault::refused(ErrorCode::INVALID_REQUEST, text).response(id));
            }
            "tools/call" | "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/list" => {
                match self.task_purpose(client, message, method) {
                    Ok(purpose) => purpose,
                    Err(text) => return refuse(text),
                }
            }
            "logging/setLevel" => match Level::of(message) {
                Some(level) if self.has_level(client, level) => return done(),
                Some(wanted) => {
                    let others = Self::level_of_others(&self.state(), client);
                    Purpose::SetLevel { wanted, told: others.map_or(wanted, |others| others.min(wanted)) }
                }
                None => Purpose::Other,
            },
            "resources/subscribe" | "resources/unsubscribe" if self.sharing == Sharing::OneCall => {
                return refuse("each call has its own process here, so there is nothing to subscribe to");
            }
            "resources/subscribe" => match uri() {
                Some(uri) if self.is_subscribed_by_another(client, &uri) => {
                    client.subscribe(&uri);
                    return done();
                }
                Some(uri) => Purpose::Subscribe(uri),
                None => Purpose::Other,
            },
            "resources/unsubscribe" => match uri() {
                Some(uri) if self.is_wanted_by_another(client, &uri) => {
                    client.unsubscribe(&uri);
                    return done();
                }
                Some(uri) => Purpose::Unsubscribe(uri),
                None => Purpose::Other,
            },
            "resources/read" => match uri() {
                Some(uri) if Results::is_ours(&uri) => {
                    return self.read_kept(client, uri, id.clone(), mailbox);
                }
                Some(_) | None => Purpose::Other,
            },
            _ => match List::of_method(method) {
                Some(list) => match self.page_while_away(list, message) {
                    Some(page) => {
                        // So that the process is there when the client goes on.
                        self.wake();
                        return answer(success_response(id, &page));
                    }
                    None => Purpose::Other,
                },
                None => Purpose::Other,
            },
        };
        if !client.admit(self.core.settings.limits.session_requests) {
            let fault =
                Fault::saturated("unanswered requests in this session", self.core.settings.limits.session_requests);
            return answer(fault.response(id));
        }
        self.forward(client, message, method, id, mailbox, purpose);
    }

    /// Sends a request that was admitted, or has it wait.
    fn forward(
        &self,
        client: &Arc<Client>,
        message: &Message,
        method: &str,
        id: &Id,
        mailbox: &Arc<Mailbox>,
        purpose: Purpose,
    ) {
        let number = self.next_number();
        let (sent, token) = match Self::translated(message, number, &purpose) {
            Ok(translated) => translated,
            Err(text) => {
                client.dismiss();
                let message = Fault::refused(ErrorCode::INVALID_PARAMS, text).response(id);
                mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
                return;
            }
        };
        let now = Instant::now();
        let asker = Asker::Client { client: Arc::clone(client), mailbox: Arc::clone(mailbox), id: id.clone(), token };
        let mut pending =
            Pending { asker, purpose, stage: Stage::Waiting(Bytes::new()), began: now, heard: now, again: None };
        self.with_instance(Instance::work_began);
        let limits = &self.core.settings.limits;
        let mut state = self.state();
        if Self::is_repeatable(&state.repeatable, method, message) {
            pending.again = Some(sent.clone());
        }
        let refused = if let Some(fault) = &state.ended {
            fault.clone()
        } else if let Some(link) = &state.link {
            let input = link.input.clone();
            pending.stage = Stage::Sent(link.generation);
            state.pending.insert(number, pending);
            // Where many ask, others are about to.
            let is_crowded = state.pending.len() >= CROWD;
            drop(state);
            let outcome = if is_crowded { input.send_together(sent) } else { input.send(sent) };
            // Where the input is closed, the end of the process is on its way and answers the request.
            if outcome != Err(FeedError::Full) {
                self.core.watch();
                return;
            }
            let Some(unsent) = self.state().pending.remove(number) else { return };
            let fault = Fault::saturated("bytes on the way to the server", limits.message_bytes);
            return self.refuse(vec![(number, unsent)], &fault);
        } else if state.waiting.len() >= limits.waiting_requests {
            Fault::saturated("requests waiting for the server to start", limits.waiting_requests)
        } else if !state.waiting.is_empty() && state.pending.waiting_bytes() + sent.len() > limits.message_bytes {
            Fault::saturated("bytes of requests waiting for the server to start", limits.message_bytes)
        } else {
            pending.stage = Stage::Waiting(sent);
            state.pending.insert(number, pending);
            state.waiting.push_back(number);
            drop(state);
            self.wake();
            self.core.watch();
            return;
        };
        drop(state);
        self.refuse(vec![(number, pending)], &refused);
    }

    /// The request as the process gets it, and the token under which the client wants to hear of its progress.
    fn translated(message: &Message, number: Number, purpose: &Purpose) -> Result<(Bytes, Option<Id>), String> {
        let text = |error: kennel_wire::FieldError| error.to_string();
        let minted = Id::number(number);
        let token = message.progress_token().map_err(text)?;
        let mut rewrite = message.rewrite().id(&minted).map_err(text)?;
        if token.is_some() {
            rewrite = rewrite.progress_token(&minted).map_err(text)?;
        }
        if let Purpose::SetLevel { wanted, told } = purpose
            && told < wanted
        {
            rewrite = rewrite.replace(LEVEL, &told.raw()).map_err(text)?;
        }
        Ok((rewrite.finish_line(), token))
    }

    fn is_repeatable(tools: &std::collections::HashSet<String>, method: &str, message: &Message) -> bool {
        match method {
            "tools/call" if !tools.is_empty() => {
                message.text_at(&["params", "name"]).ok().flatten().is_some_and(|name| tools.contains(&name))
            }
            _ => LOOKING.contains(&method),
        }
    }

    /// A page of the catalog, while there is no process to ask.
    fn page_while_away(&self, list: List, request: &Message) -> Option<RawJson> {
        if self.state().link.is_some() {
            return None;
        }
        self.catalog.offer().page(list, request)
    }

    fn read_kept(&self, client: &Arc<Client>, uri: String, id: Id, mailbox: &Arc<Mailbox>) {
        let (core, client, mailbox) = (Arc::clone(&self.core), Arc::clone(client), Arc::clone(mailbox));
        self.core.tasks.spawn(async move {
            let message = core.results.read(&client, &uri, &id).await;
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        });
    }

    fn notified(&self, client: &Arc<Client>, message: &Message, method: &str) {
        match method {
            // The process was told when it was ready.
            "notifications/initialized" => {}
            "notifications/cancelled" => self.cancelled(client, message),
            "notifications/progress" => self.progress_back(client, message),
            // The roots of one client are nothing to a process of many.
            "notifications/roots/list_changed" if self.sharing == Sharing::Shared => {}
            _ => {
                let sent = message.rewrite().finish_line();
                let mut state = self.state();
                let limits = &self.core.settings.limits;
                let waiting: usize = state.waiting_notifications.iter().map(Bytes::len).sum();
                match &state.link {
                    Some(link) => drop(link.input.send(sent)),
                    None if state.waiting_notifications.len() < limits.waiting_requests
                        && waiting + sent.len() <= limits.message_bytes =>
                    {
                        state.waiting_notifications.push(sent);
                    }
                    None => {}
                }
            }
        }
    }

    /// A client no longer wants an answer: it gets none, and the process is told.
    fn cancelled(&self, client: &Arc<Client>, message: &Message) {
        let Ok(Some(id)) = message.cancelled_request() else { return };
        let number = self.state().pending.of_client(client.key, |asked, _| *asked == id);
        let Some(number) = number else { return };
        if let Ok(rewrite) = message.rewrite().cancelled_request(&Id::number(number)) {
            self.withdraw(client, number, rewrite.finish_line());
        }
    }

    /// A client has gone from a request without a word.
    pub(crate) fn call_off(&self, client: &Arc<Client>, id: &Id, mailbox: &Arc<Mailbox>) {
        let is_it = |asked: &Id, place: &Arc<Mailbox>| asked == id && Arc::ptr_eq(place, mailbox);
        let number = self.state().pending.of_client(client.key, is_it);
        if let Some(number) = number {
            self.withdraw(client, number, line(&cancellation(number, "the client has gone")));
        }
    }

    /// Takes a request back, for which the process is told this line if it has it.
    fn withdraw(&self, client: &Arc<Client>, number: Number, told: Bytes) {
        let withdrawn = {
            let mut state = self.state();
            let Some(pending) = state.pending.remove(number) else { return };
            match pending.stage {
                Stage::Waiting(_) => state.waiting.retain(|waiting| *waiting != number),
                Stage::Sent(_) => {
                    if let Some(link) = &state.link {
                        let _ = link.input.send(told);
                    }
                }
            }
            pending
        };
        self.with_instance(Instance::work_ended);
        client.dismiss();
        if let Asker::Client { mailbox, .. } = withdrawn.asker {
            mailbox.post(Outgoing { message: Bytes::new(), kind: OutgoingKind::Withdrawn });
        }
        self.ended_call();
    }

    /// Lets go of a session: what it asked is called off, what it was asked is refused.
    pub(crate) fn leave(&self, client: &Arc<Client>) {
        let taken = {
            let mut state = self.state();
            state.members.remove(&client.key);
            let taken = state.pending.take(
                |pending| matches!(&pending.asker, Asker::Client { client: asker, .. } if asker.key == client.key),
            );
            for (number, pending) in &taken {
                if let Stage::Sent(_) = pending.stage {
                    Self::tell(&state, &cancellation(*number, "the client has gone"));
                }
            }
            state.waiting.retain(|number| !taken.iter().any(|(gone, _)| gone == number));
            for refusal in state.backward.orphans(client.key) {
                if let Some(link) = &state.link {
                    let _ = link.input.send(line(&refusal));
                }
            }
            if self.sharing == Sharing::Shared {
                self.tidy_after(&mut state, client);
            }
            taken
        };
        self.refuse(taken, &self.closing());
    }
}

/// What tells a process that an answer is no longer wanted.
pub(crate) fn cancellation(number: Number, reason: &str) -> Bytes {
    let params = serde_json::json!({ "requestId": number, "reason": reason }).to_string();
    let params = RawJson::parse(params).unwrap_or_else(|_| RawJson::empty_object());
    notification("notifications/cancelled", &params)
}
