//! Owns the tools that look at the client and ask it, whatever it says it can do.

use serde_json::{Value, json};

use super::{NO_ARGUMENTS, Tool, conformance::sampling_params};
use crate::calls::{Call, Outcome};
use crate::content;
use crate::dialogue::{Question, Sealing, in_words};
use crate::incoming::Failure;

/// The most requests that `sample_many` has open at once.
const MOST_SAMPLES: u64 = 1000;

const COUNT: &str = r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}"#;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "client_info",
        "Returns the params of initialize, or the _meta of a modern request, as the client spelled them",
        NO_ARGUMENTS,
        |call| {
            Ok(content::text(match &call.exchange {
                Some(exchange) => &exchange.meta,
                None => call.server.client().map_or("", |client| &client.introduction),
            }))
        },
    ),
    Tool::new("list_roots", "Asks the client for its roots, and returns its answer", NO_ARGUMENTS, |call| {
        let answer = call.ask(Question::new("roots", "roots/list", json!({})), Sealing::WhenNeeded)?;
        Ok(if answer.is_ok() { content::text(in_words(&answer)) } else { content::tool_error(in_words(&answer)) })
    }),
    Tool::new("sample_many", "Asks the client's model `count` times at once; returns the answers", COUNT, sample_many),
];

/// The ids are strings here, where the other requests of the server have numbers.
fn sample_many(call: &Call) -> Outcome {
    let count = call.arguments.number("count")?;
    if count > MOST_SAMPLES {
        return Err(Failure::invalid_params(format_args!("at most {MOST_SAMPLES} at once")).into());
    }
    let question = |number| {
        let params = sampling_params(&format!("question {number}"));
        Question::new(&format!("sample-{number}"), "sampling/createMessage", params).with_text_id()
    };
    let questions: Vec<Question> = (1..=count).map(question).collect();
    let answers = call.ask_all(&questions, Sealing::Always)?;
    let items: Vec<Value> = answers.iter().map(|answer| content::text_item(&in_words(answer))).collect();
    Ok(content::contents(&items))
}
