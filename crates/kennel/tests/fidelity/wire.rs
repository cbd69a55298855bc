//! Owns the four doors as a client sees them: messages go out, and what comes in is heard in one place.

use crate::http::{Http, Rpc};
use crate::lines::Lines;
use crate::socket::Socket;
use serde_json::Value;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The kinds of protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

impl Era {
    /// The version of it that these tests speak.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

/// Where a client comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Mcp,
    WebSocket,
    Stdio,
    Rpc,
}

/// A message as it came, and as it reads.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl Heard {
    /// Reads a message.
    pub(crate) fn new(text: &str) -> Self {
        let json = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: no message: {text}"));
        Self { text: text.to_owned(), json }
    }

    /// Whether it is the answer to a request.
    pub(crate) fn answers(&self, id: &Value) -> bool {
        self.json.get("method").is_none() && self.json["id"] == *id
    }

    /// Whether it is a message of this method.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.json["method"] == method
    }
}

/// One client's connection, or connections, to Kennel.
pub(crate) trait Wire: Send {
    /// Sends a message.
    fn send(&mut self, message: &Value);
    /// Says in the way of this door that a request is no longer wanted.
    fn call_off(&mut self, id: &Value);
    /// Makes the handshake of a client with a session, and returns its answer.
    fn initialize(&mut self, request: &Value, heard: &Receiver<Heard>) -> Option<Value>;
}

/// How much may be unread; no test has so much.
const QUEUE: usize = 1024;

/// Goes in by a door: at an address, or for stdio to a program that is started with these arguments.
pub(crate) fn enter(
    door: Door,
    era: Era,
    address: &str,
    program: (&Path, &[String]),
) -> (Box<dyn Wire>, Receiver<Heard>) {
    let (sender, heard): (SyncSender<Heard>, _) = sync_channel(QUEUE);
    let wire: Box<dyn Wire> = match door {
        Door::Mcp => Box::new(Http::new(address, era, sender)),
        Door::Rpc => Box::new(Rpc::new(address, sender)),
        Door::WebSocket => Box::new(Socket::open(address, sender)),
        Door::Stdio => Box::new(Lines::start(program, sender)),
    };
    (wire, heard)
}

/// What calls a request off where messages go both ways.
pub(crate) fn cancellation(id: &Value) -> Value {
    serde_json::json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}
