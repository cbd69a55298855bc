//! What holds for every message and for all other bytes. `serde_json` is the judge of what JSON is.
//!
//! Reading into `IgnoredAny` it checks the grammar and nothing else: neither the depth nor UTF-8, which the judge here
//! adds. Reading into `Value` it also refuses numbers beyond 64-bit floats and lone surrogates, which a proxy passes on.

use crate::support::{assembled, bytes, id, json, message, object, raw, space, string, text, token};
use bytes::Bytes;
use kennel_wire::{FieldError, Frame, Id, Kind, Message, Problem, RawJson, one_line};
use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::IgnoredAny;
use serde_json::Value;

const DEPTH: usize = 127;

fn is_json(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    serde_json::from_str::<IgnoredAny>(text).is_ok() && depth(text) <= DEPTH
}

/// How deep valid JSON is nested.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Uses whatever can be used of the bytes, and only must not panic.
fn use_all(bytes: &Bytes) {
    let messages = match Frame::parse(bytes.clone()) {
        Ok(Frame::Single(message)) => vec![message],
        Ok(Frame::Batch(messages)) => messages.into_iter().flatten().collect(),
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error}");
            return;
        }
    };
    for message in messages {
        let _ = (message.kind(), message.reported_token(), message.cancelled_request(), message.resource_uri());
        let rewritten = message.rewrite().progress_token(&Id::number(1)).map(kennel_wire::Rewrite::finish);
        for bytes in rewritten.into_iter().chain(message.with_id(&Id::string("x"))) {
            assert!(is_json(&bytes));
            Message::parse(bytes).unwrap();
        }
    }
}

fn request_parts() -> impl Strategy<Value = (String, String, String, String)> {
    (token(), object(), json())
        .prop_flat_map(|(id, params, unknown)| {
            let members = vec![
                ("jsonrpc", "\"2.0\"".to_owned()),
                ("id", id.clone()),
                ("method", "\"tools/call\"".to_owned()),
                ("params", params.clone()),
                ("x-unknown", unknown.clone()),
            ];
            (Just(id), Just(params), Just(unknown), assembled(members))
        })
        .prop_filter("a name that decides comes twice", |parts| {
            let refused = Message::parse(bytes(&parts.3)).err();
            !refused.is_some_and(|error| matches!(error.problem(), Problem::DuplicateName { .. }))
        })
}

