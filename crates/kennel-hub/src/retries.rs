//! Questions of a modern process to a client that is asked directly: they come as the answer to a request, the client is
//! asked, and the request is made again with what it said.

use crate::backward::Question;
use crate::client::Client;
use crate::dialect::{self, INPUT_RESPONSES, REQUEST_STATE};
use crate::exchange::{Exchange, State};
use crate::fault::Fault;
use crate::mailbox::{Outgoing, OutgoingKind};
use crate::pending::{Asker, Number, Pending, Stage};
use crate::pool::next_question;
use kennel_supervisor::{Generation, Instance};
use kennel_wire::{ErrorCode, Id, Message, RawJson, request};
use std::sync::Arc;
use tokio::time::Instant;

/// How often a request is made again, at most.
const MOST_ROUNDS: usize = 32;

/// What a modern process has asked, and what of it is answered.
#[derive(Debug)]
pub(crate) struct Inquiry {
    state: Option<RawJson>,
    answers: Vec<(String, Option<RawJson>)>,
}

impl Inquiry {
    fn is_answered(&self) -> bool {
        self.answers.iter().all(|(_, answer)| answer.is_some())
    }
}

/// Whether an answer asks for more.
pub(crate) fn is_question(message: &Message) -> bool {
    matches!(message.text_at(&["result", "resultType"]), Ok(Some(kind)) if kind == "input_required")
}

impl Exchange {
    /// Asks a client what a modern process wants to know before it goes on with a request.
    pub(crate) async fn inquire(
        &self,
        generation: Generation,
        number: Number,
        mut pending: Pending,
        message: &Message,
    ) {
        let asked = message.field(&["result", "inputRequests"]).ok().flatten();
        let asked = asked.map(|asked| asked.members()).unwrap_or_default();
        let state_of_it = message.field(&["result", REQUEST_STATE]).ok().flatten();
        let Asker::Client { client, mailbox, .. } = &pending.asker else { return };
        let (client, mailbox) = (Arc::clone(client), Arc::clone(mailbox));
        let refused = self.refuses(&client, &pending, &asked, message.bytes().len());
        if let Some(text) = refused {
            let fault = Fault::refused(ErrorCode::INTERNAL_ERROR, text);
            self.vacate(&mut pending);
            return self.refuse(vec![(number, pending)], &fault);
        }
        let mut questions = Vec::new();
        {
            let mut state = self.state();
            for (name, asked) in &asked {
                let question = next_question();
                let method = member(asked, "method").and_then(|method| method_of(&method)).unwrap_or_default();
                let params = member(asked, "params").unwrap_or_else(RawJson::empty_object);
                questions.push(request(&Id::number(question), &method, &params));
                let noted = Question {
                    generation,
                    id: Id::string(name),
                    token: None,
                    client: client.key,
                    mailbox: Some(Arc::clone(&mailbox)),
                    carrier: Some(number),
                    // All of them are parts of one message.
                    bytes: if questions.len() == 1 { message.bytes().len() } else { name.len() },
                };
                state.backward.note(question, noted);
            }
            let answers = asked.into_iter().map(|(name, _)| (name, None)).collect();
            pending.inquiry = Some(Box::new(Inquiry { state: state_of_it, answers }));
            pending.stage = Stage::Asking;
            pending.heard = Instant::now();
            state.pending.insert(number, pending);
        }
        if questions.is_empty() {
            return self.retry(number);
        }
        for message in questions {
            self.deliver(&mailbox, Outgoing { message, kind: OutgoingKind::Request }).await;
        }
    }

    /// Why a client cannot be asked this; nothing where it can.
    fn refuses(&self, client: &Client, pending: &Pending, asked: &[(String, RawJson)], bytes: usize) -> Option<String> {
        let rounds = pending.origin.as_ref().map_or(MOST_ROUNDS, |origin| origin.rounds);
        if rounds >= MOST_ROUNDS {
            let server = &self.core.settings.name;
            return Some(format!("{server} asked for more {MOST_ROUNDS} times; the request was given up"));
        }
        // The names may be spelled longer than they are.
        let refused = self.state().backward.refuses(asked.len(), bytes.saturating_mul(2), &self.core.settings.limits);
        if refused.is_some() {
            return refused;
        }
        let unable = asked.iter().find_map(|(_, asked)| {
            let method = member(asked, "method").and_then(|method| method_of(&method)).unwrap_or_default();
            (!client.introduction.capabilities.allow(&method)).then_some(method)
        })?;
        Some(format!("the server asked for `{unable}`, which the client does not support"))
    }

