//! Finds out which request an answer was for that was too long to be read.

use crate::pending::Number;
use kennel_wire::Id;

/// The number of the request, from the beginning or the end of a line. Only what cannot be part of a payload counts:
/// an id before the result, or right before the end of the line; and only where the line is an answer, for a request of
/// the process has an id of its own.
pub(crate) fn request_of(head: &[u8], tail: &[u8]) -> Option<Number> {
    let mut rest = token(head, b"{")?;
    let mut found = None;
    loop {
        if let Some(after) = version(rest) {
            rest = token(after, b",")?;
        } else if let Some(after) = token(rest, b"\"id\"") {
            let (id, after) = number(token(after, b":")?)?;
            found = Some(id);
            rest = token(after, b",")?;
        } else if token(rest, b"\"result\"").or_else(|| token(rest, b"\"error\"")).is_some() {
            return found.or_else(|| at_the_end(tail));
        } else {
            return None;
        }
    }
}

fn at_the_end(tail: &[u8]) -> Option<Number> {
    let start = tail.windows(4).rposition(|window| window == b"\"id\"")?;
    let (id, rest) = number(token(token(&tail[start..], b"\"id\"")?, b":")?)?;
    let rest = match token(rest, b",") {
        Some(rest) => version(rest)?,
        None => rest,
    };
    token(rest, b"}").filter(|rest| rest.is_empty())?;
    Some(id)
}

/// What follows `"jsonrpc": "2.0"`.
fn version(bytes: &[u8]) -> Option<&[u8]> {
    token(token(token(bytes, b"\"jsonrpc\"")?, b":")?, b"\"2.0\"")
}

/// What follows a token and the whitespace around it.
fn token<'a>(bytes: &'a [u8], token: &[u8]) -> Option<&'a [u8]> {
    Some(bytes.trim_ascii_start().strip_prefix(token)?.trim_ascii_start())
}

/// A number, which some processes spell with a fraction of nothing, and what follows it.
fn number(bytes: &[u8]) -> Option<(Number, &[u8])> {
    let end = bytes.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.'))?;
    let (spelled, rest) = bytes.split_at(end);
    Some((Id::parse(spelled).ok()?.as_integer()?, rest.trim_ascii_start()))
}

#[cfg(test)]
#[path = "skipped_tests.rs"]
mod tests;
