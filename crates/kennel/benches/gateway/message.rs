//! The messages of the load: how they read, and whether what comes back is the answer.

use serde_json::{Value, json};
use std::fmt::Write;
use std::io::{self, BufRead};

/// The first message of a session.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
/// The second one.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What is before the id of every request, and the first id. All ids have the same number of digits, so that a request
/// can be sent again with the next one in its place.
const BEFORE_ID: &str = r#"{"jsonrpc":"2.0","id":"#;
const FIRST_ID: u32 = 1_000_000;
const ID_DIGITS: usize = 7;
/// Where the id of an answer is looked for: this close to its beginning or its end.
const NEAR: usize = 160;

/// A request to call a tool.
pub(crate) fn call(tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    format!(r#"{BEFORE_ID}{FIRST_ID},"method":"tools/call","params":{params}}}"#)
}

/// A request to call a tool that says what it is (2026-07-28).
pub(crate) fn modern_call(tool: &str, arguments: &Value) -> String {
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": about });
    format!(r#"{BEFORE_ID}{FIRST_ID},"method":"tools/call","params":{params}}}"#)
}

/// Text of about so many bytes, as tools return it: lines, quotes, numbers.
pub(crate) fn text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    for line in 0.. {
        if text.len() >= bytes {
            break;
        }
        // Into a string, so it cannot fail.
        let _ = writeln!(text, "{line:>6}  let total = sum(\"of the column\", {}) + rest;", line * 7);
    }
    text.truncate(bytes);
    text
}

/// A request in the form in which it goes over the wire, to be sent over and over.
pub(crate) struct Prepared {
    wire: Vec<u8>,
    id_at: usize,
    id: u32,
    /// The length of an answer that was looked at whole.
    answer_length: Option<usize>,
    message: String,
}

impl Prepared {
    /// The request between what its transport puts before and behind it. The answer must contain the message.
    pub(crate) fn new(before: &[u8], request: &str, behind: &[u8], message: &str) -> Self {
        let wire = [before, request.as_bytes(), behind].concat();
        let id_at = before.len() + BEFORE_ID.len();
        Self { wire, id_at, id: FIRST_ID, answer_length: None, message: message.to_owned() }
    }

    /// The bytes to send, with the next id.
    pub(crate) fn next(&mut self) -> &[u8] {
        self.id = if self.id < FIRST_ID * 9 { self.id + 1 } else { FIRST_ID };
        let mut rest = self.id;
        for digit in self.wire[self.id_at..][..ID_DIGITS].iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        &self.wire
    }

    /// Whether this is the answer: the first one is read, those after it must have its length and the right id.
    pub(crate) fn check(&mut self, answer: &[u8]) -> io::Result<()> {
        let id = &self.wire[self.id_at..][..ID_DIGITS];
        let near = |part: &[u8]| part.windows(ID_DIGITS).any(|window| window == id);
        let has_id = near(&answer[..answer.len().min(NEAR)]) || near(&answer[answer.len().saturating_sub(NEAR)..]);
        let right = match self.answer_length {
            Some(length) => has_id && length == answer.len(),
            None => has_id && self.is_right(answer),
        };
        if right {
            self.answer_length = Some(answer.len());
            return Ok(());
        }
        let head = String::from_utf8_lossy(&answer[..answer.len().min(300)]);
        Err(io::Error::other(format!("request {} got a wrong answer of {} bytes: {head}", self.id, answer.len())))
    }

    fn is_right(&self, answer: &[u8]) -> bool {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let id = answer["id"].as_u64() == Some(self.id.into());
        // The bare server answers with the request.
        let text = &answer["result"]["content"][0]["text"];
        let echoed = &answer["params"]["arguments"]["message"];
        id && [text, echoed].iter().any(|found| found.as_str() == Some(&self.message))
    }
}

/// The last message of a body of events.
pub(crate) fn last_event(mut body: &[u8]) -> &[u8] {
    let mut last: &[u8] = &[];
    while !body.is_empty() {
        let line = body;
        let length = body.skip_until(b'\n').unwrap_or(line.len());
        if let Some(data) = line[..length].strip_prefix(b"data:".as_slice()) {
            let data = data.trim_ascii();
            last = if data.is_empty() { last } else { data };
        }
    }
    last
}
