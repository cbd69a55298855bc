//! The client of one conversation: what is said to it, and what it is asked.

use crate::owner::unguessable;
use crate::sync::lock;
use bytes::Bytes;
use kennel_wire::{Id, Kind, Message, RawJson, notification, request};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// How many lines may wait to be read. What answers a request waits for room; what nobody has asked for is dropped.
const LINES: usize = 256;
/// What the ids of Kennel's own questions begin with. Those of servers are numbers.
const OWN: &str = "kennel-code-";

/// Why the client has not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("the client cannot be asked: it does not offer elicitation")]
    Unable,
    #[error("the client has not answered: {0}")]
    Failed(String),
    #[error("the client is gone")]
    Gone,
}

/// The client of one conversation.
#[derive(Debug)]
pub(crate) struct Client {
    lines: mpsc::Sender<Bytes>,
    /// What it has introduced itself with.
    introduction: Mutex<Option<RawJson>>,
    asked: Mutex<HashMap<String, oneshot::Sender<Result<Value, String>>>>,
}

impl Client {
    /// A client, and what is to be written to it.
    pub(crate) fn new() -> (Arc<Self>, mpsc::Receiver<Bytes>) {
        let (lines, written) = mpsc::channel(LINES);
        (Arc::new(Self { lines, introduction: Mutex::default(), asked: Mutex::default() }), written)
    }

    /// Notes how it has introduced itself.
    pub(crate) fn introduced(&self, params: RawJson) {
        *lock(&self.introduction) = Some(params);
    }

    /// How it has introduced itself.
    pub(crate) fn introduction(&self) -> Option<RawJson> {
        lock(&self.introduction).clone()
    }

    /// Says something that was asked for.
    pub(crate) async fn say(&self, message: Bytes) {
        // Where nobody reads any more, nobody misses it.
        let _ = self.lines.send(message).await;
    }

    /// Says something that nobody has asked for, if there is room.
    pub(crate) fn tell(&self, method: &str, params: &RawJson) {
        let _ = self.lines.try_send(notification(method, params));
    }

    /// Asks the user for something, as a form.
    pub(crate) async fn elicit(&self, params: &RawJson) -> Result<Value, Unanswered> {
        if !self.can("elicitation") {
            return Err(Unanswered::Unable);
        }
        // Answers may come along with a request before anything was asked; nobody can answer what has an unknown name.
        let name = unguessable('q').map_err(|error| Unanswered::Failed(error.to_string()))?;
        let name = format!("{OWN}{name}");
        let (answer, answered) = oneshot::channel();
        lock(&self.asked).insert(name.clone(), answer);
        let question = Question { client: self, name: &name };
        self.say(request(&Id::string(&name), "elicitation/create", params)).await;
        let answered = answered.await;
        drop(question);
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(problem)) => Err(Unanswered::Failed(problem)),
            Err(_) => Err(Unanswered::Gone),
        }
    }

    /// Takes the answer to a question; says whether it was one of Kennel's own.
    pub(crate) fn answered(&self, message: &Message) -> bool {
        let Some(name) = message.id().and_then(Id::as_str) else { return false };
        let Some(asked) = lock(&self.asked).remove(&*name) else { return name.starts_with(OWN) };
        let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
        let answer = match message.kind() {
            Kind::Response { result, .. } => parsed(result),
            Kind::Error { error, .. } => Err(parsed(error)
                .ok()
                .and_then(|error| error["message"].as_str().map(str::to_owned))
                .unwrap_or_else(|| "it answered with an error".to_owned())),
            Kind::Request { .. } | Kind::Notification { .. } => return false,
        };
        // Who asked may be gone.
        let _ = asked.send(answer);
        true
    }

    /// Whether the client says that it can be asked this.
    fn can(&self, capability: &str) -> bool {
        let introduction = lock(&self.introduction);
        let capabilities = introduction.as_ref().and_then(|params| {
            params.members().into_iter().find(|(name, _)| name == "capabilities").map(|(_, value)| value)
        });
        capabilities.is_some_and(|capabilities| capabilities.names().any(|name| name == capability))
    }
}

/// A question that nobody waits for any more when this is dropped.
struct Question<'a> {
    client: &'a Client,
    name: &'a str,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if lock(&self.client.asked).remove(self.name).is_some() {
            let params = RawJson::object([
                ("requestId", &RawJson::string(self.name)),
                ("reason", &RawJson::string("the code that asked has ended")),
            ]);
            self.client.tell("notifications/cancelled", &params);
        }
    }
}
