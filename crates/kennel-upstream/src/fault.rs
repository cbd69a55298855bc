//! What can go wrong with a server that runs elsewhere, as sentences for the operator, and what follows from each.

use http::StatusCode;
use kennel_wire::{ErrorCode, RawJson};
use std::time::Duration;

/// Why a request got no answer, or the conversation is over.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{origin} cannot be reached: {cause}")]
    Unreachable { origin: String, cause: String },
    #[error("the connection to {origin} was lost before the answer came ({cause}); nobody knows what the server did")]
    Lost { origin: String, cause: String },
    #[error("{origin} answered {}{}", shown(*.status), quoted(.text))]
    Status { origin: String, status: StatusCode, text: String, error: Option<RawJson> },
    #[error("{origin} answered {}{}; check the credentials in `headers`", shown(*.status), quoted(.text))]
    Denied { origin: String, status: StatusCode, text: String },
    #[error("{origin} no longer knows the session ({}); a new one is needed", shown(*.status))]
    SessionLost { origin: String, status: StatusCode },
    #[error("{origin} sends elsewhere, to {to}; credentials do not follow, so set `url` to where the server is")]
    Redirected { origin: String, to: String },
    #[error("{origin} sends from one place to the next without end")]
    RedirectedTooOften { origin: String },
    #[error("{origin} sent more than {limit} bytes as one message")]
    TooLarge { origin: String, limit: usize },
    #[error("{origin} answered with what is no message: {problem}")]
    NoMessage { origin: String, problem: String },
    #[error("{origin} did not accept a message within {} s", .within.as_secs_f32())]
    Slow { origin: String, within: Duration },
    #[error("{origin} is no MCP server: a message was answered {}, and a stream of events {by_stream}", shown(*.by_post))]
    NoServer { origin: String, by_post: StatusCode, by_stream: String },
    #[error("{origin} ended the stream on which its answers come")]
    StreamEnded { origin: String },
    #[error("{origin} named an address for messages that {problem}")]
    Endpoint { origin: String, problem: String },
}

impl Fault {
    /// Whether the conversation cannot go on.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Denied { .. }
            | Self::SessionLost { .. }
            | Self::Redirected { .. }
            | Self::RedirectedTooOften { .. }
            | Self::NoServer { .. }
            | Self::StreamEnded { .. }
            | Self::Endpoint { .. } => true,
            Self::Lost { .. }
            | Self::Status { .. }
            | Self::TooLarge { .. }
            | Self::NoMessage { .. }
            | Self::Slow { .. } => false,
        }
    }

    /// How a client is told.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::TooLarge { .. } => ErrorCode::TOO_LARGE,
            Self::Lost { .. } | Self::Slow { .. } | Self::StreamEnded { .. } => ErrorCode::OUTCOME_UNKNOWN,
            Self::Status { status, .. } => match *status {
                StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => ErrorCode::OUTCOME_UNKNOWN,
                StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => ErrorCode::UNAVAILABLE,
                StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::TOO_LARGE,
                _ => ErrorCode::INTERNAL_ERROR,
            },
            Self::NoMessage { .. } => ErrorCode::INTERNAL_ERROR,
            Self::Unreachable { .. }
            | Self::Denied { .. }
            | Self::SessionLost { .. }
            | Self::Redirected { .. }
            | Self::RedirectedTooOften { .. }
            | Self::NoServer { .. }
            | Self::Endpoint { .. } => ErrorCode::UNAVAILABLE,
        }
    }
}

/// A status as people know it.
fn shown(status: StatusCode) -> String {
    status
        .canonical_reason()
        .map_or_else(|| status.as_u16().to_string(), |reason| format!("{} {reason}", status.as_u16()))
}

fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
