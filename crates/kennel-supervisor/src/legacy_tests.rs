use super::*;
use crate::failure::Permanence;
use crate::talk::{Talk, page, requiring};
use bytes::Bytes;
use serde_json::{Value, json};

const GREETING: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"big":1e400}}"#;

fn meet(settings: Settings) -> Talk {
    Talk::new(Era::Legacy, settings)
}

/// A server that has been greeted and asked for its tools.
fn greeted(settings: Settings) -> Talk {
    let mut talk = meet(settings);
    talk.answer(&format!(r#""result":{GREETING}"#));
    talk
}

#[test]
fn parameters_are_sent_as_spelled_on_one_line() {
    let talk = meet(Settings::default());
    let [Step::Send(line)] = &talk.steps[..] else { panic!("{:?}", talk.steps) };
    let text = String::from_utf8_lossy(line);
    assert!(text.ends_with("\"params\":{\"z\":1, \"a\":1.0}}\n"), "{text}");
    assert_eq!((&talk.sent()["method"], &talk.sent()["id"]), (&json!("initialize"), &json!("kennel:1")));
}

#[test]
fn a_good_server_is_opened_with_what_it_said_as_spelled() {
    let mut talk = greeted(requiring(&["b", "c"]));
    let initialized = talk.steps.first();
    assert!(
        matches!(initialized, Some(Step::Send(line)) if line.starts_with(br#"{"jsonrpc":"2.0","method":"notifications/initialized""#))
    );
    assert_eq!(talk.steps[1], Step::Enter(Phase::Preflight));
    assert_eq!(talk.sent()["params"], json!({}));
    talk.answer(&page(&["a", "b"], &json!("next\"é")));
    assert_eq!(talk.sent()["params"], json!({ "cursor": "next\"é" }));
    talk.answer(&page(&["c"], &Value::Null));
    let [Step::Open(handshake)] = &talk.steps[..] else { panic!("{:?}", talk.steps) };
    assert_eq!((handshake.era, &*handshake.version), (Era::Legacy, "2025-06-18"));
    assert_eq!(handshake.result.as_bytes(), GREETING.as_bytes());
    assert_eq!(handshake.tools.len(), 2);
    let first = page(&["a", "b"], &json!("next\"é"));
    assert_eq!(handshake.tools[0].as_bytes(), first.trim_start_matches(r#""result":"#).as_bytes());
}

#[test]
fn a_server_without_tools_is_not_asked_for_them() {
    let mut talk = meet(Settings::default());
    talk.answer(r#""result":{"protocolVersion":"2024-11-05","capabilities":{}}"#);
    assert!(matches!(talk.steps.last(), Some(Step::Open(handshake)) if handshake.tools.is_empty()));
    let mut talk = meet(requiring(&["a"]));
    talk.answer(r#""result":{"protocolVersion":"2024-11-05","capabilities":{}}"#);
    assert_eq!(talk.failure(), (&Cause::MissingTools(vec!["a".to_owned()]), Permanence::Permanent));
}

#[test]
fn what_cannot_be_an_mcp_server_of_this_era_is_refused_for_good() {
    let answers = [
        r#""result":null"#,
        r#""result":"hello""#,
        r#""result":{}"#,
        r#""result":{"protocolVersion":3}"#,
        r#""result":{"protocolVersion":"2026-07-28","capabilities":{}}"#,
        r#""result":{"protocolVersion":"1999-01-01","capabilities":{}}"#,
    ];
    for answer in answers {
        let mut talk = meet(Settings::default());
        talk.answer(answer);
        assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Permanent)), "{answer}");
    }
}

#[test]
fn an_error_means_that_another_era_is_spoken() {
    for code in [-32601, -32022, 7] {
        let mut talk = meet(Settings::default());
        talk.answer(&format!(r#""error":{{"code":{code},"message":"unknown"}}"#));
        let refusal = talk.refusal();
        assert!(refusal.contains("`initialize`") && refusal.contains("unknown"), "{refusal}");
    }
}

#[test]
fn only_the_tools_that_are_missing_are_named() {
    let mut talk = greeted(requiring(&["here", "gone"]));
    talk.answer(&page(&["here"], &Value::Null));
    assert_eq!(talk.failure(), (&Cause::MissingTools(vec!["gone".to_owned()]), Permanence::Permanent));
}

#[test]
fn a_list_that_cannot_be_read_is_refused_for_good_and_an_error_may_pass() {
    for answer in [r#""result":{}"#, r#""result":{"tools":[{}]}"#, r#""result":{"tools":[],"nextCursor":7}"#] {
        let mut talk = greeted(Settings::default());
        talk.answer(answer);
        assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Permanent)), "{answer}");
    }
    let mut talk = greeted(Settings::default());
    talk.answer(r#""error":{"code":-32000,"message":"upstream is away"}"#);
    assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Transient)));
}

#[test]
fn a_list_without_end_is_refused() {
    let mut same = greeted(Settings::default());
    same.answer(&page(&[], &json!("again")));
    same.answer(&page(&[], &json!("again")));
    let mut long = greeted(Settings { tool_pages: 2, ..Settings::default() });
    long.answer(&page(&[], &json!("1")));
    long.answer(&page(&[], &json!("2")));
    let mut large = greeted(Settings { tool_bytes: 10, ..Settings::default() });
    large.answer(&page(&["some"], &json!("1")));
    for (talk, reason) in
        [(same, "same `nextCursor` twice"), (long, "more than 2 pages"), (large, "more than 10 bytes")]
    {
        let (cause, permanence) = talk.failure();
        assert!(cause.to_string().contains(reason), "{cause}");
        assert_eq!(permanence, Permanence::Permanent);
    }
}

#[test]
fn an_empty_cursor_is_the_end() {
    let mut talk = greeted(Settings::default());
    talk.answer(&page(&["a"], &json!("")));
    assert!(matches!(talk.steps[..], [Step::Open(_)]));
}

#[test]
fn answers_to_nothing_that_was_asked_change_nothing() {
    let mut talk = meet(Settings::default());
    let probe = talk.opening.probe();
    assert!(probe.starts_with(br#"{"jsonrpc":"2.0","id":"kennel:2","method":"ping""#));
    for id in ["kennel:2", "kennel:99"] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#);
        assert_eq!(talk.opening.answer(&Message::parse(Bytes::from(answer)).unwrap()), []);
    }
}
