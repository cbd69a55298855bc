//! Whether the gateway can be used, as `/readyz` tells it.
//!
//! It is ready when at least one server has not failed, or when none is defined: where many are served, one that cannot be
//! used does not make the others useless. How many servers are in which state is told to everybody; names and reasons,
//! which may hold paths, only to those who may use the gateway.

use crate::reply::{self, Reply};
use http::StatusCode;
use kennel_hub::{Hub, Readiness};
use serde_json::{Map, Value, json};

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Ready,
    Starting,
    Failed,
    Closing,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Starting => "starting",
            Self::Failed => "failed",
            Self::Closing => "closing",
        }
    }
}

/// One server and how it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) state: State,
    /// What is wrong with it.
    pub(crate) reason: Option<String>,
}

/// Answers the question, with names and reasons if `is_told`.
pub(crate) fn reply(hubs: &[Hub], unserved: &[(String, String)], is_told: bool) -> Reply {
    let served = hubs.iter().map(|hub| {
        let status = hub.status();
        let (state, reason) = match status.readiness {
            Readiness::Ready => (State::Ready, None),
            Readiness::Starting => (State::Starting, None),
            Readiness::Failed { cause } => (State::Failed, Some(cause)),
            Readiness::Closing => (State::Closing, None),
        };
        Server { name: status.server, state, reason }
    });
    let unserved = unserved.iter().map(|(name, reason)| Server {
        name: name.clone(),
        state: State::Failed,
        reason: Some(reason.clone()),
    });
    let servers: Vec<_> = served.chain(unserved).collect();
    let status = if is_ready(&servers) { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    reply::json(status, body(&servers, is_told).to_string().into())
}

fn is_ready(servers: &[Server]) -> bool {
    servers.is_empty() || servers.iter().any(|server| server.state == State::Ready)
}

fn body(servers: &[Server], is_told: bool) -> Value {
    let count = |state| servers.iter().filter(|server| server.state == state).count();
    let counts: Map<_, _> = [State::Ready, State::Starting, State::Failed, State::Closing]
        .into_iter()
        .map(|state| (state.word().to_owned(), json!(count(state))))
        .collect();
    let mut body = json!({ "ready": is_ready(servers), "servers": counts });
    let wrong = servers.iter().filter(|server| server.state != State::Ready);
    if let Some(members) = body.as_object_mut().filter(|_| is_told) {
        let told: Vec<_> = wrong
            .map(|server| json!({ "server": server.name, "state": server.state.word(), "reason": server.reason }))
            .collect();
        members.insert("not_ready".to_owned(), told.into());
    }
    body
}

#[cfg(test)]
#[path = "readiness_tests.rs"]
mod tests;
