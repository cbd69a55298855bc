//! The requests that a process made to its clients and that are not answered yet.

use crate::client::ClientKey;
use crate::mailbox::Mailbox;
use crate::pending::Number;
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
}

/// All questions of one process, by the ids under which clients see them.
#[derive(Debug, Default)]
pub(crate) struct Backward {
    questions: HashMap<i64, Question>,
}

impl Backward {
    pub(crate) fn len(&self) -> usize {
        self.questions.len()
    }

    /// Notes a question, by the id under which the client sees it.
    pub(crate) fn note(&mut self, number: i64, question: Question) {
        self.questions.insert(number, question);
    }

    /// Takes the question that this client was asked under this id.
    pub(crate) fn answered(&mut self, number: i64, client: ClientKey) -> Option<Question> {
        if self.questions.get(&number)?.client == client { self.questions.remove(&number) } else { None }
    }

    /// Takes a question, whoever was asked.
    pub(crate) fn take(&mut self, number: i64) -> Option<Question> {
        self.questions.remove(&number)
    }

    pub(crate) fn get(&self, number: i64, client: ClientKey) -> Option<&Question> {
        self.questions.get(&number).filter(|question| question.client == client)
    }

    /// Takes the question that the process calls by this id.
    pub(crate) fn withdrawn(&mut self, generation: Generation, id: &Id) -> Option<(i64, Question)> {
        let of = |question: &Question| question.generation == generation && question.id == *id;
        let number = self.questions.iter().find(|(_, question)| of(question)).map(|(number, _)| *number)?;
        Some((number, self.questions.remove(&number)?))
    }

    /// Forgets the questions that this request carries.
    pub(crate) fn forget_carried(&mut self, carrier: Number) {
        self.questions.retain(|_, question| question.carrier != Some(carrier));
    }

    /// Takes all questions of a process.
    pub(crate) fn of(&mut self, generation: Generation) -> Vec<(i64, Question)> {
        self.questions.extract_if(|_, question| question.generation == generation).collect()
    }

    /// Takes what a client that has gone was asked and returns what the process has to be told instead.
    pub(crate) fn orphans(&mut self, client: ClientKey) -> Vec<Bytes> {
        let orphans = self.questions.extract_if(|_, question| question.client == client);
        orphans.map(|(_, question)| refusal(&question.id, ErrorCode::INTERNAL_ERROR, "the client has gone")).collect()
    }
}

/// What tells a process that its question will not be answered.
pub(crate) fn refusal(id: &Id, code: ErrorCode, text: &str) -> Bytes {
    ErrorObject::new(code, text).response(&id.clone().into())
}
