//! What a request that stands for itself says about itself in its `_meta` (2026-07-28), and what is wrong with one that
//! does not.

use crate::mirrored::HeaderError;
use bytes::Bytes;
use kennel_wire::{
    Era, ErrorCode, ErrorId, ErrorObject, FieldError, Message, ProtocolVersion, RawJson, ValueKind, meta,
};

/// Why a request is not served.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Improper {
    #[error("The protocol version `{requested}` is not supported. Use one of those in `data.supported`.")]
    Version { requested: String },
    #[error("`params._meta[\"{name}\"]` must be {kind}, but is missing or something else. Send it with every request.")]
    Meta { name: &'static str, kind: ValueKind },
    #[error("The request cannot be read: {0}.")]
    Field(#[from] FieldError),
    #[error(transparent)]
    Header(#[from] HeaderError),
}

impl Improper {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Version { .. } => ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            Self::Meta { .. } | Self::Field(_) => ErrorCode::INVALID_PARAMS,
            Self::Header(_) => ErrorCode::HEADER_MISMATCH,
        }
    }

    /// The error that tells the client.
    pub(crate) fn response(&self, id: &ErrorId) -> Bytes {
        let error = ErrorObject::new(self.code(), self.to_string());
        match self {
            Self::Version { requested } => error.with_data(versions(requested)).response(id),
            Self::Meta { .. } | Self::Field(_) | Self::Header(_) => error.response(id),
        }
    }
}

/// Whether a message says that it is made in a version without sessions. One that Kennel does not know counts: only
/// such versions say so in each message.
pub(crate) fn is_modern(message: &Message) -> bool {
    match message.declared_version() {
        Ok(Some(version)) => version.parse::<ProtocolVersion>().map_or(true, |version| version.era() == Era::Modern),
        Ok(None) => false,
        Err(error) => matches!(error, FieldError::NotText { .. }),
    }
}

/// Checks what every request must say.
pub(crate) fn check(request: &Message) -> Result<(), Improper> {
    let version = request.declared_version()?;
    let version = version.ok_or(Improper::Meta { name: meta::PROTOCOL_VERSION, kind: ValueKind::String })?;
    check_version(&version)?;
    check_capabilities(request)
}

/// Checks the version that a request says it is made in.
pub(crate) fn check_version(version: &str) -> Result<(), Improper> {
    match version.parse::<ProtocolVersion>() {
        Ok(known) if known.era() == Era::Modern => Ok(()),
        Ok(_) | Err(_) => Err(Improper::Version { requested: version.to_owned() }),
    }
}

/// Checks that a request says what its sender can do.
pub(crate) fn check_capabilities(request: &Message) -> Result<(), Improper> {
    match request.kind_at(&["params", "_meta", meta::CLIENT_CAPABILITIES])? {
        Some(ValueKind::Object) => Ok(()),
        Some(_) | None => Err(Improper::Meta { name: meta::CLIENT_CAPABILITIES, kind: ValueKind::Object }),
    }
}

/// What an error about a version tells besides: the versions that would do, the newest first, and the one that does not.
fn versions(requested: &str) -> RawJson {
    let supported = ProtocolVersion::ALL.iter().rev().map(|version| format!("\"{version}\"")).collect::<Vec<_>>();
    let supported = RawJson::parse(format!("[{}]", supported.join(",")));
    let supported = supported.unwrap_or_else(|_| RawJson::string(ProtocolVersion::LATEST.as_str()));
    RawJson::object([("supported", &supported), ("requested", &RawJson::string(requested))])
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
