//! What the fuzz target `cell_messages` checks.
#![allow(clippy::missing_panics_doc, clippy::panic, reason = "a finding is a panic")]

use super::message::{FromBox, cell, read, reply};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Any bytes as a message of a cell: what counts says what `serde_json` finds in it, and what is sent back is JSON.
pub fn cell_messages(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let begin: Value = serde_json::from_slice(&cell("c1", &text, None)).unwrap_or_default();
    assert_eq!(begin["code"].as_str(), Some(&*text), "other code than was given");
    let Some(message) = read(data, "c1") else { return };
    let Ok(value) = serde_json::from_slice::<Value>(data) else {
        // What is passed over is not looked into: it may be no text, too deep, or a number beyond all measure.
        return assert!(serde_json::from_slice::<IgnoredAny>(data).is_ok(), "accepted what is not JSON");
    };
    match message {
        FromBox::Ask { number, ask } => {
            assert_eq!((value["t"].as_str(), value["n"].as_u64()), (Some("ask"), Some(number)));
            if let Err(error) = ask {
                let answer: Value = serde_json::from_slice(&reply(number, &Err(error))).unwrap_or_default();
                assert_eq!(answer["n"].as_u64(), Some(number), "an answer that cannot be read");
            }
        }
        FromBox::Cancel { number } => {
            assert_eq!((value["t"].as_str(), value["n"].as_u64()), (Some("cancel"), Some(number)));
        }
        FromBox::End(end) => assert_eq!((value["t"].as_str(), &*end.cell), (Some("end"), "c1")),
    }
}
