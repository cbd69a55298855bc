//! Owns the conformance suites' tools that ask the user something.

use serde_json::{Value, json};

use super::{NO_ARGUMENTS, Tool};
use crate::calls::{Call, Outcome};
use crate::content;
use crate::dialogue::{Question, Sealing, in_words};

const MESSAGE: &str = r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;

const ADDRESS: &str = r#"{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}"#;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("elicit_url", "Asks the user to open `url`, and says when that is done", ADDRESS, elicit_url),
    Tool::new("test_elicitation", "Asks the user for a name and an address", MESSAGE, |call| {
        let schema = json!({
            "type": "object",
            "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            },
            "required": ["username", "email"],
        });
        elicit(call, "User response", call.arguments.text("message")?, &schema)
    }),
    Tool::new(
        "test_elicitation_sep1034_defaults",
        "Asks the user, with defaults of every type",
        NO_ARGUMENTS,
        |call| {
            let status = json!({"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"});
            let schema = json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": status,
                    "verified": {"type": "boolean", "default": true},
                },
                "required": [],
            });
            elicit(call, "Elicitation completed", "Please review the defaults", &schema)
        },
    ),
    Tool::new("test_elicitation_sep1330_enums", "Asks the user to choose, in every way", NO_ARGUMENTS, |call| {
        elicit(call, "Elicitation completed", "Please choose", &choices())
    }),
];

/// Every kind of enumeration that a form can have.
fn choices() -> Value {
    let options = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        },
        "required": [],
    })
}

fn titled(what: &str) -> Value {
    json!([
        {"const": "value1", "title": format!("First {what}")},
        {"const": "value2", "title": format!("Second {what}")},
        {"const": "value3", "title": format!("Third {what}")},
    ])
}

/// Only a legacy question has an id, under which the client is told that what happens elsewhere is done.
fn elicit_url(call: &Call) -> Outcome {
    call.require(&["elicitation"])?;
    let url = call.arguments.text("url")?;
    let id = format!("elicitation of {url}");
    let mut params = json!({"mode": "url", "message": "Please open this address", "url": url});
    if call.exchange.is_none() {
        params["elicitationId"] = json!(id);
    }
    let answer = call.ask(Question::new("address", "elicitation/create", params), Sealing::Always)?;
    if call.exchange.is_none() && answer.is_ok() {
        let params = json!({ "elicitationId": id }).to_string();
        call.server.output.notification("notifications/elicitation/complete", &params);
    }
    Ok(if answer.is_ok() { content::text(in_words(&answer)) } else { content::tool_error(in_words(&answer)) })
}

fn elicit(call: &Call, done: &str, message: &str, schema: &Value) -> Outcome {
    call.require(&["elicitation"])?;
    let params = json!({"message": message, "requestedSchema": schema});
    let answer = call.ask(Question::new("form", "elicitation/create", params), Sealing::Always)?;
    let reply = answer.as_deref().ok().and_then(|result| serde_json::from_str::<Value>(result).ok());
    match reply.as_ref().and_then(|reply| reply["action"].as_str().map(|action| (action, &reply["content"]))) {
        Some((action, given)) => Ok(content::text(format!("{done}: action={action}, content={given}"))),
        None => Ok(content::tool_error(in_words(&answer))),
    }
}
