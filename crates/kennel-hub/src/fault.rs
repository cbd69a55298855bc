//! The errors that Kennel itself answers requests with.

use bytes::Bytes;
use kennel_supervisor::Phase;
use kennel_wire::{ByteSize, ErrorCode, ErrorObject, Id, RawJson};
use serde_json::json;
use std::time::Duration;

/// Why a request is not answered by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    code: ErrorCode,
    text: String,
    phase: Phase,
    /// What the client would have to be able to do, as JSON.
    required: Option<&'static str>,
}

impl Fault {
    fn new(code: ErrorCode, phase: Phase, text: String) -> Self {
        Self { code, text, phase, required: None }
    }

    /// The process ended while it worked on the request.
    pub(crate) fn outcome_unknown(server: &str, cause: &str) -> Self {
        let text = format!("{server}: {cause}; the outcome of this request is unknown");
        Self::new(ErrorCode::OUTCOME_UNKNOWN, Phase::Call, text)
    }

    /// The process is not there and will not be.
    pub(crate) fn unavailable(server: &str, phase: Phase, cause: &str) -> Self {
        Self::new(ErrorCode::UNAVAILABLE, phase, format!("{server} is not available: {cause}"))
    }

    /// The process was not ready in time.
    pub(crate) fn not_ready(server: &str, waited: Duration) -> Self {
        let text = format!("{server} was not ready within {} s; the request was not made", waited.as_secs());
        Self::new(ErrorCode::TIMED_OUT, Phase::Ready, text)
    }

    /// The process was busy with others for too long.
    pub(crate) fn no_turn(server: &str, waited: Duration) -> Self {
        let text = format!(
            "{server} was busy with as many other requests as it gets at once (`concurrency`) for {} s; the request was not made",
            waited.as_secs()
        );
        Self::new(ErrorCode::TIMED_OUT, Phase::Call, text)
    }

    /// The process has not answered in time.
    pub(crate) fn timed_out(server: &str, what: &str, waited: Duration) -> Self {
        let text = format!("{server} gave {what} within {} s; the request was cancelled", waited.as_secs());
        Self::new(ErrorCode::TIMED_OUT, Phase::Call, text)
    }

    /// There is more to do than may wait.
    pub(crate) fn saturated(what: &str, limit: usize) -> Self {
        let text = format!("there are {limit} {what} already, which is the limit; try again later");
        Self::new(ErrorCode::SATURATED, Phase::Call, text)
    }

    /// A message is larger than what passes.
    pub(crate) fn too_large(server: &str, length: u64, limit: usize) -> Self {
        let (length, limit) = (ByteSize(length), ByteSize::from(limit));
        let text = format!("{server} answered with {length}; at most {limit} pass (--max-message)");
        Self::new(ErrorCode::TOO_LARGE, Phase::Call, text)
    }

    /// The client has not said that it can do what the request is about.
    pub(crate) fn undeclared(what: &str, required: &'static str) -> Self {
        let text = format!("the request is about {what}, which the client has not said it can do");
        let fault = Self::new(ErrorCode::MISSING_CLIENT_CAPABILITY, Phase::Call, text);
        Self { required: Some(required), ..fault }
    }

    /// The request cannot be served in this way at all.
    pub(crate) fn refused(code: ErrorCode, text: impl Into<String>) -> Self {
        Self::new(code, Phase::Call, text.into())
    }

    /// The answer to the request with this id.
    pub(crate) fn response(&self, id: &Id) -> Bytes {
        self.object().response(&id.clone().into())
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_saturation(&self) -> bool {
        self.code == ErrorCode::SATURATED
    }

    fn object(&self) -> ErrorObject {
        let object = ErrorObject::new(self.code, self.text.clone());
        let data = match self.required {
            Some(required) => format!("{{\"requiredCapabilities\":{required}}}"),
            None => json!({ "phase": self.phase.as_str() }).to_string(),
        };
        match RawJson::parse(data) {
            Ok(data) => object.with_data(data),
            Err(_) => object,
        }
    }
}
