//! Owns how a call asks its client and logs to it, so that a tool need not know the era it is called in.
//!
//! In the legacy protocol the server sends requests and waits for the answers; in the modern one the call ends with a
//! result that asks, and runs again when the client comes back with the answers, or it is a task that has questions.

use serde_json::{Map, Value, json};

use crate::calls::{Answer, Call, NoResult};
use crate::content;
use crate::incoming::Failure;
use crate::server::severity;

/// One thing to ask.
pub(crate) struct Question {
    /// What the answer is found under in the modern protocol.
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) id: IdKind,
}

/// What the id of a legacy request is.
#[derive(Clone, Copy)]
pub(crate) enum IdKind {
    Number,
    Text,
    /// The key, by which a bridge can name the question to a modern client.
    Key,
}

/// When a modern result that asks has a `requestState`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sealing {
    /// Only if there is something to remember.
    WhenNeeded,
    /// Always, and answers without one do not count.
    Always,
}

impl Question {
    pub(crate) fn new(key: &str, method: &'static str, params: Value) -> Self {
        Self { key: key.to_owned(), method, params, id: IdKind::Number }
    }

    /// Asks the user for one text.
    pub(crate) fn form(key: &str, message: &str, property: &str) -> Self {
        let schema = json!({"type": "object", "properties": {property: {"type": "string"}}, "required": [property]});
        Self::new(key, "elicitation/create", json!({"message": message, "requestedSchema": schema})).with_key_id()
    }

    /// The same with the key as the id.
    pub(crate) fn with_key_id(self) -> Self {
        Self { id: IdKind::Key, ..self }
    }

    /// The same with a text as the id, where the others have a number.
    pub(crate) fn with_text_id(self) -> Self {
        Self { id: IdKind::Text, ..self }
    }
}

/// What a client must be able to do to be asked by this method.
pub(crate) fn capability(method: &str) -> &'static str {
    match method {
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        _ => "roots",
    }
}

impl Call {
    /// Whether the client says that it can do something.
    pub(crate) fn client_can(&self, capability: &str) -> bool {
        match &self.exchange {
            None => self.server.client_can(capability),
            Some(exchange) => exchange.client_can(capability),
        }
    }

    /// Ends the call if the client cannot do all of this: by a tool's error, or by the error that the modern protocol
    /// has for that.
    pub(crate) fn require(&self, capabilities: &[&str]) -> Result<(), NoResult> {
        let missing: Vec<&str> = capabilities.iter().copied().filter(|one| !self.client_can(one)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        if self.exchange.is_some() {
            let required: Map<String, Value> = missing.iter().map(|one| ((*one).to_owned(), json!({}))).collect();
            return Err(Failure::missing_capabilities(&Value::Object(required)).into());
        }
        Err(NoResult::Early(content::tool_error(format!("The client does not support {}", missing.join(" and ")))))
    }

    /// Asks the client one thing.
    pub(crate) fn ask(&self, question: Question, sealing: Sealing) -> Result<Answer, NoResult> {
        let mut answers = self.ask_all(&[question], sealing)?;
        Ok(answers.pop().unwrap_or_else(|| Err("no answer".to_owned())))
    }

    /// Asks the client several things at once; the answers are in the order of the questions.
    pub(crate) fn ask_all(&self, questions: &[Question], sealing: Sealing) -> Result<Vec<Answer>, NoResult> {
        match &self.exchange {
            None => self.ask_and_wait(questions),
            Some(exchange) => match exchange.ask(questions, sealing) {
                Err(NoResult::InputRequired(result)) => {
                    self.ask_by_task(questions).unwrap_or(Err(NoResult::InputRequired(result)))
                }
                outcome => outcome,
            },
        }
    }

    /// Asks for one thing of which only a text matters; any other answer ends the call with a tool's error.
    pub(crate) fn ask_for_text(&self, question: Question, pointer: &str, sealing: Sealing) -> Result<String, NoResult> {
        let answer = self.ask(question, sealing)?;
        text_in(&answer, pointer)
    }

    /// Sends a log message unless its level is not wanted; says whether it was sent, None if there is no such level.
    pub(crate) fn log(&self, level: &str, data: &str) -> Option<bool> {
        let Some(exchange) = &self.exchange else { return self.server.log(level, data) };
        // A task's messages would have no request that they belong to.
        let wanted = exchange.wants_log(severity(level)?) && self.task().is_none();
        if wanted {
            self.server.send_log(level, data);
        }
        Some(wanted)
    }
}

/// A text in an answer; if it is not there, the tool's error that says what is.
pub(crate) fn text_in(answer: &Answer, pointer: &str) -> Result<String, NoResult> {
    let reply = answer.as_deref().ok().and_then(|result| serde_json::from_str::<Value>(result).ok());
    let text = reply.as_ref().and_then(|reply| reply.pointer(pointer)).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| NoResult::Early(content::tool_error(in_words(answer))))
}

/// What the client answered, in words for a text content.
pub(crate) fn in_words(answer: &Answer) -> String {
    match answer {
        Ok(result) => result.clone(),
        Err(error) => json!({"error": serde_json::from_str::<Value>(error).unwrap_or_default()}).to_string(),
    }
}
