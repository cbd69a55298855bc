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
//! | `/mcp` | Streamable HTTP: POST, GET and DELETE with sessions, and POST without |
//! | `/ws` | WebSocket, subprotocol `mcp`, one message per text frame |
//! | `/rpc` | plain JSON-RPC by POST, single or batch, without handshake or session |
//! | `/servers/<name>/…`, `/views/<name>/…` | the same three doors to one server, and to a selection |
//! | `/healthz`, `/readyz` | whether the gateway is alive, and whether its servers can be used |
//! | `/metrics` | measurements for Prometheus |
//! | [`serve_stdio`] | one client over a pair of byte streams, one message per line |
//!
//! # Eras
//!
//! Every door takes both eras of the protocol, and each request says which one it is of: since 2026-07-28 it carries its
//! version in `params._meta`, and at `/mcp` in headers that must agree with its body. Such a request stands for itself.
//! It has a mailbox of its own, its stream cannot be resumed, and it is called off when its client goes away, or, where a
//! connection carries many, cancels it. Everything else belongs to sessions.
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
//! | a request whose `_meta` names a version with sessions | belongs to the session, or begins one |
//! | a body that names a version of its own, and no header, but a session id | belongs to the session: the body is not looked at |
//! | a header that repeats the body and is there twice | -32020, as if it were different |
//! | a call of a tool whose name is missing or no text | goes on without `Mcp-Name`: the server says what is wrong |
//! | whoever listens when a stdio client closes its side | is not waited for |
//! | an id that belongs to an unanswered request of the same connection (2026-07-28) | -32600 |
#![forbid(unsafe_code)]

mod access;
mod alarm;
mod answer;
mod answer_feed;
mod asking;
mod body;
mod budget;
mod connection;
mod conversation;
mod declared;
mod directory;
mod dispatch;
mod encoded;
mod event;
mod feed;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod guarded;
mod headers;
mod intake;
mod kept;
mod lines;
mod mcp;
mod metrics;
mod mirrored;
mod modern;
mod open_requests;
mod parameters;
mod peer;
mod pulse;
mod rare;
mod readiness;
mod reply;
mod ring;
mod rpc;
mod session;
mod settings;
mod speaking;
mod stdio;
mod stream;
mod streams;
mod sync;
mod table;
mod websocket;

pub use directory::{Address, Directory};
pub use gateway::{BindError, Gateway};
pub use settings::{AccessSettings, Limits, ReplayLimits, Settings, Token};
pub use stdio::serve_stdio;
