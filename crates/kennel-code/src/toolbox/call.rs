//! One call of a tool: from code to its server, and back.

use crate::notebook::{AskError, AskErrorKind, Asking, Patience};
use crate::server::Client;
use crate::sync::lock;
use kennel_hub::{Attached, EndpointSession, Mailbox, MailboxLimits, Outgoing, OutgoingKind};
use kennel_wire::{Id, Kind, Message, RawJson, notification, request};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

/// Calls in one session with the servers.
pub(super) struct Calls {
    session: EndpointSession,
    client: Arc<Client>,
    /// For what has no answer.
    nowhere: Arc<Mailbox>,
    last: AtomicI64,
    /// What servers ask the client while they work on a call, by the ids of the questions.
    asked: Mutex<HashMap<Id, Asking>>,
}

impl Calls {
    pub(super) fn new(session: EndpointSession, client: Arc<Client>) -> Self {
        let nowhere = Mailbox::new(MailboxLimits::default());
        nowhere.close();
        Self { session, client, nowhere, last: AtomicI64::new(0), asked: Mutex::default() }
    }

    /// Gives the servers something that has no answer.
    pub(super) fn tell(&self, message: Message) {
        if let (Kind::Response { .. } | Kind::Error { .. }, Some(id)) = (message.kind(), message.id()) {
            lock(&self.asked).remove(id);
        }
        self.session.receive(message, &self.nowhere);
    }

    /// Calls a tool and returns its result, errors of the tool included. It is cancelled when the future is dropped.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &str,
        patience: &Patience,
    ) -> Result<Box<RawValue>, AskError> {
        let unreadable = |error: kennel_wire::ParseError| AskError::new(AskErrorKind::Protocol, error.to_string());
        let arguments = RawJson::parse(arguments.to_owned()).map_err(unreadable)?;
        let params = RawJson::object([("name", &RawJson::string(tool)), ("arguments", &arguments)]);
        let id = Id::number(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        let message = Message::parse(request(&id, "tools/call", &params)).map_err(unreadable)?;
        let mailbox = Mailbox::new(MailboxLimits::default());
        let attached = mailbox.attach();
        let mut open = Open { calls: self, id, is_answered: false, questions: Vec::new(), _attached: attached };
        self.session.receive(message, &mailbox);
        while let Some(Outgoing { message, kind }) = mailbox.next().await {
            match kind {
                OutgoingKind::Request => {
                    open.asks(&message, patience);
                    self.client.say(message).await;
                }
                OutgoingKind::Notification => {}
                OutgoingKind::Response => {
                    open.is_answered = true;
                    return answer(message);
                }
                OutgoingKind::Withdrawn => break,
            }
        }
        open.is_answered = true;
        let text = "the call was called off before it was answered; whether it had an effect is not known";
        Err(AskError::new(AskErrorKind::Protocol, text))
    }
}

/// A call that is not answered yet.
struct Open<'a> {
    calls: &'a Calls,
    id: Id,
    is_answered: bool,
    /// What was asked meanwhile.
    questions: Vec<Id>,
    _attached: Attached,
}

impl Open<'_> {
    /// Notes that the client is asked something.
    fn asks(&mut self, question: &bytes::Bytes, patience: &Patience) {
        if let Some(id) = Message::parse(question.clone()).ok().and_then(|question| question.id().cloned()) {
            lock(&self.calls.asked).insert(id.clone(), patience.asking());
            self.questions.push(id);
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        for question in &self.questions {
            lock(&self.calls.asked).remove(question);
        }
        if self.is_answered {
            return;
        }
        let id = RawJson::parse(self.id.spelling().to_vec()).unwrap_or_else(|_| RawJson::empty_object());
        let reason = RawJson::string("the code that called has ended");
        let params = RawJson::object([("requestId", &id), ("reason", &reason)]);
        if let Ok(message) = Message::parse(notification("notifications/cancelled", &params)) {
            self.calls.tell(message);
        }
    }
}

/// What an answer says.
fn answer(message: bytes::Bytes) -> Result<Box<RawValue>, AskError> {
    #[derive(Deserialize)]
    struct ErrorObject {
        code: i64,
        #[serde(default)]
        message: String,
        #[serde(default)]
        data: Option<Box<RawValue>>,
    }
    let protocol = |text: String| AskError::new(AskErrorKind::Protocol, text);
    let message = Message::parse(message).map_err(|error| protocol(error.to_string()))?;
    match message.kind() {
        Kind::Response { result, .. } => serde_json::from_slice(result).map_err(|error| protocol(error.to_string())),
        Kind::Error { error, .. } => {
            let error: ErrorObject = serde_json::from_slice(error).map_err(|error| protocol(error.to_string()))?;
            Err(AskError { code: Some(error.code), data: error.data, ..protocol(error.message) })
        }
        Kind::Request { .. } | Kind::Notification { .. } => Err(protocol("the server's answer is none".to_owned())),
    }
}
