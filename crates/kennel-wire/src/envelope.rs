//! The envelope: which members make which kind of message.

use crate::error::{Member, ParseError, Problem, Sender};
use crate::id::{ErrorId, Id};
use crate::scan::Scanner;
use crate::text;
use crate::value::{Span, Value, ValueKind};
use crate::walk::{META, Noted, Notes};

/// A message's kind and where its parts lie.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Request { id: Id, id_at: Span, method: Span, params: Option<Payload> },
    Notification { method: Span, params: Option<Payload> },
    Response { id: Id, id_at: Span, result: Payload },
    Error { id: ErrorId, id_at: Option<Span>, error: Span },
}

/// Where parameters or a result lie, and what of them was noted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload {
    pub(crate) span: Span,
    pub(crate) notes: Notes,
}

impl Payload {
    fn within(self, start: usize) -> Self {
        Self { span: self.span.within(start), notes: self.notes.within(start) }
    }
}

impl Shape {
    /// The same shape with all places counted from `start`.
    pub(crate) fn within(self, start: usize) -> Self {
        let inner = |span: Span| span.within(start);
        let within = |payload: Payload| payload.within(start);
        match self {
            Self::Request { id, id_at, method, params } => {
                Self::Request { id, id_at: inner(id_at), method: inner(method), params: params.map(within) }
            }
            Self::Notification { method, params } => {
                Self::Notification { method: inner(method), params: params.map(within) }
            }
            Self::Response { id, id_at, result } => Self::Response { id, id_at: inner(id_at), result: within(result) },
            Self::Error { id, id_at, error } => Self::Error { id, id_at: id_at.map(inner), error: inner(error) },
        }
    }
}

/// The members of the envelope as they were found.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    version: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Value>,
    /// What was noted of the first object that is the parameters or the result.
    noted: Option<(Member, Notes)>,
    duplicate: Option<(Member, usize)>,
}

impl Fields {
    fn payload(&self, member: Member, span: Span) -> Payload {
        let notes = self.noted.filter(|(noted, _)| *noted == member).map(|(_, notes)| notes);
        Payload { span, notes: notes.unwrap_or_default() }
    }

    fn place(&mut self, member: Member) -> &mut Option<Value> {
        match member {
            Member::Version => &mut self.version,
            Member::Id => &mut self.id,
            Member::Method => &mut self.method,
            Member::Params => &mut self.params,
            Member::Result => &mut self.result,
            Member::Error => &mut self.error,
        }
    }

    /// The id, if it is valid and the only one.
    fn known_id(&self, bytes: &[u8]) -> Option<Id> {
        let twice = matches!(self.duplicate, Some((Member::Id, _)));
        self.id.filter(|_| !twice).and_then(|value| Id::scanned(bytes, value).ok())
    }
}

/// Passes over the object that begins here and collects the members of the envelope.
pub(crate) fn collect(bytes: &[u8], scanner: &mut Scanner<'_>) -> Result<(Fields, Span), ParseError> {
    let mut fields = Fields::default();
    let span = scanner.members(|scanner, name| {
        let member = member(name.of(bytes));
        let value = match (member, scanner.upcoming()?) {
            (Some(member @ (Member::Params | Member::Result)), (ValueKind::Object, _)) if fields.noted.is_none() => {
                let (notes, span) = noted(bytes, scanner)?;
                fields.noted = Some((member, notes));
                Value { kind: ValueKind::Object, span }
            }
            _ => scanner.value()?,
        };
        let Some(member) = member else { return Ok(()) };
        let place = fields.place(member);
        if place.is_none() {
            *place = Some(value);
        } else if member == Member::Id || fields.duplicate.is_none() {
            // An id that is given twice counts most: an error must not be sent to either of them.
            fields.duplicate = Some((member, name.start));
        }
        Ok(())
    })?;
    Ok((fields, span))
}

