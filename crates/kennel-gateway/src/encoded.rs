//! Text in the headers of a request that repeat its body: as it is, or in Base64 between markers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

const BEGIN: &str = "=?base64?";
const END: &str = "?=";

/// What a header says; `None` if it has the markers but no padded Base64 of UTF-8 between them.
pub(crate) fn decode(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END)) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
#[path = "encoded_tests.rs"]
mod tests;
