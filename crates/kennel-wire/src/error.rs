//! What can be wrong with a frame, and with a field that should be read or rewritten.

use crate::code::ErrorCode;
use crate::id::{ErrorId, Id};
use crate::names::Within;
use crate::value::ValueKind;
use std::fmt;

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (at byte {offset})")]
pub struct ParseError {
    problem: Problem,
    offset: usize,
    id: Option<(Id, Sender)>,
}

/// What the sender of a refused message was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    Asking,
    Answering,
}

impl ParseError {
    pub(crate) fn new(problem: Problem, offset: usize) -> Self {
        Self { problem, offset, id: None }
    }

    pub(crate) fn with_id(self, id: Id, sender: Sender) -> Self {
        Self { id: Some((id, sender)), ..self }
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Where it is wrong, counted in bytes from the beginning of the frame.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The id of the refused message, where it has a valid one. For a refused answer it tells which request will get
    /// no other.
    #[must_use]
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref().map(|(id, _)| id)
    }

    /// The id for an error that is sent back. A refused answer's id is not used: it belongs to a request of the other
    /// direction, and the peer would take the error for the end of an own request with the same id.
    #[must_use]
    pub fn reply_id(&self) -> ErrorId {
        match &self.id {
            Some((id, Sender::Asking)) => ErrorId::Known(id.clone()),
            Some((_, Sender::Answering)) | None => ErrorId::Null,
        }
    }

    /// The code for an error that is sent back.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self.problem {
            Problem::NotJson(_) => ErrorCode::PARSE_ERROR,
            Problem::NotObject(_)
            | Problem::EmptyBatch
            | Problem::BatchTooLong { .. }
            | Problem::Duplicate(_)
            | Problem::DuplicateName { .. }
            | Problem::Lookalike { .. }
            | Problem::MethodLookalike { .. }
            | Problem::MethodUnprintable
            | Problem::MissingVersion
            | Problem::WrongVersion
            | Problem::IdType(_)
            | Problem::NullId
            | Problem::MissingId
            | Problem::MethodType(_)
            | Problem::MethodText
            | Problem::ParamsType(_)
            | Problem::ErrorType(_)
            | Problem::BothResultAndError
            | Problem::MethodAndAnswer
            | Problem::NeitherMethodNorAnswer => ErrorCode::INVALID_REQUEST,
        }
    }
}

/// What is wrong with a frame or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The frame as a whole is not JSON.
    #[error("not JSON: {0}")]
    NotJson(Syntax),
    /// A message, or a member of a batch, is another kind of value.
    #[error("a message must be an object, not {0}")]
    NotObject(ValueKind),
    /// `[]`
    #[error("a batch must hold at least one message")]
    EmptyBatch,
    /// More messages in one batch than [`crate::ParseLimits::batch`] allows.
    #[error("a batch may hold at most {limit} messages")]
    BatchTooLong {
        /// The limit.
        limit: usize,
    },
    /// A member that decides what the message is stands there twice.
    #[error("member `{0}` is given twice")]
    Duplicate(Member),
    /// A member of the parameters, the result or their `_meta` by which is decided stands there twice.
    #[error("member `{name}` of {within} is given twice, and readers disagree on which one counts; give it once")]
    DuplicateName {
        /// The member.
        name: &'static str,
        /// The object that has it.
        within: Within,
    },
    /// A member is another spelling of one by which is decided, and some readers take it for that.
    #[error(
        "a member of {within} differs from `{name}` only in case, hidden characters, `_` or `-`, and some readers take \
         one for the other; spell it `{name}`, or give it another name"
    )]
    Lookalike {
        /// The member that it could be taken for.
        name: &'static str,
        /// The object that has it.
        within: Within,
    },
    /// The same of a method.
    #[error(
        "the method differs from `{name}` only in case, slashes or hidden characters, and some readers take one for the \
         other; spell it `{name}`, or use another name"
    )]
    MethodLookalike {
        /// The method that it could be taken for.
        name: &'static str,
    },
    /// A method has control characters.
    #[error("member `method` holds a control character")]
    MethodUnprintable,
    /// There is no `jsonrpc`.
    #[error("member `jsonrpc` is missing; it must be \"2.0\"")]
    MissingVersion,
    /// `jsonrpc` is something else.
    #[error("member `jsonrpc` must be the string \"2.0\"")]
    WrongVersion,
    /// An id is neither a string nor a number.
    #[error("an id must be a string or a number, not {0}")]
    IdType(ValueKind),
    /// `null` where an id must be known.
    #[error("an id may be null only in an error")]
    NullId,
    /// A result without id answers nothing.
    #[error("a result needs the id of its request")]
    MissingId,
    /// A method is not a string.
    #[error("member `method` must be a string, not {0}")]
    MethodType(ValueKind),
    /// A method has half of a surrogate pair.
    #[error("member `method` is not text: it holds a lone surrogate")]
    MethodText,
    /// Parameters are neither an object nor null, nor an array where the method is not the protocol's.
    #[error("member `params` must be an object, not {0}")]
    ParamsType(ValueKind),
    /// An error is not an object.
    #[error("member `error` must be an object, not {0}")]
    ErrorType(ValueKind),
    /// An answer that says both.
    #[error("a response has either `result` or `error`, not both")]
    BothResultAndError,
    /// Request and answer in one.
    #[error("a message with `method` has neither `result` nor `error`")]
    MethodAndAnswer,
    /// An object that is no message.
    #[error("a message has one of `method`, `result` and `error`")]
    NeitherMethodNorAnswer,
}