/// Passes over the object that begins here and notes its members, and those of its `_meta`.
fn noted(bytes: &[u8], scanner: &mut Scanner<'_>) -> Result<(Notes, Span), ParseError> {
    let mut notes = Notes::of_nothing();
    let span = scanner.members(|scanner, name| {
        let value = match scanner.upcoming()? {
            (ValueKind::Object, _) if text::says(name.of(bytes), META) => {
                let mut members = Noted::of_nothing();
                let span = scanner.members(|scanner, name| {
                    members.note(bytes, name, scanner.value()?);
                    Ok(())
                })?;
                // Where there are several, it is not looked into.
                notes.meta = members;
                Value { kind: ValueKind::Object, span }
            }
            _ => scanner.value()?,
        };
        notes.members.note(bytes, name, value);
        Ok(())
    })?;
    Ok((notes, span))
}

fn member(name: &[u8]) -> Option<Member> {
    match text::plain(name) {
        Some(name) => Member::named(name),
        None => Member::named(text::decode(name)?.as_bytes()),
    }
}

/// What the collected members make; `start` is where their object begins.
pub(crate) fn classify(bytes: &[u8], fields: &Fields, start: usize) -> Result<Shape, ParseError> {
    let answer = fields.result.is_some() || fields.error.is_some();
    let sender = if answer { Sender::Answering } else { Sender::Asking };
    shape(bytes, fields, start).map_err(|error| match fields.known_id(bytes) {
        Some(id) => error.with_id(id, sender),
        None => error,
    })
}

fn shape(bytes: &[u8], fields: &Fields, start: usize) -> Result<Shape, ParseError> {
    let refuse = |problem, value: Value| Err(ParseError::new(problem, value.span.start));
    if let Some((member, offset)) = fields.duplicate {
        return Err(ParseError::new(Problem::Duplicate(member), offset));
    }
    match fields.version {
        None => return Err(ParseError::new(Problem::MissingVersion, start)),
        Some(version) if version.kind == ValueKind::String && text::says(version.span.of(bytes), "2.0") => {}
        Some(version) => return refuse(Problem::WrongVersion, version),
    }
    match (fields.method, fields.result, fields.error) {
        (Some(_), Some(answer), _) | (Some(_), _, Some(answer)) => refuse(Problem::MethodAndAnswer, answer),
        (None, Some(_), Some(error)) => refuse(Problem::BothResultAndError, error),
        (None, None, None) => Err(ParseError::new(Problem::NeitherMethodNorAnswer, start)),
        (Some(method), None, None) => {
            let params = params(fields.params)?.map(|span| fields.payload(Member::Params, span));
            if method.kind != ValueKind::String {
                return refuse(Problem::MethodType(method.kind), method);
            }
            if text::decode(method.span.of(bytes)).is_none() {
                return refuse(Problem::MethodText, method);
            }
            let method = method.span;
            match fields.id {
                None => Ok(Shape::Notification { method, params }),
                Some(value) => Ok(Shape::Request { id: Id::scanned(bytes, value)?, id_at: value.span, method, params }),
            }
        }
        (None, Some(result), None) => match fields.id {
            None => Err(ParseError::new(Problem::MissingId, start)),
            Some(value) => {
                let result = fields.payload(Member::Result, result.span);
                Ok(Shape::Response { id: Id::scanned(bytes, value)?, id_at: value.span, result })
            }
        },
        (None, None, Some(error)) => {
            let id_at = fields.id.map(|value| value.span);
            let id = match fields.id {
                None => ErrorId::Absent,
                Some(value) if value.kind == ValueKind::Null => ErrorId::Null,
                Some(value) => ErrorId::Known(Id::scanned(bytes, value)?),
            };
            if error.kind != ValueKind::Object {
                return refuse(Problem::ErrorType(error.kind), error);
            }
            Ok(Shape::Error { id, id_at, error: error.span })
        }
    }
}

fn params(params: Option<Value>) -> Result<Option<Span>, ParseError> {
    let Some(value) = params else { return Ok(None) };
    match value.kind {
        // JSON-RPC knows arrays and some serializers write null; both mean something to the receiver, not to a proxy.
        ValueKind::Object | ValueKind::Array | ValueKind::Null => Ok(Some(value.span)),
        ValueKind::String | ValueKind::Number | ValueKind::Bool => {
            Err(ParseError::new(Problem::ParamsType(value.kind), value.span.start))
        }
    }
}
