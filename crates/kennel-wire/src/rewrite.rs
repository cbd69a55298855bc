//! Rewriting: putting other values into a message's bytes and leaving all others as they are.

use crate::envelope::Shape;
use crate::error::FieldError;
use crate::fields::{CANCELLED_REQUEST, PROGRESS_TOKEN, REPORTED_TOKEN, RESOURCE_URI};
use crate::id::Id;
use crate::line;
use crate::message::Message;
use crate::raw::RawJson;
use crate::text;
use crate::value::Span;
use crate::walk::{self, Found};
use bytes::{Bytes, BytesMut};

/// Changes to one message, made all at once with one copy by [`Rewrite::finish`]. Changes that touch the same place are
/// refused: two members that are to be inserted into one object have to be put in as one value.
#[derive(Debug, Clone)]
#[must_use = "nothing changes before `finish`"]
pub struct Rewrite<'a> {
    message: &'a Message,
    edits: Vec<Edit>,
}

/// What comes instead of a place; an empty place means an insertion.
#[derive(Debug, Clone)]
struct Edit {
    place: Span,
    value: Bytes,
}

impl Message {
    /// Begins to change the message.
    pub fn rewrite(&self) -> Rewrite<'_> {
        Rewrite { message: self, edits: Vec::new() }
    }

    /// The message with another id, for the most usual change.
    pub fn with_id(&self, id: &Id) -> Result<Bytes, FieldError> {
        Ok(self.rewrite().id(id)?.finish())
    }
}

