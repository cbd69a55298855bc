//! Owns the tools that shape what is on the wire: sizes, delays, junk.

use std::time::Duration;

use serde_json::json;

use super::{NO_ARGUMENTS, Tool};
use crate::calls::{Call, Outcome};
use crate::content;
use crate::incoming::Failure;
use crate::output::notification;
use crate::server::log_params;

const SLEEP: &str = r#"{"type":"object","properties":{"ms":{"type":"integer"},"progress_every_ms":{"type":"integer"}},"required":["ms"]}"#;
const BYTES: &str = r#"{"type":"object","properties":{"bytes":{"type":"integer"}},"required":["bytes"]}"#;
const JUNK: &str = r#"{"type":"object","properties":{"lines":{"type":"integer"},"kind":{"type":"string","enum":["text","brace","number","binary","blank"]}},"required":["lines"]}"#;
const LOG: &str = r#"{"type":"object","properties":{"level":{"type":"string"},"text":{"type":"string"}},"required":["level","text"]}"#;
const COUNT: &str = r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}"#;
const ANYTHING: &str = r#"{"type":"object"}"#;

const MEASURED: &str = r#"{"type":"object","properties":{"count":{"type":"number"},"large":{"type":"integer"},"nothing":{"type":"null"},"text":{"type":"string"}},"required":["count","large"]}"#;

/// Spelled as many programs would not spell it again.
const MEASURE: &str = r#"{"count":1.0,"large":12345678901234567890123,"nothing":null,"text":"\u00e4 \/ "}"#;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("measure", "Returns a structured result", NO_ARGUMENTS, |_| {
        let text = json!(MEASURE);
        Ok(format!(r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{MEASURE}}}"#))
    })
    .with_output(MEASURED),
    Tool::new("sleep", "Answers after `ms`, with progress every `progress_every_ms` if a token is given", SLEEP, sleep),
    Tool::new("large", "Returns a text of `bytes` bytes", BYTES, |call| {
        let bytes = usize::try_from(call.arguments.number("bytes")?).map_err(Failure::invalid_params)?;
        Ok(content::text("x".repeat(bytes)))
    }),
    Tool::new("junk", "Prints `lines` lines on stdout that are no messages, then answers", JUNK, junk),
    Tool::new("log", "Sends a log message of `level` unless that is filtered, and says whether", LOG, |call| {
        let (level, text) = (call.arguments.text("level")?, call.arguments.text("text")?);
        let sent = (call.log(level, text))
            .ok_or_else(|| Failure::invalid_params(format_args!("there is no level `{level}`")))?;
        Ok(content::text(if sent { "sent" } else { "filtered" }))
    }),
    Tool::new("log_batch", "Sends `count` log messages as one JSON array, then answers", COUNT, |call| {
        if call.exchange.is_some() {
            return Ok(content::tool_error("There are no batches in this version of the protocol"));
        }
        let message = |number| notification("notifications/message", &log_params("error", &format!("log {number}")));
        let messages: Vec<String> = (1..=call.arguments.number("count")?).map(message).collect();
        call.server.output.line(&format!("[{}]", messages.join(",")));
        Ok(content::text("sent"))
    }),
    Tool::new("raw_arguments", "Returns its arguments as they were spelled, as structured content", ANYTHING, |call| {
        let text = json!(call.raw_arguments);
        let structured = &call.raw_arguments;
        Ok(format!(r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured}}}"#))
    }),
    Tool::new("cancelled_requests", "Returns every cancellation that came, as JSON", NO_ARGUMENTS, |call| {
        Ok(content::text(call.server.calls.cancellations()))
    }),
];

fn sleep(call: &Call) -> Outcome {
    let total = call.arguments.number("ms")?;
    let step = call.arguments.number_or("progress_every_ms", total)?.max(1);
    let mut slept = 0;
    while slept < total {
        let now = step.min(total - slept);
        call.wait(Duration::from_millis(now))?;
        slept += now;
        if call.arguments.has("progress_every_ms") {
            call.report(slept, total);
        }
    }
    Ok(content::text(format!("slept {total} ms")))
}

fn junk(call: &Call) -> Outcome {
    let lines = call.arguments.number("lines")?;
    let kind = call.arguments.text_or("kind", "text")?;
    for number in 1..=lines {
        match kind {
            "text" => call.server.output.line(&format!("this is line {number} and no JSON")),
            "brace" => call.server.output.line(&format!(r#"{{"half":"a message {number}"#)),
            "number" => call.server.output.line(&number.to_string()),
            "binary" => call.server.output.bytes(b"\xff\xfe\x00\x80 no UTF-8\n"),
            "blank" => call.server.output.line(""),
            _ => return Err(Failure::invalid_params(format_args!("there is no junk `{kind}`")).into()),
        }
    }
    Ok(content::text(format!("printed {lines} lines")))
}
