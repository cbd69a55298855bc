//! The error codes of JSON-RPC and of MCP.

use std::fmt;

/// The code of a JSON-RPC error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The bytes are not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a message.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist or is not available.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters are wrong.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// There is no such resource (up to 2025-11-25).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// The user has to open an address first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// HTTP headers and body contradict each other (since 2026-07-28).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The client lacks a capability that the request needs (since 2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The protocol version is not supported (since 2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);
    /// Kennel's own: the server ended while it worked on the request, so nobody knows what it did.
    pub const OUTCOME_UNKNOWN: Self = Self(-31001);
    /// Kennel's own: the server cannot be reached; the request was not made.
    pub const UNAVAILABLE: Self = Self(-31002);
    /// Kennel's own: the server has not answered in time.
    pub const TIMED_OUT: Self = Self(-31003);
    /// Kennel's own: there is more to do than may wait; the request was not made.
    pub const SATURATED: Self = Self(-31004);
    /// Kennel's own: the message is larger than what passes.
    pub const TOO_LARGE: Self = Self(-31005);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
