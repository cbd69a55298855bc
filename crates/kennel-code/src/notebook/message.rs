//! The messages of the channel.

use super::host::{Ask, AskError, AskErrorKind};
use crate::cell::CellError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A message of the box that means something to a cell.
#[derive(Debug)]
pub(super) enum FromBox {
    Ask { number: u64, ask: Result<Ask, AskError> },
    Cancel { number: u64 },
    End(End),
}

/// The end of a cell as the interpreter tells it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct End {
    pub(super) cell: String,
    pub(super) status: EndStatus,
    pub(super) value: Option<String>,
    pub(super) error: Option<CellError>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EndStatus {
    Success,
    #[default]
    Error,
    Interrupted,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    t: Cow<'a, str>,
    n: Option<u64>,
    #[serde(borrow)]
    op: Option<Cow<'a, str>>,
}

/// Reads a message with the token of a cell; nothing where it is none that counts.
pub(super) fn read(body: &[u8], cell: &str) -> Option<FromBox> {
    let envelope = serde_json::from_slice::<Envelope<'_>>(body).ok()?;
    match (&*envelope.t, envelope.n) {
        ("ask", Some(number)) => {
            let ask = ask(envelope.op.as_deref().unwrap_or_default(), body);
            Some(FromBox::Ask { number, ask })
        }
        ("cancel", Some(number)) => Some(FromBox::Cancel { number }),
        ("end", _) => end(body, cell).map(FromBox::End),
        _ => None,
    }
}

/// The end of this cell. One that cannot be read ends it all the same: nothing else would.
fn end(body: &[u8], cell: &str) -> Option<End> {
    let end = serde_json::from_slice::<End>(body).unwrap_or_else(|error| {
        let error = CellError {
            kind: "ProtocolError".to_owned(),
            message: format!("the interpreter has told the end of the cell in a way that cannot be read: {error}"),
            ..CellError::default()
        };
        End { cell: cell.to_owned(), error: Some(error), ..End::default() }
    });
    (end.cell == cell).then_some(end)
}

fn ask(operation: &str, body: &[u8]) -> Result<Ask, AskError> {
    fn parsed<'a, T: Deserialize<'a>>(body: &'a [u8], operation: &str) -> Result<T, AskError> {
        let unreadable = |error| format!("the request {operation} cannot be read: {error}");
        serde_json::from_slice(body).map_err(|error| AskError::new(AskErrorKind::Protocol, unreadable(error)))
    }
    match operation {
        "call_tool" => parsed(body, operation).map(Ask::CallTool),
        "search_tools" => parsed(body, operation).map(Ask::SearchTools),
        "describe_tools" => parsed(body, operation).map(Ask::DescribeTools),
        "save_tool" => parsed(body, operation).map(Ask::SaveTool),
        "remove_tool" => parsed(body, operation).map(Ask::RemoveTool),
        "list_saved" => Ok(Ask::ListSaved),
        other => {
            let other = other.chars().take(60).collect::<String>();
            Err(AskError::new(AskErrorKind::Protocol, format!("there is no request {other:?}")))
        }
    }
}

/// The message that begins a cell.
pub(super) fn cell(id: &str, code: &str, servers: Option<&[String]>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Begin<'a> {
        t: &'static str,
        cell: &'a str,
        code: &'a str,
        servers: Option<&'a [String]>,
    }
    // Strings and lists of them always have a JSON form.
    serde_json::to_vec(&Begin { t: "cell", cell: id, code, servers }).unwrap_or_default()
}

/// The answer to a request.
pub(super) fn reply(number: u64, answer: &Result<Box<RawValue>, AskError>) -> Vec<u8> {
    match answer {
        Ok(value) => format!("{{\"t\":\"reply\",\"n\":{number},\"ok\":{}}}", value.get()).into_bytes(),
        Err(error) => {
            let error = serde_json::to_string(error).unwrap_or_else(|_| "{}".to_owned());
            format!("{{\"t\":\"reply\",\"n\":{number},\"error\":{error}}}").into_bytes()
        }
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