    /// Takes a client's answer to a question that came as an answer; says whether it was one.
    pub(crate) fn informed(&self, question: &Question, message: &Message) -> bool {
        let Some(number) = question.carrier else { return false };
        let mut state = self.state();
        let Some(pending) = state.pending.get_mut(number) else { return true };
        if pending.inquiry.is_none() {
            return true;
        }
        let Some(answer) = message.result() else {
            let pending = state.pending.remove(number);
            Self::unask(&mut state, number);
            drop(state);
            if let Some(pending) = pending {
                self.failed_inquiry(pending, message);
            }
            return true;
        };
        let limit = self.core.settings.limits.in_flight_bytes;
        if !state.pending.grow(number, answer.as_bytes().len(), limit) {
            let pending = state.pending.remove(number);
            Self::unask(&mut state, number);
            drop(state);
            let fault = Fault::saturated("bytes of requests in flight and of their answers", limit);
            self.refuse(pending.into_iter().map(|pending| (number, pending)).collect(), &fault);
            return true;
        }
        let Some(inquiry) = state.pending.get_mut(number).and_then(|pending| pending.inquiry.as_mut()) else {
            return true;
        };
        let name = question.id.as_str().unwrap_or_default();
        let place = inquiry.answers.iter_mut().find(|(asked, _)| *asked == name);
        if let Some((_, place)) = place {
            *place = Some(answer);
        }
        let is_answered = inquiry.is_answered();
        drop(state);
        if is_answered {
            self.retry(number);
        }
        true
    }

    /// Answers a request with the error that a client gave to a question about it.
    fn failed_inquiry(&self, pending: Pending, message: &Message) {
        self.with_instance(Instance::work_ended);
        self.go_on();
        if let Asker::Client { client, mailbox, id, .. } = pending.asker {
            client.dismiss();
            let message = message.with_id(&id).unwrap_or_else(|_| message.bytes().clone());
            mailbox.post(Outgoing { message, kind: OutgoingKind::Response });
        }
        self.ended_call();
    }

    /// Makes a request again, with what its client said.
    fn retry(&self, number: Number) {
        let again = self.next_number();
        let mut state = self.state();
        let Some(mut pending) = state.pending.remove(number) else { return };
        let Some(inquiry) = pending.inquiry.take() else { return };
        let (Asker::Client { client, .. }, Some(origin)) = (&pending.asker, &mut pending.origin) else {
            return;
        };
        origin.rounds += 1;
        let message = &origin.message;
        let mut further = Vec::new();
        if !inquiry.answers.is_empty() {
            let answers = inquiry.answers.iter().filter_map(|(name, answer)| Some((name.as_str(), answer.as_ref()?)));
            further.push((INPUT_RESPONSES, RawJson::object(answers)));
        }
        further.extend(inquiry.state.map(|state| (REQUEST_STATE, state)));
        let said = dialect::new_request(message, &Id::number(again), &client.declared(), &further);
        let sent = match (said, state.link.clone()) {
            (Ok(said), Some(link)) => {
                pending.stage = Stage::Sent(link.generation);
                (pending.began, pending.heard) = (Instant::now(), Instant::now());
                state.pending.insert(again, pending);
                drop(state);
                link.input.send(said).is_ok()
            }
            // The process has gone: the next one gets the request as the client made it.
            (Ok(_), None) => {
                pending.stage = Stage::Waiting(Box::new(message.clone()));
                state.pending.insert(again, pending);
                state.waiting.push_back(again);
                drop(state);
                self.wake();
                true
            }
            (Err(error), _) => {
                drop(state);
                let fault =
                    Fault::refused(ErrorCode::INTERNAL_ERROR, format!("the request cannot be made again: {error}"));
                return self.refuse(vec![(again, pending)], &fault);
            }
        };
        if !sent && let Some(pending) = self.state().pending.remove(again) {
            let limit = self.core.settings.limits.message_bytes;
            self.refuse(vec![(again, pending)], &Fault::saturated("bytes on the way to the server", limit));
        }
        self.core.watch();
    }

    /// Forgets what a client was asked about a request that is no longer wanted.
    pub(crate) fn unask(state: &mut State, number: Number) {
        state.backward.forget_carried(number);
    }
}

fn member(object: &RawJson, name: &str) -> Option<RawJson> {
    object.members().into_iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

/// The text of a JSON string.
fn method_of(method: &RawJson) -> Option<String> {
    serde_json::from_slice(method.as_bytes()).ok()
}
