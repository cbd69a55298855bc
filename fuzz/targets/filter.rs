//! Any bytes as a message: what is passed on, a lenient reader takes for the same method, tool, resource and id.
#![no_main]

use bytes::Bytes;
use kennel_wire::{Frame, Id, Message};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// The members of an object in their order, also those that come twice; nothing of other values.
struct Members(Vec<(String, Value)>);

enum Value {
    Object(Members),
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Value::Object(Members(members)))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other)
    }
}

/// A name as readers compare it that ignore case and hyphens and end it at a NUL.
fn folded(name: &str) -> String {
    let name = name.split('\0').next().unwrap_or_default().trim();
    let letters = name.chars().enumerate().filter(|(index, letter)| *index == 0 || !matches!(letter, '_' | '-'));
    letters.flat_map(|(_, letter)| letter.to_lowercase()).map(|letter| if letter == 'ſ' { 's' } else { letter }).collect()
}

impl Members {
    /// The last member that is called so, all in all or exactly.
    fn last(&self, name: &str, is_lax: bool) -> Option<&Value> {
        let is_it = |member: &str| if is_lax { folded(member) == folded(name) } else { member == name };
        self.0.iter().rev().find(|(member, _)| is_it(member)).map(|(_, value)| value)
    }

    fn text(&self, name: &str, is_lax: bool) -> Option<&str> {
        match self.last(name, is_lax)? {
            Value::Text(text) => Some(text),
            Value::Object(_) | Value::Other => None,
        }
    }
}

fn check(message: &Message) {
    let Ok(subject) = message.subject() else { return };
    let line = match message.id() {
        Some(_) => message.with_id(&Id::number(7)).expect("an id can be replaced"),
        None => message.bytes().clone(),
    };
    // Numbers and surrogates of which it makes nothing are no matter here.
    let Ok(Value::Object(members)) = serde_json::from_slice(&line) else { return };
    for is_lax in [false, true] {
        assert_eq!(members.text("method", is_lax), message.method().as_deref(), "the method is another");
        let params = match members.last("params", is_lax) {
            Some(Value::Object(params)) => params,
            _ => continue,
        };
        let name = match message.method().as_deref() {
            Some("tools/call" | "prompts/get") => "name",
            Some("resources/read" | "resources/subscribe" | "resources/unsubscribe") => "uri",
            Some("tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel") => "taskId",
            _ => continue,
        };
        assert_eq!(params.text(name, is_lax), subject.as_deref(), "what it is about is another");
    }
}

fuzz_target!(|bytes: &[u8]| {
    match Frame::parse(Bytes::copy_from_slice(bytes)) {
        Ok(Frame::Single(message)) => check(&message),
        Ok(Frame::Batch(messages)) => messages.iter().flatten().for_each(check),
        Err(error) => assert!(error.offset() <= bytes.len(), "{error}"),
    }
});
