//! A fake engine: boxes without a kernel, whose processes are scripts in the test's own runtime.
//!
//! With tokio's paused clock this tests what takes minutes in no time. [`FakeEngine`] runs a script for each process,
//! [`Child`] is the script's side of the pipes, and [`McpServer`] is a script that behaves as an MCP server, as well or
//! as badly as it is told. Nothing here isolates anything.

mod child;
mod engine;
mod era;
mod server;

pub use child::Child;
pub use engine::{FakeEngine, plan};
pub use era::Era;
pub use server::McpServer;
