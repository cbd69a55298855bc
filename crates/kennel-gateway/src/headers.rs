//! The headers of Streamable HTTP: what a client accepts, sends, and which session it means.

use crate::reply::{self, Refusal};
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName};
use kennel_wire::{Era, ProtocolVersion};

/// Which session a request belongs to.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Which protocol the client speaks.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The last event that the client has.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Refuses a client that does not take both forms of an answer.
pub(crate) fn accepts_answers(headers: &HeaderMap) -> Result<(), Refusal> {
    if accepts(headers, JSON) && accepts(headers, EVENTS) {
        return Ok(());
    }
    let reason = "The `Accept` header must list both `application/json` and `text/event-stream`.";
    Err(reply::refusal(StatusCode::NOT_ACCEPTABLE, reason))
}

/// Refuses a client that does not take a stream of events.
pub(crate) fn accepts_events(headers: &HeaderMap) -> Result<(), Refusal> {
    if accepts(headers, EVENTS) {
        return Ok(());
    }
    Err(reply::refusal(StatusCode::NOT_ACCEPTABLE, "The `Accept` header must list `text/event-stream`."))
}

/// Refuses a body that is not JSON.
pub(crate) fn sends_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| essence(kind).eq_ignore_ascii_case(JSON)) {
        return Ok(());
    }
    Err(reply::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The `Content-Type` must be `application/json`."))
}

/// Refuses a protocol version that this door does not speak. None is fine, and so is another one than the session has.
pub(crate) fn speaks_version(headers: &HeaderMap) -> Result<(), Refusal> {
    if !leaves_sessions(headers) {
        return Ok(());
    }
    let legacy = ProtocolVersion::ALL.into_iter().filter(|version| version.era() == Era::Legacy);
    let supported = legacy.map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ");
    let reason = format!("The protocol version in `MCP-Protocol-Version` is not supported; supported are {supported}.");
    Err(reply::refusal(StatusCode::BAD_REQUEST, reason))
}

/// Whether a request says that it is none of the versions with sessions; one that says nothing is.
pub(crate) fn leaves_sessions(headers: &HeaderMap) -> bool {
    let Some(version) = headers.get(PROTOCOL_VERSION) else { return false };
    let parsed = version.to_str().ok().and_then(|version| version.parse::<ProtocolVersion>().ok());
    parsed.is_none_or(|version| version.era() == Era::Modern)
}

/// The id of the session that a request is for.
pub(crate) fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_ID).map(|id| id.to_str().unwrap_or_default())
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let group = kind.split_once('/').map_or(kind, |(group, _)| group);
    let listed =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    listed.map(essence).any(|listed| {
        listed.eq_ignore_ascii_case(kind)
            || listed == "*/*"
            || listed.strip_suffix("/*").is_some_and(|listed| listed.eq_ignore_ascii_case(group))
    })
}

/// A media type without its parameters.
fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
