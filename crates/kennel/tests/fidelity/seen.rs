//! Owns what a cell can be: each is the end of a test that went well.

use crate::client::Told;
use crate::wire::Heard;
use serde_json::Value;

/// What was seen of something on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It arrives, and what it asks for happens.
    Carried,
    /// The answer arrives; what comes beside it has no way to this client.
    AnswerOnly,
    /// There is no way to say it at this door.
    NoWay,
    /// The server is told that this client cannot be asked.
    NotAsked,
    /// The server does not offer it to this client, and does without.
    NotOffered,
    /// It does not say for whom it is, and is kept from those it might not be for.
    Withheld,
    /// An error with these words arrives.
    Refused(String),
}

impl Seen {
    /// The refusal that an answer is, if it is one: by an error, or by what the server was told when it asked.
    pub(crate) fn refusal(answer: &Heard) -> Option<Self> {
        let told = answer.json["result"]["isError"] == true;
        let told = told.then(|| serde_json::from_str::<Value>(text(answer)).unwrap_or_default());
        let error = told.as_ref().and_then(|told| told.get("error")).or_else(|| answer.json.get("error"))?;
        let (whom, message) = (if told.is_some() { "to the server" } else { "to the client" }, &error["message"]);
        Some(Self::Refused(format!("{} {whom}: {}", error["code"], message.as_str().unwrap_or_default())))
    }

    /// What became of a call that has questions, unless they were asked.
    pub(crate) fn of_questions(told: &Told) -> Option<Self> {
        if told.answer.json["result"]["isError"] == true
            && text(&told.answer).starts_with("The client does not support")
        {
            return Some(Self::NotAsked);
        }
        Self::refusal(&told.answer)
    }
}

fn text(answer: &Heard) -> &str {
    crate::client::text_of(&answer.json["result"])
}
