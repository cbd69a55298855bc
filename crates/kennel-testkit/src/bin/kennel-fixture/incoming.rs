//! Owns how a line is read as a message, by its own means: a test server must not share the proxy's parser.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// One JSON-RPC message; what is in its members stays as it was spelled.
#[derive(Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A message by its kind; ids, params and results are JSON as the client spelled it.
pub(crate) enum Kind<'a> {
    Request { id: &'a str, method: &'a str, params: &'a str },
    Notification { method: &'a str, params: &'a str },
    Answer { id: &'a str, answer: Result<&'a str, &'a str> },
}

impl Incoming<'_> {
    /// What kind of message it is.
    pub(crate) fn kind(&self) -> Result<Kind<'_>, Failure> {
        let params = self.params.map_or("{}", RawValue::get);
        match (self.id.map(RawValue::get), self.method.as_deref(), self.result, self.error) {
            (Some(id), Some(method), None, None) => Ok(Kind::Request { id, method, params }),
            (None, Some(method), None, None) => Ok(Kind::Notification { method, params }),
            (Some(id), None, Some(result), None) => Ok(Kind::Answer { id, answer: Ok(result.get()) }),
            (Some(id), None, None, Some(error)) => Ok(Kind::Answer { id, answer: Err(error.get()) }),
            _ => Err(Failure::invalid_request("this is neither a request nor a notification nor a response")),
        }
    }
}

/// Codes that only servers of before 2026-07-28 send.
const UNKNOWN_RESOURCE: i32 = -32002;
const OVERLOADED: i32 = -32000;

/// Why a request is answered with an error.
#[derive(Clone)]
pub(crate) struct Failure {
    code: i32,
    message: String,
    data: Option<serde_json::Value>,
}

impl Failure {
    pub(crate) fn parse_error(error: &serde_json::Error) -> Self {
        Self { code: -32700, message: format!("Parse error: {error}"), data: None }
    }

    pub(crate) fn invalid_request(message: &str) -> Self {
        Self { code: -32600, message: format!("Invalid request: {message}"), data: None }
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self { code: -32601, message: format!("Method not found: {method}"), data: None }
    }

    pub(crate) fn invalid_params(message: impl std::fmt::Display) -> Self {
        Self { code: -32602, message: format!("Invalid params: {message}"), data: None }
    }

    pub(crate) fn unknown_resource(uri: &str) -> Self {
        Self { code: UNKNOWN_RESOURCE, message: format!("Resource not found: {uri}"), data: Some(json!({"uri": uri})) }
    }

    /// What the client must be able to do and says it cannot, as a `ClientCapabilities`.
    pub(crate) fn missing_capabilities(required: &serde_json::Value) -> Self {
        let message = format!("The client must be able to do this: {required}");
        Self { code: -32021, message, data: Some(json!({ "requiredCapabilities": required })) }
    }

    pub(crate) fn unsupported_version(supported: &str, requested: &str) -> Self {
        let data = json!({"supported": [supported], "requested": requested});
        Self { code: -32022, message: "Unsupported protocol version".to_owned(), data: Some(data) }
    }

    /// The same with data.
    pub(crate) fn with_data(self, data: serde_json::Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The same where codes of before 2026-07-28 are not to be sent any more.
    pub(crate) fn in_modern(self) -> Self {
        let code = match self.code {
            UNKNOWN_RESOURCE => -32602,
            OVERLOADED => -32603,
            code => code,
        };
        Self { code, ..self }
    }

    pub(crate) fn internal(message: &str) -> Self {
        Self { code: -32603, message: format!("Internal error: {message}"), data: None }
    }

    pub(crate) fn overloaded() -> Self {
        Self { code: OVERLOADED, message: "Too many calls in flight".to_owned(), data: None }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}
