//! The envelope: which members make which kind of message.

use crate::error::{Member, ParseError, Problem, Sender};
use crate::id::{ErrorId, Id};
use crate::names::{MethodName, Name, Seen, Within, judge_method};
use crate::scan::Scanner;
use crate::text;
use crate::value::{Span, Value, ValueKind};
use crate::walk::{Noted, Notes};

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
    /// The first name that some readers take for another, or that comes twice where it decides.
    flaw: Option<(Problem, usize)>,
    /// Whether another member could be taken for the id.
    has_other_id: bool,
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

    fn flawed(&mut self, problem: Problem, offset: usize) {
        self.flaw.get_or_insert((problem, offset));
    }

    /// The member of the envelope that this is.
    fn member(&mut self, bytes: &[u8], name: Span) -> Option<Member> {
        match Within::Envelope.spelled(name.of(bytes)) {
            Some(place) => Member::at(place),
            None => self.other_member(bytes, name),
        }
    }

    #[cold]
    fn other_member(&mut self, bytes: &[u8], name: Span) -> Option<Member> {
        let lookalike = match Within::Envelope.judge(name.of(bytes)) {
            Name::Deciding(place) => return Member::at(place),
            Name::Free => return None,
            Name::Lookalike(lookalike) => lookalike,
        };
        self.has_other_id |= lookalike == "id";
        self.flawed(Problem::Lookalike { name: lookalike, within: Within::Envelope }, name.start);
        None
    }

    /// Looks at a name where names decide, and notes what is wrong with it. Returns which one it is, and whether it is
    /// known to have no escapes.
    #[inline]
    fn judge(&mut self, bytes: &[u8], name: Span, within: Within, seen: &mut Seen) -> (Option<u8>, bool) {
        match within.spelled(name.of(bytes)) {
            Some(place) if !seen.again(place) => (Some(place), true),
            spelled => (self.judge_slowly(bytes, name, within, spelled, seen), false),
        }
    }

    #[cold]
    fn judge_slowly(
        &mut self,
        bytes: &[u8],
        name: Span,
        within: Within,
        again: Option<u8>,
        seen: &mut Seen,
    ) -> Option<u8> {
        let judged = again.map_or_else(|| within.judge(name.of(bytes)), Name::Deciding);
        match judged {
            Name::Free => None,
            Name::Lookalike(lookalike) => {
                self.flawed(Problem::Lookalike { name: lookalike, within }, name.start);
                None
            }
            Name::Deciding(place) => {
                if seen.again(place) {
                    self.flawed(Problem::DuplicateName { name: within.name(place), within }, name.start);
                }
                Some(place)
            }
        }
    }

    /// The id, if it is valid and the only one.
    fn known_id(&self, bytes: &[u8]) -> Option<Id> {
        let twice = self.has_other_id || matches!(self.duplicate, Some((Member::Id, _)));
        self.id.filter(|_| !twice).and_then(|value| Id::scanned(bytes, value).ok())
    }
}

/// Passes over the object that begins here and collects the members of the envelope.
pub(crate) fn collect(bytes: &[u8], scanner: &mut Scanner<'_>) -> Result<(Fields, Span), ParseError> {
    let mut fields = Fields::default();
    let span = scanner.members(|scanner, name| {
        let member = fields.member(bytes, name);
        let value = match (member, scanner.upcoming()?) {
            (Some(member @ (Member::Params | Member::Result)), (ValueKind::Object, _)) => {
                let within = if member == Member::Result { Within::Result } else { Within::Params };
                let (notes, span) = noted(bytes, scanner, within, &mut fields)?;
                if fields.noted.is_none() {
                    fields.noted = Some((member, notes));
                }
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
#[expect(clippy::inline_always, reason = "what it returns is large, and copying it costs a twentieth of a message")]
#[inline(always)]
fn noted(
    bytes: &[u8],
    scanner: &mut Scanner<'_>,
    within: Within,
    fields: &mut Fields,
) -> Result<(Notes, Span), ParseError> {
    let mut notes = Notes::of_nothing();
    let mut seen = Seen::default();
    let span = scanner.members(|scanner, name| {
        let (place, is_plain) = fields.judge(bytes, name, within, &mut seen);
        let value = match scanner.upcoming()? {
            (ValueKind::Object, _) if place.is_some() && place == within.meta() => {
                let mut members = Noted::of_nothing();
                let mut seen = Seen::default();
                let span = scanner.members(|scanner, name| {
                    let (_, is_plain) = fields.judge(bytes, name, Within::Meta, &mut seen);
                    members.note(bytes, name, is_plain, scanner.value()?);
                    Ok(())
                })?;
                // Where there are several, it is not looked into.
                notes.meta = members;
                Value { kind: ValueKind::Object, span }
            }
            _ => scanner.value()?,
        };
        notes.members.note(bytes, name, is_plain, value);
        Ok(())
    })?;
    Ok((notes, span))
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
    if let Some((problem, offset)) = fields.flaw {
        return Err(ParseError::new(problem, offset));
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
            if method.kind != ValueKind::String {
                return refuse(Problem::MethodType(method.kind), method);
            }
            let judged = judge_method(method.span.of(bytes));
            match judged {
                MethodName::Known | MethodName::Other => {}
                MethodName::NoText => return refuse(Problem::MethodText, method),
                MethodName::Lookalike(name) => return refuse(Problem::MethodLookalike { name }, method),
                MethodName::Unprintable => return refuse(Problem::MethodUnprintable, method),
            }
            let params = params(fields.params, judged)?.map(|span| fields.payload(Member::Params, span));
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

fn params(params: Option<Value>, method: MethodName) -> Result<Option<Span>, ParseError> {
    let Some(value) = params else { return Ok(None) };
    match value.kind {
        // Those of the protocol's own methods have names; a reader that takes them by their order takes others.
        ValueKind::Array if method == MethodName::Known => {
            Err(ParseError::new(Problem::ParamsType(value.kind), value.span.start))
        }
        // JSON-RPC knows arrays and some serializers write null; both mean something to the receiver, not to a proxy.
        ValueKind::Object | ValueKind::Array | ValueKind::Null => Ok(Some(value.span)),
        ValueKind::String | ValueKind::Number | ValueKind::Bool => {
            Err(ParseError::new(Problem::ParamsType(value.kind), value.span.start))
        }
    }
}
