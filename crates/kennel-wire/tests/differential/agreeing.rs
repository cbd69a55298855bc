//! All readers agree with Kennel on what it passes on.

use crate::messages;
use crate::readers::{Readings, Seen, read};
use bytes::Bytes;
use kennel_wire::{Id, Kind, Message};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The id that what is passed on gets.
const MINTED: i64 = 4_711;
const MESSAGES: usize = 20_000;

/// What Kennel passes on of bytes, as a line, and what it takes that for; `None` where it refuses.
fn passed_on(bytes: &[u8]) -> Option<(Vec<u8>, Seen)> {
    let message = Message::parse(Bytes::copy_from_slice(bytes)).ok()?;
    message.subject().ok()?;
    let text = |path: &[&str]| message.text_at(path).ok().flatten().map(std::borrow::Cow::into_owned);
    let rewrite = message.rewrite();
    let (line, id) = match message.kind() {
        Kind::Notification { .. } => (rewrite.finish_line(), None),
        Kind::Error { .. } if message.id().is_none() => (rewrite.finish_line(), None),
        _ => (rewrite.id(&Id::number(MINTED)).ok()?.finish_line(), Some(MINTED.to_string())),
    };
    let seen = Seen {
        method: message.method().map(std::borrow::Cow::into_owned),
        id,
        name: text(&["params", "name"]),
        uri: text(&["params", "uri"]),
        task: text(&["params", "taskId"]),
        result: matches!(message.kind(), Kind::Response { .. }),
        error: matches!(message.kind(), Kind::Error { .. }),
    };
    Some((line.trim_ascii_end().to_vec(), seen))
}

/// The name in the parameters that decides for this method, if one does.
fn deciding(seen: &Seen) -> Option<&str> {
    let named = match seen.method.as_deref()? {
        "tools/call" | "prompts/get" => &seen.name,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => &seen.uri,
        "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => &seen.task,
        _ => return None,
    };
    named.as_deref()
}

fn agrees(kennel: &Seen, reader: &Seen) -> bool {
    let envelope = |seen: &Seen| (seen.method.clone(), seen.id.clone(), seen.result, seen.error);
    envelope(kennel) == envelope(reader) && deciding(kennel) == deciding(reader)
}

fn generated() -> &'static [Vec<u8>] {
    static GENERATED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    GENERATED.get_or_init(|| {
        let mut runner = TestRunner::deterministic();
        let strategy = messages::bytes();
        let mut messages: Vec<Vec<u8>> =
            (0..MESSAGES).map(|_| strategy.new_tree(&mut runner).expect("a message").current()).collect();
        messages.extend(include_str!("corpus.jsonl").lines().map(|line| line.as_bytes().to_vec()));
        messages
    })
}

#[test]
fn readers_take_what_is_passed_on_for_what_kennel_took_it_for() {
    let all = generated();
    let (lines, kennel): (Vec<_>, Vec<_>) = all.iter().filter_map(|bytes| passed_on(bytes)).unzip();
    assert!(lines.len() > MESSAGES / 10, "only {} of {} are passed on", lines.len(), all.len());
    for (reader, readings) in read(&lines) {
        let mut read = 0;
        for ((line, kennel), reading) in lines.iter().zip(&kennel).zip(readings) {
            let Some(reading) = reading else { continue };
            read += 1;
            assert!(
                agrees(kennel, &reading),
                "{reader} takes {}\nfor {reading:?},\nwhere Kennel took it for {kennel:?}",
                String::from_utf8_lossy(line)
            );
        }
        assert!(read > lines.len() / 10, "{reader} reads only {read} of {}", lines.len());
    }
}

#[test]
fn readers_do_disagree_on_what_is_refused() {
    // Control: without the refusals the test above would find something.
    let all = generated();
    let refused = all.iter().filter(|bytes| passed_on(bytes).is_none() && !bytes.contains(&b'\n'));
    let refused: Vec<_> = refused.cloned().collect();
    let readings: Readings = read(&refused);
    let mut disagreeing = HashSet::new();
    for index in 0..refused.len() {
        let taken = readings.iter().filter_map(|(reader, readings)| Some((reader, readings[index].as_ref()?)));
        let taken: Vec<_> = taken.collect();
        let [(_, first), rest @ ..] = taken.as_slice() else { continue };
        disagreeing.extend(rest.iter().filter(|(_, seen)| !agrees(first, seen)).map(|(reader, _)| **reader));
    }
    for reader in ["Go into a struct", "the most lenient"] {
        assert!(disagreeing.contains(reader), "{reader} never differs: {disagreeing:?}");
    }
}
