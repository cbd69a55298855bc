//! What is refused, and what the error says.

use crate::support::{id, refused};
use kennel_wire::{ErrorCode, ErrorId, Member, Problem, Syntax, ValueKind, Within};

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

/// A request with one more member in one of its objects.
fn with_member(within: Within, member: &str) -> String {
    let (envelope, params, meta) = match within {
        Within::Envelope => (format!(",{member}"), String::new(), String::new()),
        Within::Params => (String::new(), format!(",{member}"), String::new()),
        Within::Meta => (String::new(), String::new(), format!(",{member}")),
        Within::Result => {
            return format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"_meta":{{"progressToken":1}},"nextCursor":"x",{member}}}}}"#
            );
        }
    };
    let params = format!(r#"{{"name":"echo","uri":"u","taskId":"t","_meta":{{"progressToken":1{meta}}}{params}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}{envelope}}}"#)
}

#[test]
fn what_a_lenient_reader_takes_for_a_name_that_decides_is_refused() {
    for (within, name, spellings) in [
        (Within::Envelope, "jsonrpc", &["JSONRPC", "json-rpc", "json_rpc"][..]),
        (Within::Envelope, "id", &["ID", "Id", "ıd", "id\\u0000", " id", "\\ud800id"]),
        (Within::Envelope, "method", &["Method", "METHOD", "method\\u0000", "meth\\u200bod"]),
        (Within::Envelope, "params", &["Params", "paramſ", "param\\u017f", "para_ms"]),
        (Within::Envelope, "result", &["Result", "reſult"]),
        (Within::Envelope, "error", &["Error"]),
        (Within::Params, "name", &["Name", "NAME", "n\\u0041me", "name\\u0000", "na_me", "name "]),
        (Within::Params, "uri", &["URI", "Uri", "urı"]),
        (Within::Params, "arguments", &["Arguments", "argumentſ"]),
        (Within::Params, "taskId", &["taskid", "taſ\u{212a}Id", "task_id"]),
        (Within::Params, "_meta", &["_Meta", "_meta\\u0000"]),
        (Within::Params, "level", &["Level"]),
        (Within::Params, "ref", &["Ref"]),
        (Within::Params, "requestState", &["RequestState", "request_state", "requeﬆState"]),
        (Within::Meta, "progressToken", &["progresstoken", "progreßToken"]),
        (
            Within::Meta,
            "io.modelcontextprotocol/clientCapabilities",
            &["io.modelcontextprotocol/clientcapabilities", "IO.modelcontextprotocol/clientCapabilities"],
        ),
        (Within::Result, "content", &["Content"]),
        (Within::Result, "_meta", &["_META"]),
        (Within::Result, "nextCursor", &["NextCursor"]),
    ] {
        for spelling in spellings {
            let text = with_member(within, &format!("\"{spelling}\":\"x\""));
            let error = refused(&text);
            assert_eq!(*error.problem(), Problem::Lookalike { name, within }, "{text}");
            assert_eq!(error.code(), ErrorCode::INVALID_REQUEST, "{text}");
            let reply = if name == "id" || within == Within::Result || matches!(name, "result" | "error") {
                // Not the id of a request of the peer's, or one that cannot be told.
                error.reply_id()
            } else {
                assert_eq!(error.reply_id(), ErrorId::Known(id("1")), "{text}");
                ErrorId::Null
            };
            assert!(name != "id" || reply == ErrorId::Null, "{text}");
        }
    }
}

#[test]
fn a_name_that_decides_is_given_once() {
    for (within, name, repeated) in [
        (Within::Params, "name", r#""name":"danger""#),
        (Within::Params, "name", r#""n\u0061me":"danger""#),
        (Within::Params, "uri", r#""uri":"u""#),
        (Within::Params, "_meta", r#""_meta":{}"#),
        (Within::Meta, "progressToken", r#""progressToken":2"#),
        (Within::Meta, "progressToken", r#""progress\u0054oken":2"#),
        (Within::Result, "content", r#""content":1"#),
    ] {
        let text = with_member(within, repeated);
        assert_eq!(*refused(&text).problem(), Problem::DuplicateName { name, within }, "{text}");
    }
}

#[test]
fn a_result_is_looked_at_also_behind_parameters() {
    let error = refused(r#"{"jsonrpc":"2.0","id":1,"params":{"a":1},"result":{"content":[],"Content":[]}}"#);
    assert_eq!(*error.problem(), Problem::Lookalike { name: "content", within: Within::Result });
}

#[test]
fn other_spellings_of_the_protocols_methods_are_refused() {
    for (method, name) in [
        ("Tools/Call", "tools/call"),
        ("tools/call ", "tools/call"),
        ("tools/call\\u0000", "tools/call"),
        ("toolſ/call", "tools/call"),
        ("tools//call", "tools/call"),
        ("/tools/call", "tools/call"),
        ("Notifications/Cancelled", "notifications/cancelled"),
        ("Sampling/createMessage", "sampling/createMessage"),
    ] {
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"danger"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"name":"danger"}}}}"#),
        ] {
            assert_eq!(*refused(&text).problem(), Problem::MethodLookalike { name }, "{text}");
        }
    }
    let unprintable = refused(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000x"}"#);
    assert_eq!(*unprintable.problem(), Problem::MethodUnprintable);
}

#[test]
fn parameters_of_the_protocols_methods_have_names() {
    let error = refused(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["danger"]}"#);
    assert_eq!(*error.problem(), Problem::ParamsType(ValueKind::Array));
    assert_eq!(error.to_string(), "member `params` must be an object, not an array (at byte 55)");
}
