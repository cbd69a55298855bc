//! Foreign and secret text made fit to be shown.
//!
//! This crate owns three answers, for all crates that quote what others have written: what of a text a terminal may see
//! ([`printable`], [`one_line`], [`json_for_terminal`]), what of it nobody may see ([`Redactor`]), and how much of it is
//! written at all ([`Pace`]). It is a leaf: it knows nothing of servers, terminals or files, and prints nothing.
//!
//! Text is redacted before it is cleaned, and before or after it is cut: whatever Kennel cuts ends in [`CUT`] ([`cut`],
//! [`cut_off`]), and the redactor takes what stands before that mark for what it may be, the beginning of a secret.
#![forbid(unsafe_code)]

mod clean;
mod cutting;
mod decoding;
mod pace;
mod redactor;
mod spellings;

pub use clean::{REPLACEMENT, hanging, is_unfit, json_for_terminal, one_line, printable};
pub use cutting::{CUT, cut, cut_off};
pub use pace::Pace;
pub use redactor::{MARKER, Redactor};
pub use spellings::SHORTEST;
