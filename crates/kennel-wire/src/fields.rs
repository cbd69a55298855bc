//! The fields inside of payloads that a proxy has to know: where they are and what they say.

use crate::error::FieldError;
use crate::id::Id;
use crate::message::Message;
use crate::names::is_lookalike;
use crate::raw::RawJson;
use crate::text;
use crate::value::{Value, ValueKind};
use crate::walk::{self, Found};
use std::borrow::Cow;
use std::ops::Range;

/// The token under which a request wants its progress reported.
pub const PROGRESS_TOKEN: &[&str] = &["params", "_meta", "progressToken"];
/// The token that `notifications/progress` reports for.
pub const REPORTED_TOKEN: &[&str] = &["params", "progressToken"];
/// The id of the request that `notifications/cancelled` cancels.
pub const CANCELLED_REQUEST: &[&str] = &["params", "requestId"];
/// The address that the methods and notifications about one resource name.
pub const RESOURCE_URI: &[&str] = &["params", "uri"];

const NAME: &[&str] = &["params", "name"];
const TASK_ID: &[&str] = &["params", "taskId"];
const REFERRED_NAME: &[&str] = &["params", "ref", "name"];
const REFERRED_URI: &[&str] = &["params", "ref", "uri"];

/// What since 2026-07-28 every request says about itself and its sender, each a member of `params._meta`, and what
/// results and notifications carry in theirs.
pub mod meta {
    /// The protocol version that a request is made in.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Who makes a request.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// What the one who makes a request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// From which level on the one who makes a request wants to hear what is logged about it.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Who gave a result.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// To which `subscriptions/listen` something belongs.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
}

impl Message {
    /// Where the value lies to which a path leads, as a range of the message's bytes. A path begins with `params`,
    /// `result` or `error` and goes on with the names of members.
    pub fn locate(&self, path: &[&str]) -> Result<Option<Range<usize>>, FieldError> {
        Ok(self.find(path)?.map(|value| value.span.range()))
    }

    /// Whether a path leads to a value, and to one only.
    #[must_use]
    pub fn has(&self, path: &[&str]) -> bool {
        matches!(self.find(path), Ok(Some(_)))
    }

    /// What the value is to which a path leads.
    pub fn kind_at(&self, path: &[&str]) -> Result<Option<ValueKind>, FieldError> {
        Ok(self.find(path)?.map(|value| value.kind))
    }

    /// The value to which a path leads, sharing the message's bytes.
    pub fn field(&self, path: &[&str]) -> Result<Option<RawJson>, FieldError> {
        Ok(self.find(path)?.map(|value| self.raw(value.span)))
    }

    /// The id or token to which a path leads.
    pub fn id_at(&self, path: &[&str]) -> Result<Option<Id>, FieldError> {
        let Some(value) = self.find(path)? else { return Ok(None) };
        match Id::scanned(self.bytes(), value) {
            Ok(id) => Ok(Some(id)),
            Err(_) => Err(FieldError::NotId { path: path.join("."), kind: value.kind }),
        }
    }

    /// The text to which a path leads, without escapes.
    pub fn text_at(&self, path: &[&str]) -> Result<Option<Cow<'_, str>>, FieldError> {
        let Some(value) = self.find(path)? else { return Ok(None) };
        let string = Some(value.span.of(self.bytes())).filter(|_| value.kind == ValueKind::String);
        match string.and_then(text::decode) {
            Some(text) => Ok(Some(text)),
            None => Err(FieldError::NotText { path: path.join(".") }),
        }
    }

    /// The token under which this request wants its progress reported.
    pub fn progress_token(&self) -> Result<Option<Id>, FieldError> {
        self.id_at(PROGRESS_TOKEN)
    }

    /// The token that this `notifications/progress` reports for.
    pub fn reported_token(&self) -> Result<Option<Id>, FieldError> {
        self.id_at(REPORTED_TOKEN)
    }

    /// The id of the request that this `notifications/cancelled` cancels.
    pub fn cancelled_request(&self) -> Result<Option<Id>, FieldError> {
        self.id_at(CANCELLED_REQUEST)
    }

    /// The address of the one resource that this message is about.
    pub fn resource_uri(&self) -> Result<Option<Cow<'_, str>>, FieldError> {
        self.text_at(RESOURCE_URI)
    }

    /// What this request is about: the tool, prompt, resource or task that its method acts on. `None` where it acts on
    /// none, or none is named. An error says that it is named in a way that readers take for different things.
    pub fn subject(&self) -> Result<Option<Cow<'_, str>>, FieldError> {
        let Some(method) = self.method() else { return Ok(None) };
        match &*method {
            "tools/call" | "prompts/get" => self.named(NAME),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => self.named(RESOURCE_URI),
            "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => self.named(TASK_ID),
            "completion/complete" => {
                self.has_plain_reference()?;
                match self.named(REFERRED_NAME)? {
                    Some(name) => Ok(Some(name)),
                    None => self.named(REFERRED_URI),
                }
            }
            _ => Ok(None),
        }
    }

    fn named(&self, path: &[&str]) -> Result<Option<Cow<'_, str>>, FieldError> {
        let text = self.text_at(path)?;
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(FieldError::HasNul { path: path.join(".") });
        }
        Ok(text)
    }

    /// Makes sure that what a completion refers to has no members that are other spellings of those that decide.
    fn has_plain_reference(&self) -> Result<(), FieldError> {
        let Some(reference) = self.field(&["params", "ref"])? else { return Ok(()) };
        for name in reference.names() {
            if let Some(known) = ["name", "uri", "type"].into_iter().find(|known| is_lookalike(&name, known)) {
                return Err(FieldError::Lookalike { path: format!("params.ref.{known}") });
            }
        }
        Ok(())
    }

    /// The protocol version that this request says it is made in; requests say so since 2026-07-28.
    pub fn declared_version(&self) -> Result<Option<Cow<'_, str>>, FieldError> {
        self.text_at(&["params", "_meta", meta::PROTOCOL_VERSION])
    }

    fn find(&self, path: &[&str]) -> Result<Option<Value>, FieldError> {
        let Some((first, rest)) = path.split_first() else { return Ok(None) };
        let Some(part) = self.part(first) else { return Ok(None) };
        match walk::find(self.bytes(), part, self.notes(first), first, rest) {
            Ok(Found::Value(value)) => Ok(Some(value)),
            // What has no members has not the one that was asked for.
            Ok(Found::Until { .. }) | Err(FieldError::NotObject { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
