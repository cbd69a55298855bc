//! Owns the files of other clients: where they are, what they say of servers, and how to change them without harm.
//!
//! Reading and writing go by one table of words for each client (`dialect`); what a client's file says of a server
//! becomes an [`Entry`], whatever the file looks like. How Kennel runs servers is not known here.

mod client;
mod codex;
mod dialect;
mod diff;
mod document;
mod edit;
mod edit_toml;
mod entry;
mod error;
mod export;
mod fields;
mod file;
mod find;
mod kennel;
mod lists;
mod mask;
mod places;
mod plan;
mod plugins;
mod read;
mod text;
mod undo;
mod wrapped;
mod write;

pub use client::{Client, UnknownClient};
pub use diff::unified;
pub use document::{Document, Language, Node, Value};
pub use entry::{Entry, Launch, Origin, Scope, Timeouts, Tools, Transport};
pub use error::{ReadError, SayError, Spot};
pub use export::{Export, KENNEL_NAME, TOKEN_VARIABLE, entry_for_kennel, export, is_kennel, without};
pub(crate) use export::{leads_to, starts_kennel};
pub use file::{WriteError, Written, replace};
pub use find::{Gathered, read_client, read_known, read_path, read_text};
pub use kennel::{entry_of, usual_file};
pub use mask::{MASK, masked};
pub use places::{Place, Surroundings, System};
pub use plan::{Outcome, Plan, PlanError, Planned, plan, plan_removal};
pub use read::Found;
pub use text::{Part, Spelling, Text, Unsayable, Words};
pub use undo::{Record, Records, UndoError};
pub(crate) use wrapped::{Setting, understood};
