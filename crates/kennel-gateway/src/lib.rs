//! The doors for clients: Streamable HTTP, WebSocket, plain JSON-RPC and stdio.
//!
//! This crate owns how clients come in: framing, the checks of `Host` and `Origin`, tokens, limits, and for HTTP the
//! sessions and their streams, which outlive connections. What a message means, and which process it is for, is left to
//! the hub.
//!
//! # Doors
//!
//! | address | what it is |
//! |---|---|
//! | `/mcp` | Streamable HTTP: POST, GET and DELETE, with sessions |
//! | `/ws` | WebSocket, subprotocol `mcp`, one message per text frame |
//! | `/rpc` | plain JSON-RPC by POST, single or batch, without handshake or session |
//! | `/healthz`, `/readyz` | whether the gateway is alive, and whether its servers can be used |
//! | `/metrics` | measurements for Prometheus |
//! | [`serve_stdio`] | one client over a pair of byte streams, one message per line |
//!
//! # Where the protocol leaves a choice
//!
//! | question | decision |
//! |---|---|
//! | JSON or a stream of events | JSON if the response comes first and within [`Limits::patience`], else a stream |
//! | a second GET stream | takes the session's one stream over, and the first connection ends: whoever comes back knows better than the gateway that its old connection is dead. The same holds for streams of requests |
//! | `Last-Event-ID` of another session, or never sent | 400 |
//! | `Last-Event-ID` of a stream that is no longer kept | 410; 404 would mean that the session is over |
//! | some of the events after `Last-Event-ID` are no longer kept | the stream goes on with those that are, after a comment |
//! | a connection that breaks before an event was sent | the request goes on, its answer is dropped: there is no id to come back with |
//! | a request that was cancelled before its answer began | 202 without a body |
//! | the session table is full | the session unused the longest goes, if that is longer than [`Limits::idle_session_floor`]; else 503 |
//! | batches over WebSocket and stdio (2025-03-26) | taken; each answer is a message of its own |
#![forbid(unsafe_code)]

mod access;
mod alarm;
mod answer;
mod body;
mod budget;
mod connection;
mod conversation;
mod dispatch;
mod event;
mod feed;
mod gateway;
mod headers;
mod lines;
mod mcp;
mod metrics;
mod rare;
mod reply;
mod ring;
mod rpc;
mod session;
mod settings;
mod stdio;
mod stream;
mod streams;
mod sync;
mod table;
mod websocket;

pub use gateway::{BindError, Gateway};
pub use settings::{AccessSettings, Limits, ReplayLimits, Settings, Token};
pub use stdio::serve_stdio;
