//! The door `/mcp` for requests that stand for themselves, as in the protocol's version 2026-07-28: no sessions, one
//! answer for each request, and who goes away before it calls the request off.

use crate::alarm::{Alarm, SpareAlarm};
use crate::answer_feed::AnswerFeed;
use crate::asking::{Asking, Told};
use crate::body::Body;
use crate::metrics::Tally;
use crate::mirrored;
use crate::reply::{self, Refusal, Reply};
use crate::settings::Limits;
use bytes::Bytes;
use http::StatusCode;
use http::header::HeaderMap;
use kennel_hub::{Caller, Endpoint, Principal};
use kennel_wire::{Era, ErrorCode, ErrorId, ErrorObject, Frame, Kind, Message};
use std::sync::Arc;
use tokio::time::Instant;

/// The request whose answer is a stream of what the client wants to be told, as long as it listens.
pub(crate) const LISTEN: &str = "subscriptions/listen";

/// What the door needs.
pub(crate) struct ModernDoor {
    pub(crate) limits: Arc<Limits>,
    pub(crate) tally: Arc<Tally>,
}

impl ModernDoor {
    /// Takes what a client has sent.
    pub(crate) async fn take(
        &self,
        endpoint: &Endpoint,
        principal: &Principal,
        alarms: &SpareAlarm,
        headers: &HeaderMap,
        frame: Frame,
    ) -> Result<Reply, Refusal> {
        let Frame::Single(message) = frame else {
            return Err(not_taken("A batch is not taken here: send each request on its own."));
        };
        let id = match message.kind() {
            Kind::Request { id, .. } => id.clone(),
            // There is none that would mean something here.
            Kind::Notification { .. } => return Ok(reply::empty(StatusCode::ACCEPTED)),
            Kind::Response { .. } | Kind::Error { .. } => {
                return Err(not_taken("An answer is not taken here: nothing was asked. Send it in a request."));
            }
        };
        self.tally.count(Era::Modern);
        let caller = Caller::new(principal.clone());
        mirrored::check(headers, &message, |tool| endpoint.header_parameters(tool)).map_err(|improper| {
            let id = ErrorId::Known(id.clone());
            Box::new(reply::json(StatusCode::BAD_REQUEST, improper.response(&id)))
        })?;
        let listens = message.method().is_some_and(|method| method == LISTEN);
        let mut asking = Asking::begin(endpoint, &caller, message, id, &self.limits);
        let first = if listens {
            // It stays open, so it begins at once; only a refusal may be there already.
            asking.try_next()
        } else {
            let mut alarm = Alarm::set(alarms, Instant::now() + self.limits.patience);
            tokio::select! {
                biased;
                told = asking.next() => Some(told),
                () = alarm.rings() => None,
            }
        };
        Ok(match first {
            Some(Told::Response(response)) => reply::json(status(&response), response),
            Some(Told::Withdrawn) => reply::json(StatusCode::OK, asking.apology()),
            Some(Told::Notification(_)) | None => {
                let feed = AnswerFeed::new(asking, first, self.limits.keep_alive);
                reply::events(Body::Answer(Box::new(feed)))
            }
        })
    }
}

fn not_taken(reason: &str) -> Refusal {
    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, reason);
    Box::new(reply::json(StatusCode::BAD_REQUEST, error.response(&ErrorId::Absent)))
}

/// The status that goes with an answer. The protocol has one of their own for some errors.
fn status(response: &Bytes) -> StatusCode {
    match error_code(response) {
        Some(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_CLIENT_CAPABILITY | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

/// The code of an answer that is an error. Results, which may be large, are told by how they begin.
fn error_code(response: &Bytes) -> Option<ErrorCode> {
    if begins_as_result(response) {
        return None;
    }
    let code = Message::parse(response.clone()).ok()?.id_at(&["error", "code"]).ok()??;
    code.as_integer().map(ErrorCode)
}

/// Whether the first object or array inside of an answer is its result, as in all answers but unusual ones. Inside of a
/// string its name could not be followed by a plain quote.
fn begins_as_result(response: &[u8]) -> bool {
    let Some(nested) = response.iter().skip(1).position(|byte| matches!(byte, b'{' | b'[')) else { return false };
    let before = response.get(..=nested).unwrap_or_default().trim_ascii_end();
    before.strip_suffix(b"\"result\":").is_some_and(|before| !before.ends_with(b"\\"))
}

#[cfg(test)]
#[path = "modern_tests.rs"]
mod tests;
