//! What the fuzz target `admin` checks, which includes this file.

use super::message::{Reply, Request};
use serde_json::Value;

/// Any line: what is understood of a line is understood again when it is written.
pub(crate) fn admin(line: &[u8]) {
    match Request::read(line) {
        Ok(request) => {
            let written = serde_json::to_vec(&request).unwrap_or_default();
            assert!(!written.contains(&b'\n'), "a request of several lines");
            assert_eq!(Request::read(&written).as_ref(), Ok(&request), "it means something else when it is written");
        }
        Err(text) => assert!(text.len() <= line.len() * 6 + 512, "the error is longer than the request"),
    }
    if let Ok(reply) = Reply::read(line) {
        let written = serde_json::to_vec(&reply).unwrap_or_default();
        assert!(!written.contains(&b'\n'), "a reply of several lines");
        let again = Reply::read(&written).ok();
        let is_same = again.as_ref() == Some(&reply);
        assert!(is_same || has_fractions(&reply), "it means something else when it is written");
    }
}

/// Whether there are numbers in it that may be read a little otherwise.
fn has_fractions(reply: &Reply) -> bool {
    fn inside(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.is_f64(),
            Value::Array(items) => items.iter().any(inside),
            Value::Object(members) => members.values().any(inside),
            Value::Null | Value::Bool(_) | Value::String(_) => false,
        }
    }
    match reply {
        Reply::Item(value) | Reply::Done(value) => inside(value),
        Reply::Failed(_) => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_the_fuzzer_has_no_findings() {
        kennel_testkit::replay_corpus("admin", super::admin).unwrap();
    }
}
