//! From the process to a client: its requests, and the clients' answers to them.

use crate::backward::{Question, refusal};
use crate::client::Client;
use crate::exchange::{Exchange, Sharing, State, line};
use crate::mailbox::{Mailbox, Outgoing, OutgoingKind};
use crate::pool::next_question;
use kennel_supervisor::{Generation, Link};
use kennel_wire::{ErrorCode, Id, Message, RawJson, success_response};
use std::sync::Arc;

impl Exchange {
    /// Takes a request of the process.
    pub(crate) async fn asked(&self, generation: Generation, message: &Message, method: &str, id: &Id) {
        if method == "ping" {
            return self.reply(generation, &success_response(id, &RawJson::empty_object()));
        }
        let found = {
            let mut state = self.state();
            self.address(&mut state, generation, message, method, id)
        };
        let (delivery, number) = match found {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err((code, text)) => return self.reply(generation, &refusal(id, code, &text)),
        };
        let (client, mailbox, outgoing) = delivery;
        if !self.deliver(&mailbox, outgoing).await && self.state().backward.answered(number, client.key).is_some() {
            self.reply(generation, &refusal(id, ErrorCode::INTERNAL_ERROR, "the client does not read its messages"));
        }
    }

    /// Finds the one client that a request of the process is for, and notes that it was asked; nothing more is to do
    /// where a request of the client carries the question.
    #[expect(clippy::type_complexity, reason = "three parts of one delivery, used by the one caller")]
    fn address(
        &self,
        state: &mut State,
        generation: Generation,
        message: &Message,
        method: &str,
        id: &Id,
    ) -> Result<Option<((Arc<Client>, Arc<Mailbox>, Outgoing), i64)>, (ErrorCode, String)> {
        let (client, mailbox) = self.addressee(state, message).ok_or_else(|| {
            let text = "the process is shared by several clients and it is not known which of them is meant";
            (ErrorCode::INTERNAL_ERROR, text.to_owned())
        })?;
        let able = client.introduction.capabilities.allow(method);
        if !able {
            return Err((ErrorCode::METHOD_NOT_FOUND, format!("the client does not support {method}")));
        }
        let limits = &self.core.settings.limits;
        // What a request of the client carries is kept until the client comes back; of another only what it is called.
        let names = id.spelling().len();
        let bytes = if client.is_modern() { message.bytes().len() + names } else { names };
        if let Some(text) = state.backward.refuses(1, bytes, limits) {
            return Err((ErrorCode::SATURATED, text));
        }
        if client.is_modern() {
            self.pose(state, generation, &client, message, id)?;
            return Ok(None);
        }
        let bad = |error: kennel_wire::FieldError| (ErrorCode::INVALID_PARAMS, error.to_string());
        let token = message.progress_token().map_err(bad)?;
        let bytes = bytes + token.as_ref().map_or(0, |token| token.spelling().len());
        let number = next_question();
        let minted = Id::number(number);
        let mut rewrite = message.rewrite().id(&minted).map_err(bad)?;
        if token.is_some() {
            rewrite = rewrite.progress_token(&minted).map_err(bad)?;
        }
        let outgoing = Outgoing { message: rewrite.finish(), kind: OutgoingKind::Request };
        let question = Question {
            generation,
            id: id.clone(),
            token,
            client: client.key,
            mailbox: Some(Arc::clone(&mailbox)),
            carrier: None,
            bytes,
        };
        state.backward.note(number, question);
        if method == "elicitation/create" {
            Self::elicitation_began(state, &client, message);
        }
        Ok(Some(((client, mailbox, outgoing), number)))
    }

    /// The one client that a request of the process is for: the owner of the task that it belongs to, or otherwise the
    /// only one it can be for.
    fn addressee(&self, state: &State, message: &Message) -> Option<(Arc<Client>, Arc<Mailbox>)> {
        if self.sharing != Sharing::Shared {
            return self.only_listener(state);
        }
        let Some(owner) = Self::related_owner(state, message) else { return self.only_listener(state) };
        match owner.sessions(state).as_slice() {
            [client] => Some((Arc::clone(client), Self::place(state, client))),
            _ => None,
        }
    }

    /// The one client that something without an address can be for, and where it goes.
    pub(crate) fn only_listener(&self, state: &State) -> Option<(Arc<Client>, Arc<Mailbox>)> {
        let client = match self.sharing {
            Sharing::Solitary | Sharing::OneCall => state.members.values().next()?,
            Sharing::Shared => {
                let at_work = state.pending.at_work();
                let mut keys = at_work.keys();
                let key = keys.next()?;
                if keys.next().is_some() {
                    return None;
                }
                state.members.get(key)?
            }
        };
        Some((Arc::clone(client), Self::place(state, client)))
    }

    /// Where something for a client goes: onto the stream of its request if there is just one, otherwise to where it
    /// listens, otherwise onto the stream of its oldest request.
    pub(crate) fn place(state: &State, client: &Client) -> Arc<Mailbox> {
        match state.pending.at_work().remove(&client.key) {
            Some((_, stream, 1)) => stream,
            Some((_, oldest, _)) if !client.unsolicited.is_attached() => oldest,
            Some(_) | None => Arc::clone(&client.unsolicited),
        }
    }

    /// Takes a client's answer to a request of the process.
    pub(crate) fn answered_back(&self, client: &Client, message: &Message) {
        let Some(number) = message.id().and_then(Id::as_integer) else { return };
        let mut state = self.state();
        let Some(question) = state.backward.answered(number, client.key) else { return };
        if question.carrier.is_some() {
            drop(state);
            self.informed(&question, message);
            return;
        }
        if let Some(link) = state.link.clone()
            && link.generation == question.generation
            && let Ok(rewrite) = message.rewrite().id(&question.id)
        {
            drop(state);
            if let Ok(Some(task)) = message.text_at(&["result", "task", "taskId"]) {
                client.note_task(&task);
            }
            let _ = link.input.send(rewrite.finish_line());
        }
    }

    /// Takes a client's progress with a request of the process.
    pub(crate) fn progress_back(&self, client: &Client, message: &Message) {
        let Ok(Some(reported)) = message.reported_token() else { return };
        let Some(number) = reported.as_integer() else { return };
        let state = self.state();
        if let Some(Question { token: Some(token), .. }) = state.backward.get(number, client.key)
            && let Some(link) = &state.link
            && let Ok(rewrite) = message.rewrite().reported_token(token)
        {
            let _ = link.input.send(rewrite.finish_line());
        }
    }

    /// Answers the process, if it is still the one that asked.
    fn reply(&self, generation: Generation, message: &bytes::Bytes) {
        if let Some(Link { generation: current, input, .. }) = &self.state().link
            && *current == generation
        {
            let _ = input.send(line(message));
        }
    }
}