impl Rewrite<'_> {
    /// Replaces the id, also where an error has `null`.
    pub fn id(self, id: &Id) -> Result<Self, FieldError> {
        let place = match self.message.shape() {
            Shape::Request { id_at, .. } | Shape::Response { id_at, .. } => Some(*id_at),
            Shape::Error { id_at, .. } => *id_at,
            Shape::Notification { .. } => None,
        };
        let place = place.ok_or_else(|| FieldError::Missing { path: "id".to_owned() })?;
        self.edit(place, RawJson::from(id).into_bytes())
    }

    /// Sets the token under which the request's progress is reported; `_meta` is made if it is missing.
    pub fn progress_token(self, token: &Id) -> Result<Self, FieldError> {
        self.set(PROGRESS_TOKEN, &token.into())
    }

    /// Replaces the token of a `notifications/progress`.
    pub fn reported_token(self, token: &Id) -> Result<Self, FieldError> {
        self.replace(REPORTED_TOKEN, &token.into())
    }

    /// Replaces the id in a `notifications/cancelled`.
    pub fn cancelled_request(self, id: &Id) -> Result<Self, FieldError> {
        self.replace(CANCELLED_REQUEST, &id.into())
    }

    /// Replaces the address of the one resource that the message is about.
    pub fn resource_uri(self, uri: &str) -> Result<Self, FieldError> {
        self.replace(RESOURCE_URI, &RawJson::string(uri))
    }

    /// Replaces the value to which a path leads (see [`Message::locate`]); it has to be there.
    pub fn replace(self, path: &[&str], value: &RawJson) -> Result<Self, FieldError> {
        match self.message.locate(path)? {
            Some(place) => {
                let place = Span { start: place.start, end: place.end };
                self.edit(place, value.clone().into_bytes())
            }
            None => Err(FieldError::Missing { path: path.join(".") }),
        }
    }

    /// Replaces the value to which a path leads, or inserts it with all objects on the way that are missing.
    pub fn set(self, path: &[&str], value: &RawJson) -> Result<Self, FieldError> {
        let Some((first, rest)) = path.split_first() else {
            return Err(FieldError::Missing { path: String::new() });
        };
        let bytes = self.message.bytes();
        let Some(part) = self.message.part(first) else {
            return self.insert_params(first, path, value);
        };
        match walk::find(bytes, part, self.message.notes(first), first, rest)? {
            Found::Value(found) => self.edit(found.span, value.clone().into_bytes()),
            Found::Until { object, known } => {
                let mut inserted = nested(rest.get(known..).unwrap_or_default(), value);
                if !walk::is_empty(bytes, object) {
                    inserted.push(b',');
                }
                let start = object.start + 1;
                self.edit(Span { start, end: start }, inserted.into())
            }
        }
    }

    /// Inserts members into the object to which a path leads; it has to be there and must not have them.
    pub fn add(self, path: &[&str], members: &[(&str, RawJson)]) -> Result<Self, FieldError> {
        let missing = || FieldError::Missing { path: path.join(".") };
        let place = self.message.locate(path)?.ok_or_else(missing)?;
        let object = Span { start: place.start, end: place.end };
        let bytes = self.message.bytes();
        if bytes.get(object.start) != Some(&b'{') {
            return Err(missing());
        }
        let mut inserted = Vec::new();
        for (name, value) in members {
            if !inserted.is_empty() {
                inserted.push(b',');
            }
            text::write_string(name, &mut inserted);
            inserted.push(b':');
            inserted.extend_from_slice(value.as_bytes());
        }
        if inserted.is_empty() {
            return Ok(self);
        }
        if !walk::is_empty(bytes, object) {
            inserted.push(b',');
        }
        let start = object.start + 1;
        self.edit(Span { start, end: start }, inserted.into())
    }

    /// The changed message; the same bytes without a copy if nothing was changed.
    #[must_use]
    pub fn finish(self) -> Bytes {
        if self.edits.is_empty() {
            return self.message.bytes().clone();
        }
        self.written(0).freeze()
    }

    /// The changed message as one line, with its line end, as a process reads it.
    #[must_use]
    pub fn finish_line(self) -> Bytes {
        let mut line = self.written(1);
        line::fold(&mut line);
        line.extend_from_slice(b"\n");
        line.freeze()
    }

    /// The changed message in a buffer that has room for more.
    fn written(mut self, room: usize) -> BytesMut {
        let old = self.message.bytes();
        self.edits.sort_by_key(|edit| edit.place.start);
        let added: usize = self.edits.iter().map(|edit| edit.value.len()).sum();
        let mut new = BytesMut::with_capacity(old.len() + added + room);
        let mut kept = 0;
        for edit in &self.edits {
            new.extend_from_slice(Span { start: kept, end: edit.place.start }.of(old));
            new.extend_from_slice(&edit.value);
            kept = edit.place.end;
        }
        new.extend_from_slice(Span { start: kept, end: old.len() }.of(old));
        new
    }

    /// Inserts `params` after the method of a message that has none.
    fn insert_params(self, first: &str, path: &[&str], value: &RawJson) -> Result<Self, FieldError> {
        let start = match self.message.shape() {
            Shape::Request { method, .. } | Shape::Notification { method, .. } if first == "params" => method.end,
            _ => return Err(FieldError::Missing { path: first.to_owned() }),
        };
        let mut inserted = vec![b','];
        inserted.extend(nested(path, value));
        self.edit(Span { start, end: start }, inserted.into())
    }

    fn edit(mut self, place: Span, value: Bytes) -> Result<Self, FieldError> {
        // Places that only touch are refused as well: of two insertions at one place neither knows the other's comma.
        let touching = self.edits.iter().any(|edit| edit.place.start <= place.end && place.start <= edit.place.end);
        if touching {
            return Err(FieldError::Overlapping { offset: place.start });
        }
        self.edits.push(Edit { place, value });
        Ok(self)
    }
}

/// `"first":{"second":value}`
fn nested(path: &[&str], value: &RawJson) -> Vec<u8> {
    let mut written = Vec::new();
    for (depth, name) in path.iter().enumerate() {
        if depth > 0 {
            written.push(b'{');
        }
        text::write_string(name, &mut written);
        written.push(b':');
    }
    written.extend_from_slice(value.as_bytes());
    written.extend(std::iter::repeat_n(b'}', path.len().saturating_sub(1)));
    written
}
