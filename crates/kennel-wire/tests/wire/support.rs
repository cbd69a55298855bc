//! Short ways to messages, and JSON of every spelling.

use bytes::Bytes;
use kennel_wire::{Id, Message, ParseError, RawJson};
use proptest::prelude::*;

pub(crate) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(crate) fn message(text: &str) -> Message {
    Message::parse(bytes(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn refused(text: &str) -> ParseError {
    Message::parse(bytes(text)).expect_err(text)
}

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse(bytes(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn id(spelling: &str) -> Id {
    Id::parse(spelling.as_bytes()).unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Space that may stand between tokens.
pub(crate) fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

pub(crate) fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?"
}

/// Strings with raw text of all planes and with escapes, also of lone surrogates.
pub(crate) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ !#-\\[\\]-~]{1,12}",
        1 => "[\u{7f}-\u{d7ff}\u{e000}-\u{10ffff}]{1,3}",
        1 => r#"\\["\\/bfnrt]"#,
        1 => r"\\u[0-9a-fA-F]{4}",
        1 => r"\\u[dD][89a-fA-F][0-9a-f]{2}",
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

pub(crate) fn token() -> impl Strategy<Value = String> {
    prop_oneof![number(), string()]
}

/// Names of which some mean something elsewhere, so that they come twice and at wrong places.
fn name() -> impl Strategy<Value = String> {
    let known = ["\"_meta\"", "\"progressToken\"", "\"requestId\"", "\"uri\"", r#""ur\u0069""#, "\"id\"", "\"method\""];
    prop_oneof![string(), prop::sample::select(known.to_vec()).prop_map(str::to_owned)]
}

fn spaced(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (space(), inner, space()).prop_map(|(before, inner, after)| before + &inner + &after)
}

fn object_of(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (spaced(name()), spaced(value)).prop_map(|(name, value)| name + ":" + &value);
    let empty = space().prop_map(|space| vec![space]);
    prop_oneof![1 => empty, 5 => prop::collection::vec(member, 1..5)]
        .prop_map(|members| format!("{{{}}}", members.join(",")))
}

/// Any JSON value without space around it.
pub(crate) fn json() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&["true", "false", "null"][..]).prop_map(str::to_owned);
    let scalar = prop_oneof![word, number(), string()];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let array =
            prop::collection::vec(spaced(inner.clone()), 0..4).prop_map(|elements| format!("[{}]", elements.join(",")));
        prop_oneof![array, object_of(inner)]
    })
}

pub(crate) fn object() -> impl Strategy<Value = String> {
    object_of(json())
}

/// The members of a message, put together in any order with any space.
pub(crate) fn assembled(members: Vec<(&'static str, String)>) -> impl Strategy<Value = String> {
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| (spaced(Just(format!("\"{name}\""))), spaced(Just(value))).boxed())
        .collect();
    let members =
        members.prop_map(|members| members.into_iter().map(|(name, value)| name + ":" + &value).collect::<Vec<_>>());
    spaced(members.prop_shuffle().prop_map(|members| format!("{{{}}}", members.join(","))))
}
