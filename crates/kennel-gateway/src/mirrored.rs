//! The headers of a request that repeat what its body says (2026-07-28): who stands between reads the headers, the server
//! reads the body, and nobody may be told two things.

use crate::declared::{self, Improper};
use crate::encoded;
use crate::headers::PROTOCOL_VERSION;
use crate::parameters;
use http::header::{AsHeaderName, HeaderMap, HeaderName};
use kennel_hub::HeaderParameter;
use kennel_wire::{Era, FieldError, Message, ProtocolVersion, ValueKind, meta};
use std::borrow::Cow;
use std::sync::Arc;

const METHOD: &str = "Mcp-Method";
const METHOD_FIELD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: &str = "Mcp-Name";
const NAME_FIELD: HeaderName = HeaderName::from_static("mcp-name");
const VERSION: &str = "MCP-Protocol-Version";

/// Why a header and the body do not go together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("The `{header}` header is missing. It must repeat `{field}` of the body.")]
    Missing { header: String, field: String },
    #[error("The `{header}` header is there more than once. Send it once.")]
    Repeated { header: String },
    #[error(
        "The `{header}` header cannot be read. It may be visible ASCII, or UTF-8 in padded Base64 between `=?base64?` and \
         `?=`."
    )]
    Malformed { header: String },
    #[error("The `{header}` header does not say what `{field}` of the body says. It must repeat that.")]
    Different { header: String, field: String },
    #[error("The `{header}` header is there, but the body has no `{field}` for it to repeat. Leave the header out.")]
    Unfounded { header: String, field: String },
}

/// Checks a request against its headers, and what it says about itself. Which arguments of a tool have headers is asked
/// with the tool's name, if it is about one.
pub(crate) fn check(
    headers: &HeaderMap,
    request: &Message,
    mirrored: impl FnOnce(&str) -> Option<Arc<[HeaderParameter]>>,
) -> Result<(), Improper> {
    check_version(headers, request)?;
    declared::check_capabilities(request)?;
    let method = request.method().unwrap_or_default();
    match single(headers, METHOD_FIELD, METHOD)? {
        Some(header) if header == method => {}
        Some(_) => return Err(different(METHOD, "method").into()),
        None => return Err(missing(METHOD, "method").into()),
    }
    let Some(path) = name_of(&method) else { return Ok(()) };
    let name = match request.text_at(path) {
        Ok(name) => name,
        // The server says what it thinks of a name that is none; no header can repeat it.
        Err(FieldError::NotText { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let field = || path.join(".");
    match (decoded(headers, NAME_FIELD, NAME)?, &name) {
        (Some(header), Some(name)) if header == *name => {}
        (Some(_), Some(_)) => return Err(different(NAME, &field()).into()),
        (Some(_), None) => return Err(HeaderError::Unfounded { header: NAME.into(), field: field() }.into()),
        (None, Some(_)) => return Err(missing(NAME, &field()).into()),
        (None, None) => {}
    }
    match name {
        Some(tool) if method == "tools/call" => match mirrored(&tool) {
            Some(parameters) => parameters::check(&parameters, headers, request),
            None => Ok(()),
        },
        Some(_) | None => Ok(()),
    }
}

/// The header and the body must name the same version, and one that is served so.
fn check_version(headers: &HeaderMap, request: &Message) -> Result<(), Improper> {
    let field = || format!("params._meta[\"{}\"]", meta::PROTOCOL_VERSION);
    match (single(headers, PROTOCOL_VERSION, VERSION)?, request.declared_version()?) {
        (Some(header), Some(declared)) if header == declared => declared::check_version(header),
        (Some(_), Some(_)) => Err(different(VERSION, &field()).into()),
        (None, Some(_)) => Err(missing(VERSION, &field()).into()),
        (Some(header), None) => match header.parse::<ProtocolVersion>() {
            Ok(version) if version.era() == Era::Modern => {
                Err(Improper::Meta { name: meta::PROTOCOL_VERSION, kind: ValueKind::String })
            }
            Ok(_) | Err(_) => Err(Improper::Version { requested: header.to_owned() }),
        },
        (None, None) => Err(Improper::Meta { name: meta::PROTOCOL_VERSION, kind: ValueKind::String }),
    }
}

/// Where the body of a request has what its `Mcp-Name` repeats.
fn name_of(method: &str) -> Option<&'static [&'static str]> {
    match method {
        "tools/call" | "prompts/get" => Some(&["params", "name"]),
        "resources/read" => Some(&["params", "uri"]),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some(&["params", "taskId"]),
        _ => None,
    }
}

/// A header that may be there once, with its text decoded. Errors call it by `name`.
pub(crate) fn decoded<'a>(
    headers: &'a HeaderMap,
    field: impl AsHeaderName,
    name: &str,
) -> Result<Option<Cow<'a, str>>, HeaderError> {
    let Some(value) = single(headers, field, name)? else { return Ok(None) };
    encoded::decode(value).map(Some).ok_or_else(|| HeaderError::Malformed { header: name.into() })
}

/// A header that may be there once, without the whitespace around it.
fn single<'a>(headers: &'a HeaderMap, field: impl AsHeaderName, name: &str) -> Result<Option<&'a str>, HeaderError> {
    let mut values = headers.get_all(field).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(HeaderError::Repeated { header: name.into() });
    }
    match value.to_str() {
        Ok(value) => Ok(Some(value.trim_matches([' ', '\t']))),
        Err(_) => Err(HeaderError::Malformed { header: name.into() }),
    }
}

fn missing(header: &str, field: &str) -> HeaderError {
    HeaderError::Missing { header: header.into(), field: field.into() }
}

fn different(header: &str, field: &str) -> HeaderError {
    HeaderError::Different { header: header.into(), field: field.into() }
}

#[cfg(test)]
#[path = "mirrored_tests.rs"]
mod tests;
