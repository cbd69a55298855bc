//! Owns the tools that the conformance suites call, as these describe them; elicitation has a module of its own.

use std::time::Duration;

use serde_json::{Value, json};

use super::{NO_ARGUMENTS, Tool};
use crate::calls::{Call, Outcome};
use crate::content::{self, WAV, image_item, resource_item, text_item};
use crate::dialogue::{Question, Sealing};
use crate::incoming::Failure;
use crate::server::LEVELS;

/// How long the suites want a tool to pause between two messages.
const PAUSE: Duration = Duration::from_millis(50);

const PROMPT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}"#;

const X_MCP_HEADER: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"priority":{"type":"integer","x-mcp-header":"Priority"},"urgent":{"type":"boolean","x-mcp-header":"Urgent"},"note":{"type":"string"}},"required":["region"]}"#;

/// Every keyword here must survive on its way to the client.
const JSON_SCHEMA_2020_12: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("test_simple_text", "Returns a text", NO_ARGUMENTS, |_| {
        Ok(content::text("This is a simple text response for testing."))
    }),
    Tool::new("test_image_content", "Returns a picture", NO_ARGUMENTS, |_| Ok(content::contents(&[image_item()]))),
    Tool::new("test_audio_content", "Returns a sound", NO_ARGUMENTS, |_| {
        Ok(content::contents(&[json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]))
    }),
    Tool::new("test_embedded_resource", "Returns a resource", NO_ARGUMENTS, |_| {
        let text = "This is an embedded resource content.";
        Ok(content::contents(&[resource_item("test://embedded-resource", "text/plain", text)]))
    }),
    Tool::new("test_multiple_content_types", "Returns a text, a picture and a resource", NO_ARGUMENTS, |_| {
        Ok(multiple_content_types())
    }),
    Tool::new("test_tool_with_logging", "Sends three log messages while it runs", NO_ARGUMENTS, with_logging),
    Tool::new("test_tool_with_progress", "Reports progress at 0, 50 and 100 of 100", NO_ARGUMENTS, with_progress),
    Tool::new("test_error_handling", "Returns an error of a tool", NO_ARGUMENTS, |_| {
        Ok(content::tool_error("This tool intentionally returns an error for testing"))
    }),
    Tool::new("test_sampling", "Asks the client's model", PROMPT, sampling),
    Tool::new("test_missing_capability", "Needs a client that can sample", NO_ARGUMENTS, missing_capability),
    Tool::new(
        "test_streaming_elicitation",
        "Reports progress, logs, and then asks the user",
        NO_ARGUMENTS,
        streaming_elicitation,
    ),
    Tool::new("test_logging_tool", "Sends a log message of every level", NO_ARGUMENTS, |call| {
        for level in LEVELS {
            call.log(level, &format!("A message of the level {level}"));
        }
        Ok(content::text("Logging evaluated"))
    }),
    Tool::new("test_x_mcp_header", "Has arguments that are also headers over HTTP", X_MCP_HEADER, |call| {
        Ok(content::text(format!("Called with {}", call.raw_arguments)))
    }),
    Tool::new("test_reconnection", "Sends a log message, and answers later", NO_ARGUMENTS, reconnection),
    Tool::new("json_schema_2020_12_tool", "Has a schema of JSON Schema 2020-12", JSON_SCHEMA_2020_12, |call| {
        Ok(content::text(format!("Called with {}", call.raw_arguments)))
    }),
];

fn multiple_content_types() -> String {
    let data = r#"{"test":"data","value":123}"#;
    content::contents(&[
        text_item("Multiple content types test:"),
        image_item(),
        resource_item("test://mixed-content-resource", "application/json", data),
    ])
}

fn with_logging(call: &Call) -> Outcome {
    call.log("info", "Tool execution started");
    call.wait(PAUSE)?;
    call.log("info", "Tool processing data");
    call.wait(PAUSE)?;
    call.log("info", "Tool execution completed");
    Ok(content::text("Tool with logging executed successfully"))
}

fn with_progress(call: &Call) -> Outcome {
    call.report(0, 100);
    call.wait(PAUSE)?;
    call.report(50, 100);
    call.wait(PAUSE)?;
    call.report(100, 100);
    Ok(content::text("Tool with progress executed successfully"))
}

/// A stdio server has no stream to close, which the suite wants here. The log message makes a gateway begin one, so
/// that how it begins is checked.
fn reconnection(call: &Call) -> Outcome {
    call.log("info", "The answer comes later");
    call.wait(4 * PAUSE)?;
    Ok(content::text("Reconnection test completed"))
}

fn sampling(call: &Call) -> Outcome {
    let prompt = call.arguments.text("prompt")?;
    call.require(&["sampling"])?;
    sampled(call, prompt)
}

/// Refuses a client that cannot sample by an error, in either era, where `test_sampling` in the legacy one is content
/// with a result.
fn missing_capability(call: &Call) -> Outcome {
    if !call.client_can("sampling") {
        return Err(Failure::missing_capabilities(&json!({"sampling": {}})).into());
    }
    sampled(call, "Is there a capability missing?")
}

fn sampled(call: &Call, prompt: &str) -> Outcome {
    let question = Question::new("sample", "sampling/createMessage", sampling_params(prompt));
    let text = call.ask_for_text(question, "/content/text", Sealing::WhenNeeded)?;
    Ok(content::text(format!("LLM response: {text}")))
}

fn streaming_elicitation(call: &Call) -> Outcome {
    call.require(&["elicitation"])?;
    call.report(50, 100);
    call.log("info", "A question comes next");
    let question = Question::form("stream_input", "How should the stream go on?", "value");
    let text = call.ask_for_text(question, "/content/value", Sealing::WhenNeeded)?;
    Ok(content::text(format!("Streaming went on: {text}")))
}

/// The params of `sampling/createMessage`.
pub(super) fn sampling_params(prompt: &str) -> Value {
    json!({"messages": [{"role": "user", "content": text_item(prompt)}], "maxTokens": 100})
}
