//! What the fuzz targets check about this crate's parsers: any bytes may be given, and a finding is a panic.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use crate::{Frame, Id, Message, RawJson, Rewrite};
use bytes::Bytes;
use serde::de::IgnoredAny;

fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Any bytes as a frame: what is accepted is JSON to `serde_json` too, and what is rewritten can be read again.
pub fn frame(bytes: &[u8]) {
    let judged = is_json(bytes);
    // Deeper than is accepted takes more bytes than that.
    if bytes.len() <= 127 {
        assert_eq!(RawJson::parse(bytes.to_vec()).is_ok(), judged, "judged otherwise than by serde_json");
    }
    let messages = match Frame::parse(Bytes::copy_from_slice(bytes)) {
        Ok(Frame::Single(message)) => vec![message],
        Ok(Frame::Batch(messages)) => messages.into_iter().flatten().collect(),
        Err(error) => return assert!(error.offset() <= bytes.len(), "{error}"),
    };
    assert!(judged, "accepted what is not JSON");
    let (number, text) = (Id::number(i64::MAX), Id::string("\"x\u{1f415}"));
    for message in messages {
        let _ = (message.kind(), message.reported_token(), message.cancelled_request(), message.resource_uri());
        let _ = (message.progress_token(), message.text_at(&["params", "name"]), message.field(&["result", "a", "b"]));
        let token = message.rewrite().progress_token(&number).map(Rewrite::finish);
        let set = message.rewrite().set(&["params", "new", "one"], &RawJson::string("\n")).map(Rewrite::finish_line);
        for rewritten in token.into_iter().chain(set).chain(message.with_id(&text)) {
            assert!(is_json(&rewritten), "rewrote into what is not JSON");
            assert!(
                Message::parse(rewritten.slice(..rewritten.trim_ascii_end().len())).is_ok(),
                "cannot be read again"
            );
        }
        if let Some(id) = message.id() {
            assert_eq!(message.with_id(id).as_ref().ok(), Some(message.bytes()), "the same id made other bytes");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_the_fuzzer_has_no_findings() {
        kennel_testkit::replay_corpus("frame", super::frame).unwrap();
    }
}
