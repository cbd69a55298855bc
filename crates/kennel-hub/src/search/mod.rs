//! Finds tools by what somebody wants to do: a ranked index over what servers say of their tools.
//!
//! This module owns what counts as a word of a tool, which tools come first for a question, and how tools that were found
//! are shown. Which tools a client may see, and what it costs to call one, is decided by others; nothing here waits, reads
//! files or knows of processes.
//!
//! A server's tools are one part of the index, made once and shared by all indexes that have it ([`Index::only`]), so that a
//! server whose list changes costs what its own tools cost, and a view costs nothing.

mod arguments;
mod definitions;
mod document;
mod index;
mod query;
mod ranking;
mod render;
mod schema;
mod segment;
mod signature;
mod spelling;
mod stem;
mod synonyms;
mod text;
mod words;

pub use arguments::{ArgumentError, CallArguments, Detail, SearchArguments};
pub use definitions::{CALL_TOOL, CALL_TOOL_DEFINITION, SEARCH_TOOLS, SEARCH_TOOLS_DEFINITION};
pub use document::Document;
pub use index::{Hit, Index};
pub use render::{Found, Rendered, render};
pub use text::LossyText;
