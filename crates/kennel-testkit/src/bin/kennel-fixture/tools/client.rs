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
    Tool::new("sample_with_tools", "Asks the client's model, which may use a tool", NO_ARGUMENTS, sample_with_tools),
    Tool::new("sample_many", "Asks the client's model `count` times at once; returns the answers", COUNT, sample_many),
];

/// Gives the model a tool, takes its use, and asks again with what the tool says.
fn sample_with_tools(call: &Call) -> Outcome {
    call.require(&["sampling"])?;
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let mut params = sampling_params("How is the weather in Paris?");
    params["tools"] = json!([{"name": "weather", "description": "Says how the weather is", "inputSchema": city}]);
    params["toolChoice"] = json!({"mode": "auto"});
    let question = Question::new("first", "sampling/createMessage", params.clone());
    let answer = call.ask(question, Sealing::Always)?;
    let reply = answer.as_deref().ok().and_then(|reply| serde_json::from_str::<Value>(reply).ok()).unwrap_or_default();
    let used = &reply["content"];
    if used["type"] != "tool_use" {
        return Ok(content::tool_error(in_words(&answer)));
    }
    let said = content::text_item(&format!("It rains in {}", used["input"]["city"].as_str().unwrap_or("no city")));
    let result = json!({"type": "tool_result", "toolUseId": used["id"], "content": [said]});
    if let Some(messages) = params["messages"].as_array_mut() {
        messages.push(json!({"role": "assistant", "content": used}));
        messages.push(json!({"role": "user", "content": [result]}));
    }
    let question = Question::new("second", "sampling/createMessage", params);
    let text = call.ask_for_text(question, "/content/text", Sealing::Always)?;
    Ok(content::text(text))
}

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
