use super::*;
use crate::talk::{Talk, page, requiring};
use serde_json::{Value, json};

const DISCOVERED: &str = r#"{"supportedVersions":["2027-01-01","2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":1e400,"resultType":"complete"}"#;

fn meet(settings: Settings) -> Talk {
    Talk::new(Era::Modern, settings)
}

/// A server that was discovered and asked for its tools.
fn met(settings: Settings) -> Talk {
    let mut talk = meet(settings);
    talk.answer(&format!(r#""result":{DISCOVERED}"#));
    talk
}

#[test]
fn the_introduction_goes_as_spelled_with_every_request() {
    let mut talk = meet(Settings::default());
    assert_eq!((&talk.sent()["method"], &talk.sent()["id"]), (&json!("server/discover"), &json!("kennel:1")));
    let first = String::from_utf8(talk.line().to_vec()).unwrap();
    assert!(first.ends_with("\"params\":{\"_meta\":{\"y\":1, \"b\":1.0}}}\n"), "{first}");
    talk.answer(&format!(r#""result":{DISCOVERED}"#));
    assert_eq!(talk.sent()["method"], "tools/list");
    let second = String::from_utf8(talk.line().to_vec()).unwrap();
    assert!(second.ends_with("\"params\":{\"_meta\":{\"y\":1, \"b\":1.0}}}\n"), "{second}");
    talk.answer(&page(&["a"], &json!("next\"é")));
    let third = String::from_utf8(talk.line().to_vec()).unwrap();
    assert!(third.ends_with("\"params\":{\"_meta\":{\"y\":1, \"b\":1.0},\"cursor\":\"next\\\"é\"}}\n"), "{third}");
    let probe = String::from_utf8(talk.opening.probe().to_vec()).unwrap();
    assert!(
        probe.starts_with(r#"{"jsonrpc":"2.0","id":"kennel:4","method":"server/discover","params":{"_meta":{"y":1,"#)
    );
    assert!(probe.ends_with("}\n"));
}

#[test]
fn a_good_server_is_opened_with_what_it_said_as_spelled() {
    let mut talk = met(requiring(&["b", "c"]));
    assert!(matches!(talk.steps[..], [Step::Enter(Phase::Preflight), Step::Send(_)]), "{:?}", talk.steps);
    talk.answer(&page(&["a", "b"], &json!("1")));
    talk.answer(&page(&["c"], &Value::Null));
    let [Step::Open(handshake)] = &talk.steps[..] else { panic!("{:?}", talk.steps) };
    assert_eq!((handshake.era, &*handshake.version), (Era::Modern, "2026-07-28"));
    assert_eq!(handshake.result.as_bytes(), DISCOVERED.as_bytes());
    assert_eq!(handshake.tools.len(), 2);
}

#[test]
fn a_server_without_tools_is_not_asked_for_them() {
    let discovered = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    let mut talk = meet(Settings::default());
    talk.answer(discovered);
    assert!(matches!(talk.steps.last(), Some(Step::Open(handshake)) if handshake.tools.is_empty()));
    let mut talk = meet(requiring(&["a"]));
    talk.answer(discovered);
    assert_eq!(talk.failure(), (&Cause::MissingTools(vec!["a".to_owned()]), Permanence::Permanent));
}

#[test]
fn what_no_modern_server_says_comes_from_another_era() {
    let answers = [
        r#""error":{"code":-32601,"message":"no such method"}"#,
        r#""error":{"code":-32602,"message":"not yet"}"#,
        r#""error":{"code":"-32022","message":"a text is no code"}"#,
        r#""error":{"message":"no code"}"#,
        r#""error":{"code":0}"#,
        r#""error":{"code":-32022,"message":"old","data":{"supported":["2025-06-18","2099-01-01"]}}"#,
        r#""result":{"supportedVersions":["2024-11-05"],"capabilities":{}}"#,
        r#""result":{}"#,
        r#""result":null"#,
        r#""result":{"supportedVersions":"2026-07-28"}"#,
        r#""result":{"supportedVersions":[20260728]}"#,
    ];
    for answer in answers {
        let mut talk = meet(Settings::default());
        talk.answer(answer);
        let refusal = talk.refusal();
        assert!(refusal.contains("`server/discover`") || refusal.contains("not 2026-07-28"), "{answer}: {refusal}");
    }
}

#[test]
fn an_answer_that_is_no_message_comes_from_another_era_too_unless_the_server_has_been_met() {
    let id = Id::string("kennel:1");
    let mut talk = meet(Settings::default());
    talk.steps = talk.opening.refused(&id, "it is odd");
    assert!(talk.refusal().contains("it is odd"));
    let mut talk = met(Settings::default());
    talk.steps = talk.opening.refused(&Id::string("kennel:2"), "it is odd");
    assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Permanent)));
}

#[test]
fn a_modern_server_that_cannot_be_talked_to_is_refused_for_good() {
    let answers = [
        r#""error":{"code":-32020,"message":"no"}"#,
        r#""error":{"code":-32021,"message":"no","data":{"supported":["2025-11-25"]}}"#,
        r#""error":{"code":-32022,"message":"no"}"#,
        r#""error":{"code":-32022,"message":"no","data":{"supported":["2099-01-01"]}}"#,
        r#""error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28","2025-11-25"]}}"#,
        r#""result":{"supportedVersions":["2099-01-01"]}"#,
        r#""result":{"supportedVersions":[]}"#,
    ];
    for answer in answers {
        let mut talk = meet(Settings::default());
        talk.answer(answer);
        assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Permanent)), "{answer}");
    }
}

#[test]
fn lists_have_the_same_bounds_as_in_the_legacy_era() {
    let mut same = met(Settings::default());
    same.answer(&page(&[], &json!("again")));
    same.answer(&page(&[], &json!("again")));
    let mut long = met(Settings { tool_pages: 1, ..Settings::default() });
    long.answer(&page(&[], &json!("1")));
    let mut large = met(Settings { tool_bytes: 10, ..Settings::default() });
    large.answer(&page(&["some"], &json!("1")));
    for (talk, reason) in
        [(same, "same `nextCursor` twice"), (long, "more than 1 pages"), (large, "more than 10 bytes")]
    {
        let (cause, permanence) = talk.failure();
        assert!(cause.to_string().contains(reason), "{cause}");
        assert_eq!(permanence, Permanence::Permanent);
    }
    let mut away = met(Settings::default());
    away.answer(r#""error":{"code":-32601,"message":"upstream is away"}"#);
    assert!(matches!(away.failure(), (Cause::Protocol(_), Permanence::Transient)), "it has been met");
}

#[test]
fn answers_to_probes_change_nothing() {
    let mut talk = met(Settings::default());
    talk.opening.probe();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":"kennel:3","result":{DISCOVERED}}}"#);
    assert_eq!(talk.opening.answer(&Message::parse(Bytes::from(answer)).unwrap()), []);
}
