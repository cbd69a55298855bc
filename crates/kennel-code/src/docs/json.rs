//! Foreign JSON as a tree that keeps the order of members, which is the order in which people read arguments.

use kennel_hub::search::LossyText;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// A value. Numbers keep their spelling; members keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a value; none if it is no JSON, or nested too deeply.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let raw: &RawValue = serde_json::from_slice(bytes).ok()?;
        read(raw, DEEPEST)
    }

    /// The member of that name; of several the last, as most readers have it.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().rev().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; none of anything else.
    pub(crate) fn elements(&self) -> &[Self] {
        match self {
            Self::Array(elements) => elements,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

/// Reads one level after the other, so that numbers come as they are spelled.
fn read(raw: &RawValue, depth: usize) -> Option<Json> {
    let deeper = depth.checked_sub(1)?;
    let text = raw.get();
    match text.as_bytes().first()? {
        b'n' => Some(Json::Null),
        b't' => Some(Json::Bool(true)),
        b'f' => Some(Json::Bool(false)),
        b'"' => serde_json::from_str::<LossyText>(text).ok().map(|LossyText(text)| Json::Text(text)),
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            elements.into_iter().map(|element| read(element, deeper)).collect::<Option<_>>().map(Json::Array)
        }
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            let member = |(name, value): (LossyText, &RawValue)| Some((name.0, read(value, deeper)?));
            members.into_iter().map(member).collect::<Option<_>>().map(Json::Object)
        }
        _ => Some(Json::Number(text.to_owned())),
    }
}

/// The members of an object in their order, those included that have the same name.
struct Members<'a>(Vec<(LossyText, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
