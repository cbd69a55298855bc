//! How a conversation was opened, and what one of the legacy era has to repeat in each request: its session and its
//! protocol version.

use http::{HeaderMap, HeaderName, HeaderValue};
use kennel_wire::{Era, Id, Message};
use std::sync::OnceLock;

pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What is known of the session.
#[derive(Default)]
pub(crate) struct Session {
    /// The first request, which opens the conversation, and in which era.
    opening: OnceLock<(Id, Era)>,
    id: OnceLock<HeaderValue>,
    version: OnceLock<HeaderValue>,
}

impl Session {
    /// Notes which request opens the conversation.
    pub(crate) fn opens_with(&self, id: &Id, era: Era) {
        // Only the first one does.
        let _ = self.opening.set((id.clone(), era));
    }

    /// The era in which this request opens the conversation, if it is the one that does.
    pub(crate) fn opened_by(&self, id: &Id) -> Option<Era> {
        self.opening.get().filter(|(opening, _)| opening == id).map(|(_, era)| *era)
    }

    /// Takes the session's id from the head of the answer to the request that opens it.
    pub(crate) fn begins(&self, headers: &HeaderMap) {
        if let Some(id) = headers.get(SESSION_ID) {
            let mut id = id.clone();
            id.set_sensitive(true);
            let _ = self.id.set(id);
        }
    }

    /// Takes the version that was agreed on from that answer.
    pub(crate) fn agrees(&self, answer: &Message) {
        let version = answer.text_at(&["result", "protocolVersion"]).ok().flatten();
        if let Some(version) = version.and_then(|version| HeaderValue::from_str(&version).ok()) {
            let _ = self.version.set(version);
        }
    }

    /// Whether the server gave the session an id.
    pub(crate) fn has_id(&self) -> bool {
        self.id.get().is_some()
    }

    /// The headers of a request in the session.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [(SESSION_ID, &self.id), (PROTOCOL_VERSION, &self.version)] {
            if let Some(value) = value.get() {
                headers.insert(name, value.clone());
            }
        }
        headers
    }
}
