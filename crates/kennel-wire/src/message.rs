//! A message: the bytes as they came, and what kind of message they are.

use crate::envelope::Shape;
use crate::error::{ParseError, Problem};
use crate::frame::Frame;
use crate::id::{ErrorId, Id};
use crate::raw::RawJson;
use crate::text;
use crate::value::{Span, ValueKind};
use crate::walk::Notes;
use bytes::Bytes;
use std::borrow::Cow;
use std::fmt;

/// One JSON-RPC message. It keeps the bytes it was read from, and reading parts of it copies nothing.
#[derive(Clone)]
pub struct Message {
    bytes: Bytes,
    shape: Shape,
}

/// What a message is, with its parts as they stand in its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind<'a> {
    /// It wants an answer.
    Request {
        /// What the answer has to carry.
        id: &'a Id,
        /// What is asked for, without escapes.
        method: Cow<'a, str>,
        /// The raw parameters, also `null`; `None` if there is no such member.
        params: Option<&'a [u8]>,
    },
    /// It wants no answer.
    Notification {
        /// What it is about, without escapes.
        method: Cow<'a, str>,
        /// The raw parameters, also `null`; `None` if there is no such member.
        params: Option<&'a [u8]>,
    },
    /// A request succeeded.
    Response {
        /// The request's id.
        id: &'a Id,
        /// The raw result.
        result: &'a [u8],
    },
    /// A request failed, or something was sent that could not be read.
    Error {
        /// The request's id, if it is known.
        id: &'a ErrorId,
        /// The raw error object.
        error: &'a [u8],
    },
}

impl Message {
    /// Reads a single message within the default limits. Where batches may come, use [`Frame::parse`].
    pub fn parse(bytes: Bytes) -> Result<Self, ParseError> {
        match Frame::parse(bytes)? {
            Frame::Single(message) => Ok(message),
            Frame::Batch(_) => Err(ParseError::new(Problem::NotObject(ValueKind::Array), 0)),
        }
    }

    pub(crate) fn new(bytes: Bytes, shape: Shape) -> Self {
        Self { bytes, shape }
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// What the message is.
    #[must_use]
    pub fn kind(&self) -> Kind<'_> {
        let part = |span: Span| span.of(&self.bytes);
        match &self.shape {
            Shape::Request { id, method, params, .. } => {
                Kind::Request { id, method: self.text(*method), params: params.map(|params| part(params.span)) }
            }
            Shape::Notification { method, params } => {
                Kind::Notification { method: self.text(*method), params: params.map(|params| part(params.span)) }
            }
            Shape::Response { id, result, .. } => Kind::Response { id, result: part(result.span) },
            Shape::Error { id, error, .. } => Kind::Error { id, error: part(*error) },
        }
    }

    /// The id of a request, a response or an error that has one.
    #[must_use]
    pub fn id(&self) -> Option<&Id> {
        match &self.shape {
            Shape::Request { id, .. } | Shape::Response { id, .. } | Shape::Error { id: ErrorId::Known(id), .. } => {
                Some(id)
            }
            Shape::Notification { .. } | Shape::Error { id: ErrorId::Null | ErrorId::Absent, .. } => None,
        }
    }

    /// The method of a request or notification, without escapes.
    #[must_use]
    pub fn method(&self) -> Option<Cow<'_, str>> {
        match &self.shape {
            Shape::Request { method, .. } | Shape::Notification { method, .. } => Some(self.text(*method)),
            Shape::Response { .. } | Shape::Error { .. } => None,
        }
    }

    /// The parameters of a request or notification, sharing the message's bytes.
    #[must_use]
    pub fn params(&self) -> Option<RawJson> {
        self.part("params").map(|span| self.raw(span))
    }

    /// The result of a response, sharing the message's bytes.
    #[must_use]
    pub fn result(&self) -> Option<RawJson> {
        self.part("result").map(|span| self.raw(span))
    }

    /// The error object of an error, sharing the message's bytes.
    #[must_use]
    pub fn error(&self) -> Option<RawJson> {
        self.part("error").map(|span| self.raw(span))
    }

    /// The message as it came; whitespace around a single message included.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The message as it came.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Where a member that can hold fields of interest lies.
    pub(crate) fn part(&self, name: &str) -> Option<Span> {
        match (&self.shape, name) {
            (Shape::Request { params, .. } | Shape::Notification { params, .. }, "params") => {
                params.map(|params| params.span)
            }
            (Shape::Response { result, .. }, "result") => Some(result.span),
            (Shape::Error { error, .. }, "error") => Some(*error),
            _ => None,
        }
    }

    /// What was noted of that part.
    pub(crate) fn notes(&self, name: &str) -> Option<&Notes> {
        match (&self.shape, name) {
            (Shape::Request { params, .. } | Shape::Notification { params, .. }, "params") => {
                params.as_ref().map(|params| &params.notes)
            }
            (Shape::Response { result, .. }, "result") => Some(&result.notes),
            _ => None,
        }
    }

    pub(crate) fn raw(&self, span: Span) -> RawJson {
        RawJson::scanned(self.bytes.slice(span.range()))
    }

    fn text(&self, span: Span) -> Cow<'_, str> {
        text::decode(span.of(&self.bytes)).unwrap_or_default()
    }
}

/// Only what is safe to log: payloads may hold secrets.
impl fmt::Debug for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Message");
        if let Some(method) = self.method() {
            debug.field("method", &method);
        }
        if let Some(id) = self.id() {
            debug.field("id", id);
        }
        debug.field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}
