//! Several messages in one frame.

use crate::support::{bytes, id};
use kennel_wire::{Frame, Kind, Message, ParseError, ParseLimits, Problem, ValueKind};

fn batch(text: &str) -> Vec<Result<Message, ParseError>> {
    match Frame::parse(bytes(text)) {
        Ok(Frame::Batch(messages)) => messages,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_single_message_is_no_batch() {
    assert!(matches!(Frame::parse(bytes(r#" {"jsonrpc":"2.0","method":"a"}"#)), Ok(Frame::Single(_))));
}

#[test]
fn each_message_has_its_own_bytes_and_can_be_rewritten() {
    let first = r#"{"jsonrpc":"2.0","id":1, "method":"a","params":{"_meta":{"progressToken":1}}}"#;
    let second = r#"{"jsonrpc":"2.0","method":"b"}"#;
    let third = r#"{"jsonrpc":"2.0","id":"x","result":{"a":[]}}"#;
    let messages: Vec<_> =
        batch(&format!(" [ {first} ,{second},\n{third} ] ")).into_iter().map(Result::unwrap).collect();
    assert_eq!(messages.iter().map(Message::bytes).collect::<Vec<_>>(), [first, second, third]);
    assert_eq!(messages[0].id(), Some(&id("1")));
    assert_eq!(messages[1].kind(), Kind::Notification { method: "b".into(), params: None });
    assert_eq!(messages[2].kind(), Kind::Response { id: &id("\"x\""), result: br#"{"a":[]}"# });
    let rewritten = messages[0].rewrite().id(&id("77")).unwrap().progress_token(&id("\"t\"")).unwrap().finish();
    assert_eq!(rewritten, r#"{"jsonrpc":"2.0","id":77, "method":"a","params":{"_meta":{"progressToken":"t"}}}"#);
    assert_eq!(messages[2].with_id(&id("2")).unwrap(), r#"{"jsonrpc":"2.0","id":2,"result":{"a":[]}}"#);
}

#[test]
fn one_bad_message_does_not_spoil_the_others() {
    let messages = batch(r#"[1,{"jsonrpc":"2.0","method":"a"},[],{"jsonrpc":"2.0","id":3}]"#);
    let problems: Vec<_> =
        messages.iter().map(|message| message.as_ref().map(drop).map_err(ParseError::problem)).collect();
    assert_eq!(
        problems,
        [
            Err(&Problem::NotObject(ValueKind::Number)),
            Ok(()),
            Err(&Problem::NotObject(ValueKind::Array)),
            Err(&Problem::NeitherMethodNorAnswer),
        ]
    );
    let last = messages[3].as_ref().unwrap_err();
    assert_eq!((last.offset(), last.id()), (37, Some(&id("3"))));
}

#[test]
fn an_empty_batch_is_refused() {
    for text in ["[]", " [ ] "] {
        assert_eq!(*Frame::parse(bytes(text)).unwrap_err().problem(), Problem::EmptyBatch);
    }
}

#[test]
fn a_broken_batch_is_refused_as_a_whole() {
    for text in [r#"[{"jsonrpc":"2.0","method":"a"},]"#, "[{}", "[{}}", "[{}]]", "[{} {}]", "[1,"] {
        assert!(matches!(Frame::parse(bytes(text)).unwrap_err().problem(), Problem::NotJson(_)), "{text}");
    }
}

#[test]
fn a_batch_has_a_limit() {
    let limits = ParseLimits { batch: 3, ..ParseLimits::default() };
    assert!(Frame::parse_within(bytes("[1,2,3]"), limits).is_ok());
    let error = Frame::parse_within(bytes("[1,2,3,4]"), limits).unwrap_err();
    assert_eq!((*error.problem(), error.offset()), (Problem::BatchTooLong { limit: 3 }, 7));
}

#[test]
fn where_one_message_is_wanted_a_batch_is_refused() {
    let error = Message::parse(bytes(r#"[{"jsonrpc":"2.0","method":"a"}]"#)).unwrap_err();
    assert_eq!(*error.problem(), Problem::NotObject(ValueKind::Array));
}
