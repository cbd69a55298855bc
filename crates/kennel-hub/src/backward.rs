//! The requests that a process made to its clients and that are not answered yet.

use crate::client::ClientKey;
use crate::mailbox::Mailbox;
use crate::pending::Number;
use crate::settings::Limits;
use bytes::Bytes;
use kennel_supervisor::Generation;
use kennel_wire::{ErrorCode, ErrorObject, Id};
use std::collections::HashMap;
use std::sync::Arc;

/// A request of a process that a client has to answer.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) generation: Generation,
    /// The id that the answer must carry.
    pub(crate) id: Id,
    /// The token that the client's progress must carry.
    pub(crate) token: Option<Id>,
    /// Who was asked, and nobody else may answer.
    pub(crate) client: ClientKey,
    /// Where it was asked, for a cancellation to follow; nowhere where a request carries it.
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    /// The request of the client that carries it.
    pub(crate) carrier: Option<Number>,
    /// How many bytes are kept for it.
    pub(crate) bytes: usize,
}

/// All questions of one process, by the ids under which clients see them.
#[derive(Debug, Default)]
pub(crate) struct Backward {
    questions: HashMap<i64, Question>,
    bytes: usize,
}

impl Backward {
    /// Why so many more questions, for which so many bytes are kept, are too much; nothing where they are not.
    pub(crate) fn refuses(&self, count: usize, bytes: usize, limits: &Limits) -> Option<String> {
        let (most, most_bytes) = (limits.server_requests, limits.server_request_bytes);
        if self.questions.len().saturating_add(count) > most {
            return Some(format!("{most} requests to clients are unanswered already"));
        }
        if self.bytes.saturating_add(bytes) > most_bytes {
            return Some(format!("{most_bytes} bytes of requests to clients are unanswered already"));
        }
        None
    }

    /// Notes a question, by the id under which the client sees it.
    pub(crate) fn note(&mut self, number: i64, question: Question) {
        self.bytes += question.bytes;
        if let Some(replaced) = self.questions.insert(number, question) {
            self.bytes -= replaced.bytes;
        }
    }

    /// Takes the question that this client was asked under this id.
    pub(crate) fn answered(&mut self, number: i64, client: ClientKey) -> Option<Question> {
        if self.questions.get(&number)?.client == client { self.take(number) } else { None }
    }

    /// Takes a question, whoever was asked.
    pub(crate) fn take(&mut self, number: i64) -> Option<Question> {
        let question = self.questions.remove(&number)?;
        self.bytes -= question.bytes;
        Some(question)
    }

    pub(crate) fn get(&self, number: i64, client: ClientKey) -> Option<&Question> {
        self.questions.get(&number).filter(|question| question.client == client)
    }

    /// Takes the question that the process calls by this id.
    pub(crate) fn withdrawn(&mut self, generation: Generation, id: &Id) -> Option<(i64, Question)> {
        let of = |question: &Question| question.generation == generation && question.id == *id;
        let number = self.questions.iter().find(|(_, question)| of(question)).map(|(number, _)| *number)?;
        Some((number, self.take(number)?))
    }

    /// Forgets the questions that this request carries.
    pub(crate) fn forget_carried(&mut self, carrier: Number) {
        drop(self.take_all(|question| question.carrier == Some(carrier)));
    }

    fn take_all(&mut self, is_wanted: impl Fn(&Question) -> bool) -> Vec<(i64, Question)> {
        let taken: Vec<_> = self.questions.extract_if(|_, question| is_wanted(question)).collect();
        self.bytes -= taken.iter().map(|(_, question)| question.bytes).sum::<usize>();
        taken
    }

    /// Takes all questions of a process.
    pub(crate) fn of(&mut self, generation: Generation) -> Vec<(i64, Question)> {
        self.take_all(|question| question.generation == generation)
    }

    /// Takes what a client that has gone was asked and returns what the process has to be told instead.
    pub(crate) fn orphans(&mut self, client: ClientKey) -> Vec<Bytes> {
        let orphans = self.take_all(|question| question.client == client).into_iter();
        orphans.map(|(_, question)| refusal(&question.id, ErrorCode::INTERNAL_ERROR, "the client has gone")).collect()
    }
}

/// What tells a process that its question will not be answered.
pub(crate) fn refusal(id: &Id, code: ErrorCode, text: &str) -> Bytes {
    ErrorObject::new(code, text).response(&id.clone().into())
}
