//! Types as Python writes them, and values that stand in them.

use super::json::Json;
use std::collections::HashSet;
use std::fmt::Write;

/// How many kinds a union has; more are anything.
const MOST_KINDS: usize = 8;
/// How many values a `Literal` has; more are told in a note.
const MOST_VALUES: usize = 24;
/// How many bytes a `Literal` has.
const LONGEST_LITERAL: usize = 400;
/// How many bytes a default has.
const LONGEST_DEFAULT: usize = 60;

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Any,
    Null,
    Bool,
    Int,
    Float,
    Str,
    /// Values, as Python writes them.
    Literal(Vec<String>),
    List(Box<Type>),
    Tuple(Vec<Type>),
    Dict(Box<Type>),
    /// One of the records that were found, by its number.
    Record(usize),
    Union(Vec<Type>),
}

/// An object with known members: a `TypedDict`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    /// What members without a name of their own are, if it is said that there may be some.
    pub(crate) others: Option<Type>,
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// Its name in JSON.
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) presence: Presence,
    /// What else is said of it, on one line.
    pub(crate) note: String,
}

/// Whether a member has to be there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// It may be left out and counts as this value then, as Python writes it.
    Default(String),
}

impl Type {
    pub(crate) fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    pub(crate) fn dict(of: Self) -> Self {
        Self::Dict(Box::new(of))
    }

    /// One of several, each once. What could be anything is anything.
    pub(crate) fn union(kinds: impl IntoIterator<Item = Self>) -> Self {
        let mut different: Vec<Self> = Vec::new();
        for kind in kinds {
            let parts = match kind {
                Self::Union(parts) => parts,
                one => vec![one],
            };
            for part in parts {
                add(&mut different, part);
            }
        }
        if different.contains(&Self::Float) {
            different.retain(|kind| *kind != Self::Int);
        }
        // `None` comes last, as people write it.
        if let Some(place) = different.iter().position(|kind| *kind == Self::Null) {
            let null = different.remove(place);
            different.push(null);
        }
        match different.len() {
            0 => Self::Any,
            1 => different.swap_remove(0),
            _ if different.contains(&Self::Any) || different.len() > MOST_KINDS => Self::Any,
            _ => Self::Union(different),
        }
    }

    /// The same or `None`.
    pub(crate) fn or_null(self) -> Self {
        Self::union([self, Self::Null])
    }

    /// How Python writes it.
    pub(crate) fn write(&self, records: &[Record]) -> String {
        let several = |kinds: &[Self], separator: &str| {
            kinds.iter().map(|kind| kind.write(records)).collect::<Vec<_>>().join(separator)
        };
        match self {
            Self::Any => "Any".to_owned(),
            Self::Null => "None".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Float => "float".to_owned(),
            Self::Str => "str".to_owned(),
            Self::Literal(values) => format!("Literal[{}]", values.join(", ")),
            Self::List(of) if **of == Self::Any => "list".to_owned(),
            Self::List(of) => format!("list[{}]", of.write(records)),
            Self::Tuple(kinds) => format!("tuple[{}]", several(kinds, ", ")),
            Self::Dict(of) if **of == Self::Any => "dict".to_owned(),
            Self::Dict(of) => format!("dict[str, {}]", of.write(records)),
            Self::Record(number) => records.get(*number).map_or("dict", |record| &record.name).to_owned(),
            Self::Union(kinds) => several(kinds, " | "),
        }
    }
}

/// Adds a kind to those of a union, values to values.
fn add(different: &mut Vec<Type>, kind: Type) {
    if let Type::Literal(values) = &kind
        && let Some(Type::Literal(known)) = different.iter_mut().find(|known| matches!(known, Type::Literal(_)))
    {
        for value in values {
            if !known.contains(value) {
                known.push(value.clone());
            }
        }
    } else if !different.contains(&kind) {
        different.push(kind);
    }
}

/// The type of one of these values. A note says the values where they are too many, or no values that types can have.
pub(crate) fn one_of(values: &[Json]) -> (Type, Option<String>) {
    let mut kinds = Vec::new();
    let mut literals = Vec::new();
    let mut can_be_literal = true;
    for value in values {
        match value {
            Json::Null => kinds.push(Type::Null),
            Json::Bool(_) | Json::Text(_) => literals.push(python(value)),
            Json::Number(number) if is_whole(number) => literals.push(python(value)),
            _ => can_be_literal = false,
        }
    }
    let mut known = HashSet::new();
    literals.retain(|literal| known.insert(literal.clone()));
    let length: usize = literals.iter().map(|literal| literal.len() + 2).sum();
    if can_be_literal && literals.len() <= MOST_VALUES && length <= LONGEST_LITERAL {
        if !literals.is_empty() {
            kinds.insert(0, Type::Literal(literals));
        }
        return (Type::union(kinds), None);
    }
    let kind = Type::union(values.iter().map(kind_of));
    let mut note = String::from("one of ");
    for (place, value) in values.iter().enumerate() {
        let value = python(value);
        if note.len() + value.len() > LONGEST_LITERAL {
            let _ = write!(note, "… ({} values)", values.len());
            break;
        }
        let separator = if place == 0 { "" } else { ", " };
        let _ = write!(note, "{separator}{value}");
    }
    (kind, Some(note))
}

/// The type that a value has.
fn kind_of(value: &Json) -> Type {
    match value {
        Json::Null => Type::Null,
        Json::Bool(_) => Type::Bool,
        Json::Number(number) if is_whole(number) => Type::Int,
        Json::Number(_) => Type::Float,
        Json::Text(_) => Type::Str,
        Json::Array(_) => Type::list(Type::Any),
        Json::Object(_) => Type::dict(Type::Any),
    }
}

/// A default as Python writes it, if it is short.
pub(crate) fn default(value: &Json) -> Option<String> {
    Some(python(value)).filter(|written| written.len() <= LONGEST_DEFAULT)
}

/// A value as Python writes it.
fn python(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        // A whole number with very many digits is one that Python refuses to read.
        Json::Number(number) if number.len() > 300 => "None".to_owned(),
        Json::Number(number) => number.clone(),
        Json::Text(text) => quoted(text),
        Json::Array(elements) => format!("[{}]", elements.iter().map(python).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let member = |(name, value): &(String, Json)| format!("{}: {}", quoted(name), python(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

fn is_whole(number: &str) -> bool {
    number.len() <= 300 && number.bytes().all(|digit| digit.is_ascii_digit() || digit == b'-')
}

/// A text as Python writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut written = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            odd if is_hidden(odd) => {
                let _ = write!(written, "\\U{:08x}", u32::from(odd));
            }
            letter => written.push(letter),
        }
    }
    written.push('"');
    written
}

/// Whether a character cannot be seen, or changes how what is around it is seen.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(u32::from(letter), 0xad | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xe0000..=0xe0fff)
}

#[cfg(test)]
#[path = "types_tests.rs"]
mod tests;
