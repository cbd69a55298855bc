//! What agents who write Python are told: the names of servers and tools, signatures and docs made from JSON schemas, the
//! manual, and the tools of code mode themselves.
//!
//! This module owns how definitions of tools become Python. Which tools there are, and who may call them, is decided by
//! others; nothing here waits or knows of processes. All that comes from servers is foreign: it is bounded, and what is
//! made of it is always Python.

mod arguments;
mod catalog;
mod classes;
mod definitions;
mod json;
mod keywords;
mod manual;
mod names;
mod notes;
mod schema;
mod signature;
mod stub;
mod text;
mod tool;
mod types;

pub use arguments::{ArgumentError, DescribeArguments, SearchArguments};
pub use catalog::{Catalog, Server};
pub use definitions::{DESCRIBE_TOOLS, RUN_PYTHON, SEARCH_TOOLS, WAIT_PYTHON, definitions};
pub use manual::MANUAL_URI;
pub use names::aliases;
pub use stub::{Detail, Shown, stub};
pub use tool::Tool;
