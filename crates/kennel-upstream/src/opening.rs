//! How a conversation begins: in which era, and in which transport.

use crate::fault::Fault;
use crate::target::Transport;
use crate::wire::Wire;
use bytes::Bytes;
use http::StatusCode;
use kennel_wire::{Era, Id, Message};

/// How a server says that it does not know Streamable HTTP, or not this request of it.
const UNKNOWN: [StatusCode; 3] = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];

impl Wire {
    /// Sends a request that opens a conversation of the legacy era, in the transport that the server turns out to speak.
    /// In the transport of 2024-11-05 this goes on as long as the conversation.
    pub(crate) async fn open_legacy(&self, id: &Id, body: Bytes) -> Result<(), Fault> {
        if self.transport == Transport::Sse {
            let (to, stream) = self.connect_by_events().await?;
            return self.converse_over(to, stream, id, body).await;
        }
        let Err(refused) = self.exchange(id, body.clone()).await else { return Ok(()) };
        let (by_post, is_message) = match &refused {
            Fault::Status { status, error, .. } if self.transport == Transport::Auto && UNKNOWN.contains(status) => {
                (*status, error.is_some())
            }
            _ => return Err(refused),
        };
        match self.connect_by_events().await {
            Ok((to, stream)) => self.converse_over(to, stream, id, body).await,
            // What spoke JSON-RPC is a server of Streamable HTTP, and meant what it said.
            Err(_) if is_message => Err(refused),
            Err(Fault::Status { origin, status, .. }) => {
                Err(Fault::NoServer { origin, by_post, by_stream: status.to_string() })
            }
            Err(Fault::NoMessage { origin, .. }) => {
                Err(Fault::NoServer { origin, by_post, by_stream: "with something else".to_owned() })
            }
            Err(fault) => Err(fault),
        }
    }
}

/// In which era a first message opens a conversation.
pub(crate) fn era_of(first: &Message) -> Era {
    let is_modern = match first.method().as_deref() {
        Some("initialize") => false,
        Some("server/discover") => true,
        _ => first.declared_version().ok().flatten().is_some(),
    };
    if is_modern { Era::Modern } else { Era::Legacy }
}
