//! From a client to the process: its requests, notifications and answers.

use crate::audit::Entry;
use crate::client::Client;
use crate::dialect::{self, Subject};
use crate::exchange::{Exchange, Sharing, State};
use crate::fault::Fault;
use crate::level::{LEVEL, Level};
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Origin, Pending, Purpose, Stage};
use crate::places::Place;
use crate::rounds::Rounds;
use crate::tasks::without_tasks;
use bytes::Bytes;
use kennel_supervisor::{FeedError, Generation, Instance, Link};
use kennel_wire::{Era, ErrorCode, Id, Kind, Message, RawJson, meta, success_response};
use std::sync::Arc;

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

/// Where a request says which extensions its client knows.
const DECLARED_EXTENSIONS: &[&str] = &["params", "_meta", meta::CLIENT_CAPABILITIES, "extensions"];

/// What became of a request on its way to a process.
pub(crate) enum Prepared {
    /// It can be sent.
    ToSend,
    /// This is its answer.
    Settled(Bytes),
}

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
        let purpose = plain(message, method).and_then(|()| {
            if client.is_modern() {
                self.modern_purpose(client, message, method, id, mailbox)
            } else {
                self.legacy_purpose(client, message, method, id, mailbox)
            }
        });
        let purpose = match purpose {
            Ok(Some(purpose)) => purpose,
            Ok(None) => return,
            Err(fault) => return answer(fault.response(id)),
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
        // Said in the words of the process before the lock is taken, for it takes a copy.
        let limits = &self.core.settings.limits;
        let said = message.progress_token().map_err(|error| error.to_string()).and_then(|token| {
            limits.check_names(id, token.as_ref())?;
            let era = self.era();
            let line = era.map(|era| self.line_for(era, client, message, number, &purpose)).transpose()?;
            Ok((token, era, line))
        });
        let unsayable = |text: String| Fault::refused(ErrorCode::INVALID_PARAMS, text);
        let (token, said_in, sent) = match said {
            Ok(said) => said,
            Err(text) => {
                client.dismiss();
                mailbox.post(Outgoing { message: unsayable(text).response(id), kind: OutgoingKind::Response });
                return;
            }
        };
        let asker = Asker::Client { client: Arc::clone(client), mailbox: Arc::clone(mailbox), id: id.clone(), token };
        let mut pending = Pending::new(asker, purpose, Subject::of(method), Stage::Asking);
        pending.place = self.place_for(method);
        let settings = &self.core.settings;
        pending.entry =
            settings.audit.as_ref().and_then(|audit| Entry::of(audit, &settings.name, client, method, message));
        pending.bytes = u32::try_from(message.bytes().len()).unwrap_or(u32::MAX);
        self.with_instance(Instance::work_began);
        let mut state = self.state();
        if Self::is_repeatable(&state.repeatable, method, message) {
            pending.again = Some(Box::new(message.clone()));
        }
        let refused = if let Some(fault) = &state.ended {
            fault.clone()
        } else if !state.pending.has_room_for(message.bytes().len(), limits.in_flight_bytes) {
            Fault::saturated("bytes of requests in flight and of their answers", limits.in_flight_bytes)
        } else if let Some(Link { generation, input, handshake }) = &state.link
            && self.may_go(&state, &pending, handshake.era)
        {
            let (generation, era, input) = (*generation, handshake.era, input.clone());
            let sent = match sent {
                Some(sent) if said_in == Some(era) => Ok(sent),
                // The process has become ready, or is another one, since the request was said in its words.
                _ => self.line_for(era, client, message, number, &pending.purpose),
            };
            let outcome = match (self.prepare(&mut state, generation, era, &mut pending, message), sent) {
                (Prepared::Settled(answer), _) => {
                    drop(state);
                    self.with_instance(Instance::work_ended);
                    client.dismiss();
                    mailbox.post(Outgoing { message: answer, kind: OutgoingKind::Response });
                    return;
                }
                (Prepared::ToSend, Err(text)) => {
                    drop(state);
                    return self.refuse(vec![(number, pending)], &unsayable(text));
                }
                (Prepared::ToSend, Ok(sent)) => {
                    let is_placed = pending.place != Place::NotNeeded;
                    state.pending.insert(number, pending);
                    // Where many ask, others are about to.
                    let is_crowded = state.pending.len() >= CROWD;
                    // What has a place is sent before anybody can take that from it and send the next.
                    let _held = is_placed.then_some(state);
                    if is_crowded { input.send_together(sent) } else { input.send(sent) }
                }
            };
            // Where the input is closed, the end of the process is on its way and answers the request.
            if outcome != Err(FeedError::Full) {
                self.core.watch();
                return;
            }
            let Some(unsent) = self.state().pending.remove(number) else { return };
            let fault = Fault::saturated("bytes on the way to the server", limits.message_bytes);
            return self.refuse(vec![(number, unsent)], &fault);
        } else if state.waiting.len() >= limits.waiting_requests {
            Fault::saturated(&format!("requests waiting for {}", state.awaited()), limits.waiting_requests)
        } else if !state.waiting.is_empty()
            && state.pending.waiting_bytes() + message.bytes().len() > limits.message_bytes
        {
            Fault::saturated(&format!("bytes of requests waiting for {}", state.awaited()), limits.message_bytes)
        } else {
            pending.stage = Stage::Waiting(Box::new(message.clone()));
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

    /// A request as a line for a process of this era.
    pub(crate) fn line_for(
        &self,
        era: Era,
        client: &Client,
        message: &Message,
        number: Number,
        purpose: &Purpose,
    ) -> Result<Bytes, String> {
        let text = |error: kennel_wire::FieldError| error.to_string();
        let minted = Id::number(number);
        match (client.introduction.era, era) {
            (Era::Modern, Era::Legacy) => {
                self.may_repeat(client, message)?;
                return dialect::old_request(message, &minted).map_err(text);
            }
            (Era::Legacy, Era::Modern) => {
                return dialect::new_request(message, &minted, &client.declared(), &[]).map_err(text);
            }
            (Era::Legacy, Era::Legacy) | (Era::Modern, Era::Modern) => {}
        }
        let mut rewrite = message.rewrite().id(&minted).map_err(text)?;
        if message.progress_token().map_err(text)?.is_some() {
            rewrite = rewrite.progress_token(&minted).map_err(text)?;
        }
        if self.sharing == Sharing::OneCall
            && let Some(others) = without_tasks(message, DECLARED_EXTENSIONS)
        {
            // A task would end with the process of its call, so the server is not to make one.
            rewrite = rewrite.replace(DECLARED_EXTENSIONS, &others).map_err(text)?;
        }
        if let Purpose::SetLevel { wanted, told } = purpose
            && told < wanted
        {
            rewrite = rewrite.replace(LEVEL, &told.raw()).map_err(text)?;
        }
        Ok(rewrite.finish_line())
    }

    /// Readies a request for the process: notes that this one has it, and what has to be told or kept beforehand. What
    /// a process of its era has nothing to do with is settled here.
    pub(crate) fn prepare(
        &self,
        state: &mut State,
        generation: Generation,
        era: Era,
        pending: &mut Pending,
        message: &Message,
    ) -> Prepared {
        pending.stage = Stage::Sent(generation);
        let Asker::Client { client, id, .. } = &pending.asker else { return Prepared::ToSend };
        match (client.introduction.era, era) {
            (Era::Legacy, Era::Modern) => {
                if self.is_settled(state, client, &pending.purpose) {
                    return Prepared::Settled(success_response(id, &RawJson::empty_object()));
                }
                pending.origin = pending.subject.may_ask().then(|| Origin::of(message));
            }
            (Era::Modern, Era::Legacy) => {
                pending.level = Level::wanted(message);
                if let Some(level) = pending.level {
                    self.have_logged(state, level);
                }
                if pending.subject.may_ask() {
                    pending.origin = Some(Origin::of(message));
                    pending.rounds = Rounds::of(message);
                }
            }
            (Era::Modern, Era::Modern) => pending.level = Level::wanted(message),
            (Era::Legacy, Era::Legacy) => {}
        }
        Prepared::ToSend
    }

    fn is_repeatable(tools: &std::collections::HashSet<String>, method: &str, message: &Message) -> bool {
        match method {
            "tools/call" if !tools.is_empty() => {
                message.text_at(&["params", "name"]).ok().flatten().is_some_and(|name| tools.contains(&*name))
            }
            _ => LOOKING.contains(&method),
        }
    }

    /// Takes a notification of a client. Only what clients may say by the protocol is passed on, and only to a process
    /// that it is for: one that goes by the method alone would take anything else for a request that nobody has looked
    /// at.
    fn notified(&self, client: &Arc<Client>, message: &Message, method: &str) {
        match method {
            // The process was told when it was ready.
            "notifications/initialized" => {}
            "notifications/cancelled" => self.cancelled(client, message),
            "notifications/progress" => self.progress_back(client, message),
            // The roots of one client are nothing to a process of many.
            "notifications/roots/list_changed" if self.sharing == Sharing::Shared => {}
            "notifications/roots/list_changed" => self.pass_on(client, message),
            "notifications/tasks/status" => {
                let task = message.text_at(&["params", "taskId"]).ok().flatten();
                if task.is_some_and(|task| client.has_task(&task)) {
                    self.pass_on(client, message);
                }
            }
            _ => self.core.counters.refused_notifications.add(),
        }
    }

    /// Sends a notification as it is, to a process that knows such.
    fn pass_on(&self, client: &Client, message: &Message) {
        // There is nothing that a client tells a modern process of its own accord.
        if self.era() == Some(Era::Modern) || client.is_modern() {
            return;
        }
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

/// Whether a request can be passed on so that every reader takes it for the same.
fn plain(message: &Message, method: &str) -> Result<(), Fault> {
    if method.starts_with("notifications/") {
        let text = format!("`{method}` is a notification, which has no id");
        return Err(Fault::refused(ErrorCode::METHOD_NOT_FOUND, text));
    }
    match message.subject() {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::refused(ErrorCode::INVALID_PARAMS, error.to_string())),
    }
}
