use super::*;
use crate::opening::Opening;
use bytes::Bytes;
use serde_json::{Value, json};

const GREETING: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"big":1e400}}"#;

/// An opening, and a server that is played by the test.
struct Talk {
    opening: Opening,
    steps: Vec<Step>,
}

impl Talk {
    fn new(settings: Settings) -> Self {
        let params = RawJson::parse("{\"z\":1,\n\"a\":1.0}").unwrap();
        let mut opening = Opening::legacy(HandshakeParams::new(params), Arc::new(settings));
        let steps = opening.begin();
        Self { opening, steps }
    }

    /// A server that has been greeted and asked for its tools.
    fn greeted(settings: Settings) -> Self {
        let mut talk = Self::new(settings);
        talk.answer(&format!(r#""result":{GREETING}"#));
        talk
    }

    /// The last line that was sent.
    fn sent(&self) -> Value {
        let last = |step: &Step| if let Step::Send(line) = step { Some(line.clone()) } else { None };
        let line = self.steps.iter().rev().find_map(last).expect("a line was sent");
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "one line has one line end");
        serde_json::from_slice(&line).unwrap()
    }

    /// Answers the last request.
    fn answer(&mut self, answer: &str) -> &[Step] {
        let id = self.sent()["id"].clone();
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#);
        self.steps = self.opening.answer(&Message::parse(Bytes::from(message)).unwrap());
        &self.steps
    }

    fn failure(&self) -> (&Cause, Permanence) {
        match self.steps.last() {
            Some(Step::Fail(cause, permanence)) => (cause, *permanence),
            other => panic!("no failure but {other:?}"),
        }
    }
}

fn page(names: &[&str], cursor: &Value) -> String {
    let tools: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    format!(r#""result":{}"#, json!({ "tools": tools, "nextCursor": cursor }))
}

fn requiring(names: &[&str]) -> Settings {
    Settings { required_tools: names.iter().map(ToString::to_string).collect(), ..Settings::default() }
}

#[test]
fn parameters_are_sent_as_spelled_on_one_line() {
    let talk = Talk::new(Settings::default());
    let [Step::Send(line)] = &talk.steps[..] else { panic!("{:?}", talk.steps) };
    let text = String::from_utf8_lossy(line);
    assert!(text.ends_with("\"params\":{\"z\":1, \"a\":1.0}}\n"), "{text}");
    assert_eq!((&talk.sent()["method"], &talk.sent()["id"]), (&json!("initialize"), &json!("kennel:1")));
}

#[test]
fn a_good_server_is_opened_with_what_it_said_as_spelled() {
    let mut talk = Talk::greeted(requiring(&["b", "c"]));
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
    assert_eq!(handshake.version, "2025-06-18");
    assert_eq!(handshake.result.as_bytes(), GREETING.as_bytes());
    assert_eq!(handshake.tools.len(), 2);
    let first = page(&["a", "b"], &json!("next\"é"));
    assert_eq!(handshake.tools[0].as_bytes(), first.trim_start_matches(r#""result":"#).as_bytes());
}

#[test]
fn a_server_without_tools_is_not_asked_for_them() {
    let mut talk = Talk::new(Settings::default());
    talk.answer(r#""result":{"protocolVersion":"2024-11-05","capabilities":{}}"#);
    assert!(matches!(talk.steps.last(), Some(Step::Open(handshake)) if handshake.tools.is_empty()));
    let mut talk = Talk::new(requiring(&["a"]));
    talk.answer(r#""result":{"protocolVersion":"2024-11-05","capabilities":{}}"#);
    assert_eq!(talk.failure(), (&Cause::MissingTools(vec!["a".to_owned()]), Permanence::Permanent));
}

#[test]
fn what_cannot_be_an_mcp_server_of_this_era_is_refused_for_good() {
    let answers = [
        r#""error":{"code":-32601,"message":"no such method"}"#,
        r#""result":null"#,
        r#""result":"hello""#,
        r#""result":{}"#,
        r#""result":{"protocolVersion":3}"#,
        r#""result":{"protocolVersion":"2026-07-28","capabilities":{}}"#,
        r#""result":{"protocolVersion":"1999-01-01","capabilities":{}}"#,
    ];
    for answer in answers {
        let mut talk = Talk::new(Settings::default());
        talk.answer(answer);
        assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Permanent)), "{answer}");
    }
}

#[test]
fn only_the_tools_that_are_missing_are_named() {
    let mut talk = Talk::greeted(requiring(&["here", "gone"]));
    talk.answer(&page(&["here"], &Value::Null));
    assert_eq!(talk.failure(), (&Cause::MissingTools(vec!["gone".to_owned()]), Permanence::Permanent));
}

#[test]
fn a_list_that_cannot_be_read_is_refused_for_good_and_an_error_may_pass() {
    for answer in [r#""result":{}"#, r#""result":{"tools":[{}]}"#, r#""result":{"tools":[],"nextCursor":7}"#] {
        let mut talk = Talk::greeted(Settings::default());
        talk.answer(answer);
        assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Permanent)), "{answer}");
    }
    let mut talk = Talk::greeted(Settings::default());
    talk.answer(r#""error":{"code":-32000,"message":"upstream is away"}"#);
    assert!(matches!(talk.failure(), (Cause::Protocol(_), Permanence::Transient)));
}

#[test]
fn a_list_without_end_is_refused() {
    let mut same = Talk::greeted(Settings::default());
    same.answer(&page(&[], &json!("again")));
    same.answer(&page(&[], &json!("again")));
    let mut long = Talk::greeted(Settings { tool_pages: 2, ..Settings::default() });
    long.answer(&page(&[], &json!("1")));
    long.answer(&page(&[], &json!("2")));
    let mut large = Talk::greeted(Settings { tool_bytes: 10, ..Settings::default() });
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
    let mut talk = Talk::greeted(Settings::default());
    talk.answer(&page(&["a"], &json!("")));
    assert!(matches!(talk.steps[..], [Step::Open(_)]));
}

#[test]
fn answers_to_nothing_that_was_asked_change_nothing() {
    let mut talk = Talk::new(Settings::default());
    let probe = talk.opening.probe();
    assert!(probe.starts_with(br#"{"jsonrpc":"2.0","id":"kennel:2","method":"ping""#));
    for id in ["kennel:2", "kennel:99"] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#);
        assert_eq!(talk.opening.answer(&Message::parse(Bytes::from(answer)).unwrap()), []);
    }
}
