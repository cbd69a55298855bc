//! Owns what has to be known of a client's session so that another connection can go on with it: its handshake, and what
//! it waits for.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Whether a message goes on to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Forward,
    Nothing,
}

/// The few members of a message that matter here.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

/// A client's session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The client's `initialize`, and its id as it is spelled.
    initialize: Option<(String, Vec<u8>)>,
    /// The client's `notifications/initialized`.
    initialized: Option<Vec<u8>>,
    /// Ids of requests that are not answered, as they are spelled.
    open: BTreeSet<String>,
    /// Whether the next answer to `initialize` is to one that was said on the client's behalf.
    is_replayed: bool,
}

impl Session {
    /// Takes note of what the client says.
    pub(crate) fn say(&mut self, message: &[u8]) -> Said {
        let Ok(Envelope { id, method }) = serde_json::from_slice(message) else { return Said::Forward };
        let method = method.map(RawValue::get);
        match (id.map(RawValue::get), method) {
            (Some(id), Some(method)) => {
                if method == "\"initialize\"" {
                    self.initialize = Some((id.to_owned(), message.to_vec()));
                    self.initialized = None;
                    self.is_replayed = false;
                }
                self.open.insert(id.to_owned());
            }
            (None, Some("\"notifications/initialized\"")) => self.initialized = Some(message.to_vec()),
            (None | Some(_), _) => {}
        }
        Said::Forward
    }

    /// Takes note of what the gateway says. The answer to a handshake that the client did not ask for is not for it.
    pub(crate) fn hear(&mut self, message: &[u8]) -> Said {
        let Ok(Envelope { id: Some(id), method: None }) = serde_json::from_slice(message) else { return Said::Forward };
        let id = id.get();
        let is_handshake = self.initialize.as_ref().is_some_and(|(known, _)| known == id);
        if self.is_replayed && is_handshake && !self.open.contains(id) {
            self.is_replayed = false;
            return Said::Nothing;
        }
        self.open.remove(id);
        Said::Forward
    }

    /// Whether an answer is missing.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// What a new connection has to hear before anything else; nothing in the first one.
    pub(crate) fn handshake(&mut self) -> Vec<Vec<u8>> {
        let Some((_, initialize)) = &self.initialize else { return Vec::new() };
        self.is_replayed = true;
        [initialize].into_iter().chain(&self.initialized).cloned().collect()
    }

    /// Errors for all that was asked of a gateway that is gone.
    pub(crate) fn give_up(&mut self) -> Vec<Vec<u8>> {
        let error = |id: &String| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"The gateway went away before it \
                 answered; nobody knows whether the call was done.\"}}}}"
            )
            .into_bytes()
        };
        let handshake = self.initialize.as_ref().filter(|_| self.initialized.is_none()).map(|(id, _)| id.clone());
        // A handshake that was not answered is said again, and its answer is for the client.
        let answers = self.open.iter().filter(|id| Some(*id) != handshake.as_ref()).map(error).collect();
        self.open.retain(|id| Some(id) == handshake.as_ref());
        answers
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
