//! An opening, and a server that is played by the test.

use crate::failure::{Cause, Permanence};
use crate::introduction::Introduction;
use crate::opening::{Opening, Step};
use crate::settings::Settings;
use bytes::Bytes;
use kennel_wire::{Era, Message, RawJson};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a server was sent last, and what it can answer.
pub(crate) struct Talk {
    pub(crate) opening: Opening,
    pub(crate) steps: Vec<Step>,
}

impl Talk {
    pub(crate) fn new(era: Era, settings: Settings) -> Self {
        let introduction = Introduction {
            legacy: RawJson::parse("{\"z\":1,\n\"a\":1.0}").unwrap(),
            modern: RawJson::parse("{\"y\":1,\n\"b\":1.0}").unwrap(),
            owner: None,
            is_stateless: false,
        };
        let mut opening = Opening::new(era, &introduction, Arc::new(settings));
        let steps = opening.begin();
        Self { opening, steps }
    }

    /// The last line that was sent, as spelled.
    pub(crate) fn line(&self) -> Bytes {
        let last = |step: &Step| if let Step::Send(line) = step { Some(line.clone()) } else { None };
        let line = self.steps.iter().rev().find_map(last).expect("a line was sent");
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "one line has one line end");
        line
    }

    /// The last line that was sent.
    pub(crate) fn sent(&self) -> Value {
        serde_json::from_slice(&self.line()).unwrap()
    }

    /// Answers the last request.
    pub(crate) fn answer(&mut self, answer: &str) -> &[Step] {
        let id = self.sent()["id"].clone();
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#);
        self.steps = self.opening.answer(&Message::parse(Bytes::from(message)).unwrap());
        &self.steps
    }

    pub(crate) fn failure(&self) -> (&Cause, Permanence) {
        match self.steps.last() {
            Some(Step::Fail(cause, permanence)) => (cause, *permanence),
            other => panic!("no failure but {other:?}"),
        }
    }

    /// Why the process was said not to speak the era.
    pub(crate) fn refusal(&self) -> String {
        match &self.steps[..] {
            [Step::Refuse(Cause::Protocol(text))] => text.clone(),
            other => panic!("no refusal but {other:?}"),
        }
    }
}

/// A page of tools.
pub(crate) fn page(names: &[&str], cursor: &Value) -> String {
    let tools: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    format!(r#""result":{}"#, json!({ "tools": tools, "nextCursor": cursor }))
}

pub(crate) fn requiring(names: &[&str]) -> Settings {
    Settings { required_tools: names.iter().map(ToString::to_string).collect(), ..Settings::default() }
}
