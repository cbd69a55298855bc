//! Owns the way from a line to the protocol that answers it.

use std::sync::Arc;

use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::calls::Cancellation;
use crate::era::{self, Era};
use crate::incoming::{Failure, Incoming, Kind};
use crate::server::Server;
use crate::{legacy, modern};

/// Takes one line of the client.
pub(crate) fn receive(server: &Arc<Server>, line: &[u8]) {
    if line.is_empty() || server.is_hung() {
        return;
    }
    let refuse = |failure: Failure| match server.era() {
        Some(Era::Modern) => server.output.error_without_id(&failure),
        Some(Era::Legacy) | None => server.output.error("null", &failure),
    };
    if line.starts_with(b"[") {
        if server.era() == Some(Era::Modern) {
            return refuse(Failure::invalid_request("there are no batches"));
        }
        return match serde_json::from_slice::<Vec<&RawValue>>(line) {
            Ok(messages) => messages.into_iter().for_each(|message| receive(server, message.get().as_bytes())),
            Err(error) => refuse(Failure::parse_error(&error)),
        };
    }
    match serde_json::from_slice::<Incoming<'_>>(line) {
        Err(error) if error.classify() == Category::Data => {
            refuse(Failure::invalid_request(&error.to_string()));
        }
        Err(error) => refuse(Failure::parse_error(&error)),
        Ok(incoming) => match incoming.kind() {
            Err(failure) => refuse(failure),
            Ok(Kind::Request { id, method, params }) => match server.era_or_decide(|| era::of(method, params)) {
                Era::Legacy => legacy::request(server, id, method, params),
                Era::Modern => modern::request(server, id, method, params),
            },
            Ok(Kind::Notification { method, params }) => notification(server, method, params),
            Ok(Kind::Answer { id, answer }) => {
                let answer = answer.map(str::to_owned).map_err(str::to_owned);
                if !server.calls.answered(id, answer) {
                    eprintln!("kennel-fixture: an answer to {id}, which was not asked or is answered already");
                }
            }
        },
    }
}

/// The only notification that matters is the same in both eras.
fn notification(server: &Server, method: &str, params: &str) {
    if method == "notifications/cancelled"
        && let Ok(Cancelled { request_id }) = serde_json::from_str(params)
    {
        let id = request_id.get();
        let in_flight = server.listeners.cancel(id) || server.calls.cancel(id);
        server.calls.remember(Cancellation { id: id.to_owned(), in_flight });
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}
