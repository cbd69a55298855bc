//! What is written down of calls: one row for each, whatever becomes of it.

use crate::client::Client;
use crate::dialect::error_code;
use crate::fault::Fault;
use kennel_state::{Arguments, AuditRow, Outcome, SessionKey, Store};
use kennel_wire::{ErrorCode, Message};
use std::fmt;
use std::time::SystemTime;
use tokio::time::Instant;

/// Where calls are written down, and how much of them.
#[derive(Debug, Clone)]
pub struct Audit {
    /// Where.
    pub store: Store,
    /// What of their arguments.
    pub arguments: AuditedArguments,
}

/// What of the arguments of calls is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuditedArguments {
    /// Their digest: enough to tell whether two calls had the same, and not to tell which.
    #[default]
    Digest,
    /// Their text, with whatever secrets are in it.
    Text,
}

/// A call that will be written down: with its outcome, or as called off where it is dropped without one.
pub(crate) struct Entry {
    store: Store,
    row: AuditRow,
    began: Instant,
    is_settled: bool,
}

impl Entry {
    /// The entry of a request, if it is one that does something.
    pub(crate) fn of(
        audit: &Audit,
        server: &str,
        client: &Client,
        method: &str,
        request: &Message,
    ) -> Option<Box<Self>> {
        let (name, arguments) = match method {
            "tools/call" | "prompts/get" => (&["params", "name"], Some(&["params", "arguments"])),
            "resources/read" => (&["params", "uri"], None),
            _ => return None,
        };
        let arguments = arguments.and_then(|path| request.field(path).ok().flatten());
        let arguments = arguments.map(|arguments| match audit.arguments {
            AuditedArguments::Digest => Arguments::hashed(arguments.as_bytes()),
            AuditedArguments::Text => Arguments::in_full(arguments.as_bytes()),
        });
        let row = AuditRow {
            time: SystemTime::now(),
            principal: client.principal.to_string(),
            session: (!client.is_modern()).then(|| SessionKey::of(client.id.as_str())),
            server: server.to_owned(),
            method: method.to_owned(),
            tool: request.text_at(name).ok().flatten().map(std::borrow::Cow::into_owned),
            duration: std::time::Duration::ZERO,
            outcome: Outcome::Cancelled,
            error_code: None,
            request_bytes: request.bytes().len() as u64,
            response_bytes: 0,
            arguments: arguments.unwrap_or_default(),
        };
        Some(Box::new(Self { store: audit.store.clone(), row, began: Instant::now(), is_settled: false }))
    }

    /// The server has answered.
    pub(crate) fn answered(&mut self, answer: &Message) {
        let outcome = match (answer.result(), answer.field(&["result", "isError"])) {
            (None, _) => Outcome::Failed,
            (Some(_), Ok(Some(flag))) if flag.as_bytes() == b"true" => Outcome::ToolFailed,
            (Some(_), _) => Outcome::Succeeded,
        };
        self.row.response_bytes = answer.bytes().len() as u64;
        self.settle(outcome, error_code(answer));
    }

    /// Kennel has answered in the server's place.
    pub(crate) fn refused(&mut self, fault: &Fault) {
        let outcome = match fault.code() {
            ErrorCode::OUTCOME_UNKNOWN => Outcome::Lost,
            ErrorCode::TIMED_OUT => Outcome::TimedOut,
            _ => Outcome::Refused,
        };
        self.settle(outcome, Some(fault.code()));
    }

    /// Nobody waits for an answer any more.
    pub(crate) fn called_off(&mut self) {
        self.settle(Outcome::Cancelled, None);
    }

    /// The first word counts.
    fn settle(&mut self, outcome: Outcome, code: Option<ErrorCode>) {
        if !self.is_settled {
            self.is_settled = true;
            self.row.outcome = outcome;
            self.row.error_code = code.map(|code| code.0);
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.row.duration = self.began.elapsed();
        self.store.record(self.row.clone());
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("method", &self.row.method).finish_non_exhaustive()
    }
}
