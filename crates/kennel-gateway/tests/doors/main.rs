//! The doors over real sockets and pipes, with a real hub behind them and a scripted server behind that.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod access;
mod endpoints;
mod eras;
mod events;
mod flooding;
mod http;
mod message;
mod mirrored;
mod modern;
mod probes;
mod resuming;
mod rounds;
mod rpc;
mod schemas;
mod sessions;
mod shutdown;
mod stdio;
mod support;
mod websocket;
