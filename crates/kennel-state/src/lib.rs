//! What Kennel keeps from one run to the next, in one SQLite file.
//!
//! This crate owns the file, its schema and its one thread: catalogs, sessions, the audit log and saved tools are rows here. It is a
//! leaf. It knows nothing of MCP, sockets or processes: what a catalog means and when a session may go on is left to the
//! hub and the gateway, which give it bytes and names and get them back.
//!
//! # Shape
//!
//! A [`Store`] is a handle, cheap to clone, to a thread that alone has the file open. [`Store::open`] returns at once; the
//! file is opened by the thread, and whoever wants to know how that went asks [`Store::opened`].
//!
//! | call | when it takes effect |
//! |---|---|
//! | reads | answered in order, each after all that was written before it; an [`Answer`] can be awaited or waited for |
//! | [`Store::put_session`], [`Store::remove_session`] | never wait; written at once, the last one for the same key wins |
//! | [`Store::put_catalog`], [`Store::record`] | never wait; written with others within a tenth of a second |
//! | [`Store::touch_session`] | never waits; written with others within five seconds |
//! | [`Store::save_tool`], [`Store::remove_tool`] | in order with reads; in the file when answered |
//! | [`Store::flush`] | answered when all that was written before is in the file |
//!
//! What waits to be written is bounded ([`Limits`]). When a disk is too slow, rows are dropped and counted
//! ([`Counters`]); no call is ever delayed by its record. What [`Store::flush`] has answered for survives `kill -9` of
//! Kennel; a loss of power may take the last moments, but never breaks the file.
//!
//! # The file
//!
//! Mode 0600 in a directory made with 0700, in WAL mode, so several Kennels can use it at once. It is brought up to date
//! when it is opened. One from a newer Kennel is refused and left as it is. A damaged one is moved aside and begun anew,
//! with a [`Warning`]: all that is in it can be said again by servers and clients, but for the audit log and saved tools,
//! which stay in the file that was moved.
#![forbid(unsafe_code)]

mod answer;
mod audit;
mod catalogs;
mod error;
mod file;
mod keeper;
mod keys;
mod limits;
mod queue;
mod saved;
mod schema;
mod sessions;
mod store;
mod time;

pub use answer::Answer;
pub use audit::{Arguments, AuditFilter, AuditRow, Outcome};
pub use catalogs::{Catalog, Offer};
pub use error::{StateError, Warning};
pub use limits::{Counters, Limits};
pub use saved::{Kept, SavedLimits, SavedTool};
pub use sessions::{Session, SessionKey};
pub use store::Store;
