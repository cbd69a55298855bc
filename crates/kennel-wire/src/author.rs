//! The messages that Kennel writes itself. Raw parts go in as they are spelled, so a message has line ends if they have.

use crate::code::ErrorCode;
use crate::error::ParseError;
use crate::id::{ErrorId, Id};
use crate::raw::RawJson;
use crate::text;
use bytes::Bytes;

/// What went wrong, to be told to a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorObject {
    code: ErrorCode,
    message: String,
    data: Option<RawJson>,
}

impl ErrorObject {
    /// An error without data.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The error with data.
    #[must_use]
    pub fn with_data(self, data: RawJson) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The message that carries this error.
    #[must_use]
    pub fn response(&self, id: &ErrorId) -> Bytes {
        let mut written = begin();
        match id {
            ErrorId::Known(id) => member("id", id.spelling(), &mut written),
            ErrorId::Null => member("id", b"null", &mut written),
            ErrorId::Absent => {}
        }
        written.extend_from_slice(b",\"error\":{\"code\":");
        written.extend_from_slice(self.code.to_string().as_bytes());
        member("message", &text::string(&self.message), &mut written);
        if let Some(data) = &self.data {
            member("data", data.as_bytes(), &mut written);
        }
        written.extend_from_slice(b"}}");
        written.into()
    }
}

/// The error that tells a peer why its message was refused.
impl From<&ParseError> for ErrorObject {
    fn from(error: &ParseError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// A response with a result.
#[must_use]
pub fn success_response(id: &Id, result: &RawJson) -> Bytes {
    let mut written = begin();
    member("id", id.spelling(), &mut written);
    member("result", result.as_bytes(), &mut written);
    end(written)
}

/// A request. Parameters are an object; where a method has none, an empty one.
#[must_use]
pub fn request(id: &Id, method: &str, params: &RawJson) -> Bytes {
    let mut written = begin();
    member("id", id.spelling(), &mut written);
    member("method", &text::string(method), &mut written);
    member("params", params.as_bytes(), &mut written);
    end(written)
}

/// A notification. Parameters are an object; where a method has none, an empty one.
#[must_use]
pub fn notification(method: &str, params: &RawJson) -> Bytes {
    let mut written = begin();
    member("method", &text::string(method), &mut written);
    member("params", params.as_bytes(), &mut written);
    end(written)
}

fn begin() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\"".to_vec()
}

fn end(mut written: Vec<u8>) -> Bytes {
    written.push(b'}');
    written.into()
}

/// Writes a further member; the names are plain.
fn member(name: &str, value: &[u8], into: &mut Vec<u8>) {
    into.extend_from_slice(b",\"");
    into.extend_from_slice(name.as_bytes());
    into.extend_from_slice(b"\":");
    into.extend_from_slice(value);
}
