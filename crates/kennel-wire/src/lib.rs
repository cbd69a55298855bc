//! The JSON-RPC envelope, lossless.
//!
//! This crate owns how a message is read, changed and written without being taken apart: it finds the `id`, the
//! `method` and the few fields that a proxy rewrites in the bytes of a frame, and replaces them there. Every other byte
//! stays as the sender wrote it: key order, number spelling, unknown fields, whitespace, null and absent. It also owns
//! the names of protocol versions and error codes, and the messages that Kennel itself authors. Who a message is for,
//! how bytes are cut into lines and how they travel is left to others.
//!
//! # What is accepted
//!
//! JSON as in RFC 8259 and UTF-8, checked to the last byte, then JSON-RPC 2.0 as MCP uses it. Where these leave a choice:
//!
//! | question | decision |
//! |---|---|
//! | a member of the envelope (`jsonrpc`, `id`, `method`, `params`, `result`, `error`) given twice | refused: readers disagree on which one counts, so a proxy could route one message and deliver another |
//! | a member by which is decided (such as `name` or `uri`) given twice in `params`, `result` or their `_meta` | refused for the same reason |
//! | a member given twice anywhere else | passed on; refused only by what would read or rewrite it ([`FieldError::Ambiguous`]) |
//! | a member of the envelope, `params`, `result` or their `_meta` that differs from one by which is decided only in case, hidden characters, `_` or `-` (`Name`, `paramſ`, `name\u0000`) | refused: lenient readers take one for the other |
//! | a method that differs from one of the protocol's in the same way, or has control characters | refused |
//! | names spelled with escapes (`"\u0069d"`) | the same name |
//! | nesting | at most [`ParseLimits::depth`], by default what `serde_json` reads |
//! | numbers of any size and spelling, also `1e999` | passed on |
//! | escapes of lone surrogates (`"\ud83d"`) | passed on, as JavaScript writes them for text cut in a character; refused in a `method` |
//! | a byte order mark | refused, with an error of its own |
//! | ids | any string and any number, also with a fraction, kept by spelling; `null` or none only in an error |
//! | `params` | an object or `null`; an array for methods that are not the protocol's |
//! | `result` | any value |
//! | `error` | an object; what is in it is not checked |
#![forbid(unsafe_code)]

mod author;
mod code;
mod envelope;
mod error;
mod fields;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod id;
mod line;
mod message;
mod names;
mod raw;
mod rewrite;
mod scan;
mod size;
mod skip;
mod text;
mod value;
mod version;
mod walk;

pub use author::{ErrorObject, notification, request, success_response};
pub use code::ErrorCode;
pub use error::{FieldError, Member, ParseError, Problem, Syntax};
pub use fields::{CANCELLED_REQUEST, PROGRESS_TOKEN, REPORTED_TOKEN, RESOURCE_URI, meta};
pub use frame::{Frame, ParseLimits};
pub use id::{ErrorId, Id};
pub use line::one_line;
pub use message::{Kind, Message};
pub use names::{Within, folded, is_lookalike, is_method};
pub use raw::RawJson;
pub use rewrite::Rewrite;
pub use size::ByteSize;
pub use value::ValueKind;
pub use version::{Era, ProtocolVersion, UnknownVersion};
