//! Server definitions: what servers there are, how each is started, shared, bounded and shown.
//!
//! This crate owns the one model of a configuration, the files that become it (Kennel's own TOML, and the JSON in which
//! other clients keep their servers), what is said about a file that makes no sense, the JSON schema of Kennel's own, and
//! where secrets come from. It does not know how anything runs: what a definition means for a box or a hub is decided by
//! whoever wires them up.
//!
//! # Shape
//!
//! [`Config::read`] gives everything or every [`Problem`] of a file, each with its line and its key. A definition holds
//! references to secrets and never secrets that it does not have to; [`Server::resolve`] follows them when a server is
//! started, through [`Sources`]. [`Changes::between`] tells which servers a changed file touches,
//! [`Widening::between`] what it lets them do that they might not do before.
//!
//! [`clients`] reads and changes the files of other programs: import, export, and pointing them at Kennel.
//!
//! All keys stand in one table, by which files are checked, suggestions made and the [`schema()`] written.
#![forbid(unsafe_code)]

mod changes;
mod check;
pub mod clients;
mod code;
mod collection;
mod config;
mod defaults;
mod fields;
mod foreign;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod keys;
mod name;
mod nearest;
mod pattern;
mod problem;
mod references;
mod resolve;
mod sandbox;
mod schema;
mod secret;
mod server;
mod sources;
mod template;
mod tree;
mod value;
mod widening;

pub use changes::Changes;
pub use code::{Approval, CodeSettings};
pub use config::Config;
pub use gateway::{Audit, GatewaySettings, Surface, View};
pub use name::{LONGEST_NAME, NameError, ServerName, ViewName, name_like, names_for};
pub use pattern::{Pattern, ToolFilter, ToolRules};
pub use problem::{ConfigError, Problem};
pub use resolve::{Cause, ResolveError, Resolved, ResolvedLaunch, ResolvedProcess, ResolvedUpstream, resolve};
pub use sandbox::BoxSettings;
pub use schema::schema;
pub use secret::Secret;
pub use server::{Era, Launch, Model, Process, Server, Start, Timeouts, Transport, Upstream};
pub use sources::{SecretFile, SourceError, Sources, SystemSources};
pub use template::Template;
pub use value::Value;
pub use widening::Widening;
