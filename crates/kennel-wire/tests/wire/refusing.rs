//! What is refused, and what the error says.

use crate::support::{id, refused};
use kennel_wire::{ErrorCode, ErrorId, Member, Problem, Syntax, ValueKind};

#[test]
fn what_is_no_message_is_refused_with_its_reason_and_place() {
    let table: &[(&str, Problem, usize)] = &[
        (" 5", Problem::NotObject(ValueKind::Number), 1),
        ("\"x\"", Problem::NotObject(ValueKind::String), 0),
        ("null", Problem::NotObject(ValueKind::Null), 0),
        (" {}", Problem::MissingVersion, 1),
        (r#"{"id":1,"method":"a"}"#, Problem::MissingVersion, 0),
        (r#"{"jsonrpc":"1.0","method":"a"}"#, Problem::WrongVersion, 11),
        (r#"{"jsonrpc":2.0,"method":"a"}"#, Problem::WrongVersion, 11),
        (r#"{"jsonrpc":null,"method":"a"}"#, Problem::WrongVersion, 11),
        (r#"{"jsonrpc":"2.0"}"#, Problem::NeitherMethodNorAnswer, 0),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, Problem::NeitherMethodNorAnswer, 0),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, Problem::NullId, 22),
        (r#"{"jsonrpc":"2.0","id":true,"method":"a"}"#, Problem::IdType(ValueKind::Bool), 22),
        (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, Problem::IdType(ValueKind::Object), 22),
        (r#"{"jsonrpc":"2.0","id":[1],"result":1}"#, Problem::IdType(ValueKind::Array), 22),
        (r#"{"jsonrpc":"2.0","id":false,"error":{}}"#, Problem::IdType(ValueKind::Bool), 22),
        (r#"{"jsonrpc":"2.0","id":null,"result":1}"#, Problem::NullId, 22),
        (r#"{"jsonrpc":"2.0","result":1}"#, Problem::MissingId, 0),
        (r#"{"jsonrpc":"2.0","method":1}"#, Problem::MethodType(ValueKind::Number), 26),
        (r#"{"jsonrpc":"2.0","method":null}"#, Problem::MethodType(ValueKind::Null), 26),
        (r#"{"jsonrpc":"2.0","method":"\ud800"}"#, Problem::MethodText, 26),
        (r#"{"jsonrpc":"2.0","method":"a","params":"x"}"#, Problem::ParamsType(ValueKind::String), 39),
        (r#"{"jsonrpc":"2.0","method":"a","params":false}"#, Problem::ParamsType(ValueKind::Bool), 39),
        (r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#, Problem::ErrorType(ValueKind::String), 32),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, Problem::ErrorType(ValueKind::Null), 32),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, Problem::BothResultAndError, 43),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, Problem::BothResultAndError, 44),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#, Problem::MethodAndAnswer, 46),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","error":{}}"#, Problem::MethodAndAnswer, 45),
    ];
    for (text, problem, offset) in table {
        let error = refused(text);
        assert_eq!((error.problem(), error.offset()), (problem, *offset), "{text}");
        assert_eq!(error.code(), ErrorCode::INVALID_REQUEST, "{text}");
    }
}

#[test]
fn a_member_of_the_envelope_given_twice_is_refused() {
    let whole = r#""jsonrpc":"2.0","id":1,"method":"a","params":{}"#;
    for (member, repeated) in [
        (Member::Version, r#""jsonrpc":"2.0""#),
        (Member::Id, r#""id":1"#),
        (Member::Id, r#""\u0069d":2"#),
        (Member::Method, r#""method":"a""#),
        (Member::Params, r#""params":{}"#),
    ] {
        let error = refused(&format!("{{{whole},{repeated}}}"));
        assert_eq!((*error.problem(), error.offset()), (Problem::Duplicate(member), whole.len() + 2), "{repeated}");
    }
    for (member, repeated) in [(Member::Result, r#""result":1"#), (Member::Error, r#""error":{}"#)] {
        let error = refused(&format!(r#"{{"jsonrpc":"2.0","id":1,{repeated},{repeated}}}"#));
        assert_eq!(*error.problem(), Problem::Duplicate(member), "{repeated}");
    }
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    for text in ["", "Server listening on 3000", "{", r#"{"jsonrpc":"2.0","method":"a"} x"#, "{\"a\":\"\n\"}"] {
        let error = refused(text);
        assert_eq!(error.code(), ErrorCode::PARSE_ERROR, "{text}");
        assert_eq!((error.id(), error.reply_id()), (None, ErrorId::Null), "{text}");
    }
    assert_eq!(*refused("\u{feff}{}").problem(), Problem::NotJson(Syntax::ByteOrderMark));
    assert_eq!(refused("[1,2").to_string(), "not JSON: it ends where `,` or `]` should follow (at byte 4)");
    assert_eq!(refused("hello").to_string(), "not JSON: byte 0x68 where a value should be (at byte 0)");
}

#[test]
fn broken_json_is_reported_before_a_broken_envelope() {
    assert!(matches!(refused(r#"{"jsonrpc":"1.0","id":{},]"#).problem(), Problem::NotJson(_)));
}

#[test]
fn the_error_for_a_refused_request_carries_its_id() {
    for text in [
        r#"{"jsonrpc":"1.0","id":"x","method":"a"}"#,
        r#"{"id":"x","method":"a"}"#,
        r#"{"jsonrpc":"2.0","method":7,"id":"x"}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"a","params":7}"#,
        r#"{"jsonrpc":"2.0","id":"x"}"#,
        r#"{"jsonrpc":"2.0","id":"x","method":"a","method":"b"}"#,
    ] {
        assert_eq!(refused(text).reply_id(), ErrorId::Known(id("\"x\"")), "{text}");
    }
}

#[test]
fn the_error_for_a_refused_answer_is_not_taken_for_another_answer() {
    for text in [
        r#"{"jsonrpc":"2.0","id":"x","result":1,"error":{}}"#,
        r#"{"id":"x","result":1}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":7}"#,
    ] {
        assert_eq!(refused(text).reply_id(), ErrorId::Null, "{text}");
        assert_eq!(refused(text).id(), Some(&id("\"x\"")), "{text}");
    }
}

#[test]
fn of_two_ids_none_is_taken() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","method":"a","method":"a","id":1,"id":2}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"a"}"#,
    ] {
        assert_eq!(refused(text).id(), None, "{text}");
        assert_eq!(refused(text).reply_id(), ErrorId::Null, "{text}");
    }
}
