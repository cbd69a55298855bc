//! Servers that run elsewhere: MCP over HTTP, made to look like a process.
//!
//! This crate owns the client's side of the transports over HTTP: Streamable HTTP of both eras, and the stream of events
//! with an address for messages that was before it. To the supervisor a conversation is a process: what is written to its
//! standard input is sent to the server, what the server says is on its standard output, and what an operator should know
//! on its standard error. When the server cannot be talked to any more the process ends with code 75 and the reason as its last
//! line, so that restarts, back-off, parking and idle stop apply as to any other. Which server that is, and its secrets, are
//! asked for at each start ([`UpstreamLauncher`]); what the messages mean is left to the hub.
//!
//! # What becomes of a request
//!
//! Each gets exactly one answer, or the process ends.
//!
//! | what happens | what follows |
//! |---|---|
//! | a message that answers it, with whatever status | that |
//! | a status that says no, with an error in JSON-RPC that names no request | that error |
//! | another such status; an answer that is none, or too large | an error that says so |
//! | the connection is lost before the answer | the stream is asked for again where the server numbers its events; otherwise an error: nobody knows what the server did |
//! | 401; no connection; the session is no longer known; another origin is named | the process ends |
//! | the request that opens the conversation fails | the process ends, or an error where the server may speak another era |
//!
//! # What is not done
//!
//! Requests to another origin than the address's, whoever names it: headers hold credentials. HTTP/2, proxies from the
//! environment, compression, OAuth, and headers for arguments of tools (`Mcp-Param-…`).
#![forbid(unsafe_code)]

mod address;
mod answer;
mod client;
mod conversation;
mod error;
mod events;
mod exchange;
mod fault;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod launcher;
mod limits;
mod listening;
mod modern;
mod open_requests;
mod opening;
mod output;
mod prepared;
mod session;
mod sse;
mod sync;
mod target;
mod tls;
mod wire;

pub use error::UpstreamError;
pub use launcher::{SourceFuture, UpstreamLauncher};
pub use limits::Limits;
pub use target::{Transport, Upstream};