/// A message changed at a few places, which may or may not still be one.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&br#"{}[]",:\u0123eE+-. nulltruefalse"#[..])];
    let change = (any::<Index>(), byte, 0..3);
    let whole = prop_oneof![request_parts().prop_map(|parts| parts.3), json()];
    (whole, prop::collection::vec(change, 1..4)).prop_map(|(whole, changes)| {
        let mut bytes = whole.into_bytes();
        for (index, byte, way) in changes {
            let at = index.index(bytes.len() + 1);
            match (way, bytes.get_mut(at)) {
                (0, Some(place)) => *place = byte,
                (1, Some(_)) => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_value_of_every_spelling_is_accepted(before in space(), value in json(), after in space()) {
        let around = format!("{before}{value}{after}");
        prop_assert!(is_json(around.as_bytes()), "the generator makes JSON");
        let read = RawJson::parse(bytes(&around)).unwrap();
        prop_assert_eq!(text(read.as_bytes()), value);
    }

    #[test]
    fn what_serde_json_accepts_is_accepted_and_nothing_else(bytes in damaged()) {
        prop_assert_eq!(RawJson::parse(bytes.clone()).is_ok(), is_json(&bytes));
    }

    #[test]
    fn json_like_bytes_are_judged_like_serde_json_does(text in r#"[\[\]{}",:\\u019eE+. nul-]{0,12}"#) {
        prop_assert_eq!(RawJson::parse(bytes(&text)).is_ok(), is_json(text.as_bytes()));
    }

    #[test]
    fn values_are_refused_by_serde_json_only_for_numbers_and_surrogates(value in json()) {
        if let Err(error) = serde_json::from_str::<Value>(&value) {
            let error = error.to_string();
            prop_assert!(["out of range", "surrogate", "hex escape"].iter().any(|known| error.contains(known)), "{}", error);
        }
    }

    #[test]
    fn damaged_messages_never_panic(bytes in damaged()) {
        use_all(&bytes.into());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let judged = is_json(&bytes);
        prop_assert_eq!(RawJson::parse(bytes.clone()).is_ok(), judged);
        let _ = Id::parse(&bytes);
        use_all(&bytes.into());
    }

    #[test]
    fn nesting_is_judged_like_serde_json_does(depth in 120..135_usize, objects in any::<bool>()) {
        let (open, close) = if objects { ("{\"a\":", "}") } else { ("[", "]") };
        let text = open.repeat(depth) + "1" + &close.repeat(depth);
        prop_assert_eq!(RawJson::parse(bytes(&text)).is_ok(), serde_json::from_str::<Value>(&text).is_ok());
    }

    #[test]
    fn every_part_of_a_request_is_found_as_it_was_written((id, params, _, whole) in request_parts()) {
        let request = message(&whole);
        prop_assert_eq!(request.bytes(), &whole);
        let Kind::Request { id: found, method, params: found_params } = request.kind() else { panic!("{whole}") };
        prop_assert_eq!(text(found.spelling()), id);
        prop_assert_eq!(method, "tools/call");
        prop_assert_eq!(text(found_params.unwrap()), params);
    }

    #[test]
    fn a_changed_id_changes_nothing_else_and_can_be_changed_back(
        (old, params, unknown, whole) in request_parts(), new in token(),
    ) {
        let request = message(&whole);
        prop_assert_eq!(request.with_id(&id(&old)).unwrap(), &whole, "the same id makes the same bytes");
        let changed = message(text(&request.with_id(&id(&new)).unwrap()));
        prop_assert_eq!(changed.id().unwrap(), &id(&new));
        prop_assert_eq!(changed.params().unwrap(), raw(&params));
        prop_assert_eq!(changed.bytes().len() + old.len(), whole.len() + new.len());
        prop_assert!(text(changed.bytes()).contains(&unknown));
        prop_assert_eq!(changed.with_id(&id(&old)).unwrap(), whole);
    }

    #[test]
    fn a_replaced_field_can_be_put_back((_, _, _, whole) in request_parts(), new in json(), name in 0..4_usize) {
        let path = [
            kennel_wire::PROGRESS_TOKEN, kennel_wire::REPORTED_TOKEN, kennel_wire::CANCELLED_REQUEST, kennel_wire::RESOURCE_URI,
        ][name];
        let request = message(&whole);
        let old = match request.field(path) {
            Ok(Some(old)) => old,
            Ok(None) => {
                let missing = request.rewrite().replace(path, &raw(&new));
                prop_assert!(matches!(missing, Err(FieldError::Missing { .. })), "nothing to replace");
                return Ok(());
            }
            Err(error) => {
                prop_assert!(matches!(error, FieldError::Ambiguous { .. }), "{}", error);
                prop_assert_eq!(request.rewrite().set(path, &raw(&new)).unwrap_err(), error);
                return Ok(());
            }
        };
        prop_assert_eq!(request.rewrite().replace(path, &old).unwrap().finish(), &whole);
        let changed = message(text(&request.rewrite().replace(path, &raw(&new)).unwrap().finish()));
        prop_assert_eq!(changed.field(path).unwrap().unwrap(), raw(&new));
        prop_assert_eq!(changed.rewrite().set(path, &old).unwrap().finish(), whole);
    }

    #[test]
    fn a_set_field_is_what_serde_json_finds_there((_, _, _, whole) in request_parts(), new in string()) {
        let path = &["params", "new", "deep\"er"];
        let request = message(&whole);
        let changed = request.rewrite().set(path, &raw(&new)).unwrap().finish();
        prop_assert_eq!(message(text(&changed)).field(path).unwrap().unwrap(), raw(&new));
        let inserted = format!(r#""new":{{"deep\"er":{new}}}"#);
        let at = text(&changed).find(&inserted).unwrap();
        let mut without = text(&changed).to_owned();
        let comma = usize::from(without[at + inserted.len()..].starts_with(','));
        without.replace_range(at..at + inserted.len() + comma, "");
        prop_assert_eq!(&without, &whole, "nothing else changed");
        // Numbers and strings of which serde_json makes nothing cannot be compared.
        if let (Ok(mut before), Ok(after)) = (serde_json::from_str::<Value>(&whole), serde_json::from_slice::<Value>(&changed)) {
            before["params"]["new"] = serde_json::json!({ "deep\"er": serde_json::from_str::<Value>(&new).unwrap() });
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn a_line_means_what_the_message_meant((_, _, _, whole) in request_parts()) {
        let line = one_line(bytes(&whole));
        prop_assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
        let changes = whole.bytes().zip(&line).filter(|(before, after)| before != *after);
        prop_assert!(changes.into_iter().all(|(before, after)| matches!((before, after), (b'\n' | b'\r', b' '))));
        prop_assert_eq!(message(text(&line)).id().cloned(), message(&whole).id().cloned());
        prop_assert_eq!(
            serde_json::from_slice::<Value>(&line).ok(),
            serde_json::from_str::<Value>(&whole).ok()
        );
    }
}
