//! The arguments of a tool that are repeated in headers of their own, `Mcp-Param-…` (2026-07-28).

use crate::declared::Improper;
use crate::mirrored::{HeaderError, decoded};
use http::header::HeaderMap;
use kennel_hub::{HeaderParameter, HeaderParameterKind};
use kennel_wire::{Message, RawJson, ValueKind};

/// Checks the arguments of a call against their headers. Headers for no argument of the tool are passed over.
pub(crate) fn check(parameters: &[HeaderParameter], headers: &HeaderMap, request: &Message) -> Result<(), Improper> {
    for HeaderParameter { header, path, kind } in parameters {
        let path = ["params", "arguments"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>();
        let value = request.field(&path)?.filter(|value| value.kind() != ValueKind::Null);
        let header = format!("Mcp-Param-{header}");
        let field = || path.join(".");
        let error = match (decoded(headers, header.as_str(), &header)?, value) {
            (Some(text), Some(value)) if says(*kind, request, &path, &value, &text) => continue,
            (None, None) => continue,
            (Some(_), Some(_)) => HeaderError::Different { field: field(), header },
            (Some(_), None) => HeaderError::Unfounded { field: field(), header },
            (None, Some(_)) => HeaderError::Missing { field: field(), header },
        };
        return Err(error.into());
    }
    Ok(())
}

/// Whether a value of the body says what the text of its header says.
fn says(kind: HeaderParameterKind, request: &Message, path: &[&str], value: &RawJson, header: &str) -> bool {
    match (kind, value.kind()) {
        (HeaderParameterKind::String, ValueKind::String) => {
            request.text_at(path).is_ok_and(|text| text.is_some_and(|text| text == header))
        }
        (HeaderParameterKind::Integer, ValueKind::Number) => {
            let spelled = std::str::from_utf8(value.as_bytes()).ok().and_then(Number::read);
            spelled.is_some() && spelled == Number::read(header)
        }
        (HeaderParameterKind::Boolean, ValueKind::Bool) => value.as_bytes() == header.as_bytes(),
        _ => false,
    }
}

/// A number, the same however it is spelled: `42`, `42.0` and `4.2e1` are one.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    is_negative: bool,
    /// Without zeros before or after; none for zero.
    digits: Vec<u8>,
    /// By which power of ten the digits, read as a whole number, are to be multiplied.
    exponent: i64,
}

impl Number {
    /// Reads a number as JSON spells it, but for zeros that it may begin with.
    fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let digits = [whole.as_bytes(), fraction.as_bytes()].concat();
        if whole.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let kept = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        let first = digits.iter().position(|digit| *digit != b'0').unwrap_or(kept);
        if first == kept {
            return Some(Self { is_negative: false, digits: Vec::new(), exponent: 0 });
        }
        let exponent = exponent.checked_add(i64::try_from(digits.len() - kept).ok()?)?;
        Some(Self { is_negative, digits: digits.get(first..kept)?.to_vec(), exponent })
    }
}

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
