//! Code mode: an agent's Python runs in a locked-down box and calls the tools of all servers.
//!
//! This crate owns interpreters and the channel to them, the notebooks that use them, and what code sees of the
//! servers. It knows the hub as a client does; how clients reach it is the gateway's affair.
#![forbid(unsafe_code)]

pub mod cell;
pub mod channel;
pub mod docs;
pub mod engine;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod lazy;
pub mod notebook;
pub mod output;
mod owner;
pub mod pool;
pub mod results;
mod server;
mod settings;
mod sync;
mod toolbox;

pub use lazy::EngineToCome;
pub use owner::{Holder, Owner};
pub use pool::{Pool, PoolSettings};
pub use server::{CodeLauncher, CodeMode, CodeSettings};
pub use settings::{NotebookLimits, OutputLimits, RegistryLimits, ResultLimits, Settings};
pub use toolbox::{Approval, Policy};
