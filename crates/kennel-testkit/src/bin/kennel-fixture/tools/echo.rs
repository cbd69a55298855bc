//! Owns `echo`, the tool of the benches: it is answered in the thread that reads, without a copy of its message.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Tool;
use crate::incoming::Failure;

/// The tool's name.
pub(crate) const NAME: &str = "echo";

pub(super) const TOOLS: &[Tool] = &[Tool::new(
    NAME,
    "Returns its message",
    r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#,
    |call| Ok(run(&call.raw_arguments)?),
)];

/// What is before and behind the message in a result.
const HEAD: &str = r#"{"content":[{"type":"text","text":"#;
const TAIL: &str = "}]}";

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
}

/// The result for arguments in JSON; the message stays as it was spelled.
pub(crate) fn run(arguments: &str) -> Result<String, Failure> {
    let arguments: Arguments<'_> = serde_json::from_str(arguments).map_err(Failure::invalid_params)?;
    let message = arguments.message.get();
    if !message.starts_with('"') {
        return Err(Failure::invalid_params("the argument `message` must be a string"));
    }
    let mut result = String::with_capacity(HEAD.len() + message.len() + TAIL.len());
    result.push_str(HEAD);
    result.push_str(message);
    result.push_str(TAIL);
    Ok(result)
}