/// How bytes fail to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Syntax {
    /// The bytes end too early.
    #[error("it ends where {expected} should follow")]
    UnexpectedEnd {
        /// What should follow.
        expected: &'static str,
    },
    /// Another byte should be here.
    #[error("byte {found:#04x} where {expected} should be")]
    Unexpected {
        /// What should be here.
        expected: &'static str,
        /// What is here.
        found: u8,
    },
    /// A raw control character in a string.
    #[error("control character {found:#04x} in a string must be escaped")]
    ControlCharacter {
        /// The character.
        found: u8,
    },
    /// Bytes that are not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// U+FEFF before the first value.
    #[error("it begins with a byte order mark")]
    ByteOrderMark,
    /// More arrays and objects in one another than [`crate::ParseLimits::depth`] allows.
    #[error("arrays and objects are nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// Something follows the value.
    #[error("byte {found:#04x} follows the end of the value")]
    TrailingBytes {
        /// What follows.
        found: u8,
    },
}

/// The members that make up the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// `jsonrpc`
    Version,
    /// `id`
    Id,
    /// `method`
    Method,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `error`
    Error,
}

impl Member {
    /// All, in the order of [`Within::Envelope`].
    const ALL: [Self; 6] = [Self::Version, Self::Id, Self::Method, Self::Params, Self::Result, Self::Error];

    /// The member at a place of [`Within::Envelope`].
    pub(crate) fn at(place: u8) -> Option<Self> {
        Self::ALL.get(usize::from(place)).copied()
    }
}

impl fmt::Display for Member {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Version => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Within {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Envelope => "the message",
            Self::Params => "`params`",
            Self::Result => "`result`",
            Self::Meta => "`_meta`",
        })
    }
}

/// Why a field cannot be read or rewritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Readers disagree on which of two members of one name counts, so neither is chosen.
    #[error("`{path}` is given more than once")]
    Ambiguous {
        /// The members' names, joined with dots.
        path: String,
    },
    /// There is nothing to replace.
    #[error("there is no `{path}`")]
    Missing {
        /// The members' names, joined with dots.
        path: String,
    },
    /// A value on the way has no members.
    #[error("`{path}` must be an object, not {kind}")]
    NotObject {
        /// The members' names, joined with dots.
        path: String,
        /// What it is.
        kind: ValueKind,
    },
    /// An id or a token is neither a string nor a number.
    #[error("`{path}` must be a string or a number, not {kind}")]
    NotId {
        /// The members' names, joined with dots.
        path: String,
        /// What it is.
        kind: ValueKind,
    },
    /// A text is not a string, or holds a lone surrogate.
    #[error("`{path}` must be text")]
    NotText {
        /// The members' names, joined with dots.
        path: String,
    },
    /// A text holds a NUL, at which some readers end it.
    #[error("`{path}` holds a NUL character")]
    HasNul {
        /// The members' names, joined with dots.
        path: String,
    },
    /// Another member is a spelling of this one that some readers take for it.
    #[error("a member differs from `{path}` only in case, hidden characters, `_` or `-`; spell it like that")]
    Lookalike {
        /// The members' names, joined with dots.
        path: String,
    },
    /// Two changes of one rewrite touch the same place.
    #[error("two changes of one message touch the same place, at byte {offset}")]
    Overlapping {
        /// The place.
        offset: usize,
    },
}
