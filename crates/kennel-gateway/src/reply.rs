//! Responses: the status, headers and bodies that all doors share.

use crate::body::Body;
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use kennel_wire::{ErrorCode, ErrorId, ErrorObject};
use std::fmt;
use std::time::Duration;

/// What a door answers.
pub(crate) type Reply = Response<Body>;
/// A reply to what was not let in. Boxed, so that what is let in does not pay for it.
pub(crate) type Refusal = Box<Reply>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// Keeps nginx from holding events back.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A response without a body.
pub(crate) fn empty(status: StatusCode) -> Reply {
    with_status(status, Body::EMPTY)
}

/// JSON as it is.
pub(crate) fn json(status: StatusCode, body: Bytes) -> Reply {
    with_type(status, JSON, Body::Whole(body))
}

/// Plain text.
pub(crate) fn text(status: StatusCode, body: impl fmt::Display) -> Reply {
    with_type(status, TEXT, Body::Whole(format!("{body}\n").into()))
}

/// A JSON-RPC error that belongs to no request, because the request was not let in. It has no id: in this protocol none is
/// `null`.
pub(crate) fn refusal(status: StatusCode, reason: impl fmt::Display) -> Refusal {
    refusal_of(status, &ErrorId::Absent, reason)
}

/// A JSON-RPC error for a request that was not let in.
pub(crate) fn refusal_of(status: StatusCode, id: &ErrorId, reason: impl fmt::Display) -> Refusal {
    Box::new(json(status, ErrorObject::new(ErrorCode::INVALID_REQUEST, reason.to_string()).response(id)))
}

/// A method that a door does not have.
pub(crate) fn method_not_allowed(allowed: &'static str) -> Refusal {
    not_allowed(allowed, format_args!("This address takes only {allowed}."))
}

/// A method that a door does not have for this request.
pub(crate) fn not_allowed(allowed: &'static str, reason: impl fmt::Display) -> Refusal {
    let mut reply = refusal(StatusCode::METHOD_NOT_ALLOWED, reason);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// The same reply, saying when to ask again.
pub(crate) fn retry_after(mut reply: Refusal, time: Duration) -> Refusal {
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1);
    reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    reply
}

/// A stream of events.
pub(crate) fn events(body: Body) -> Reply {
    let mut reply = with_type(StatusCode::OK, EVENTS, body);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    reply.headers_mut().insert(BUFFERING, HeaderValue::from_static("no"));
    reply
}

fn with_type(status: StatusCode, kind: HeaderValue, body: Body) -> Reply {
    let mut reply = with_status(status, body);
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

fn with_status(status: StatusCode, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply
}
