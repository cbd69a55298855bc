//! The messages that Kennel writes itself.

use crate::support::{id, message, raw, refused, text};
use kennel_wire::{ErrorCode, ErrorId, ErrorObject, Kind, RawJson, notification, request, success_response};

#[test]
fn errors_spell_the_id_back() {
    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "it \"died\"\n\u{1}ü");
    assert_eq!(
        error.response(&id("1.0").into()),
        r#"{"jsonrpc":"2.0","id":1.0,"error":{"code":-32603,"message":"it \"died\"\n\u0001ü"}}"#
    );
    let error = ErrorObject::new(ErrorCode(7), "").with_data(raw(r#" {"big": 12345678901234567890.0} "#));
    assert_eq!(
        error.response(&ErrorId::Null),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":7,"message":"","data":{"big": 12345678901234567890.0}}}"#
    );
    assert!(error.response(&ErrorId::Absent).starts_with(br#"{"jsonrpc":"2.0","error":{"code":7,"#));
    for id in [id("\"\\u0031\"").into(), ErrorId::Null, ErrorId::Absent] {
        let written = error.response(&id);
        assert!(matches!(message(text(&written)).kind(), Kind::Error { id: read, .. } if *read == id));
    }
}

#[test]
fn a_refused_message_can_be_answered() {
    let error = refused(r#"{"jsonrpc":"1.0","id":"x","method":"a"}"#);
    assert_eq!(
        ErrorObject::from(&error).response(&error.reply_id()),
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"member `jsonrpc` must be the string \"2.0\" (at byte 11)"}}"#
    );
}

#[test]
fn other_messages_are_written_as_they_are_read() {
    let written = success_response(&id("\"a\""), &raw("{\"x\":1.0}"));
    assert_eq!(written, r#"{"jsonrpc":"2.0","id":"a","result":{"x":1.0}}"#);
    let written = request(&id("5"), "tools/list", &RawJson::empty_object());
    assert_eq!(written, r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{}}"#);
    let written = notification("a\"b", &raw("{\"requestId\":5}"));
    assert_eq!(written, r#"{"jsonrpc":"2.0","method":"a\"b","params":{"requestId":5}}"#);
    assert_eq!(message(text(&written)).cancelled_request(), Ok(Some(id("5"))));
}

#[test]
fn codes_are_those_of_the_specification() {
    let codes = [
        (ErrorCode::PARSE_ERROR, "-32700"),
        (ErrorCode::INVALID_REQUEST, "-32600"),
        (ErrorCode::METHOD_NOT_FOUND, "-32601"),
        (ErrorCode::INVALID_PARAMS, "-32602"),
        (ErrorCode::INTERNAL_ERROR, "-32603"),
        (ErrorCode::RESOURCE_NOT_FOUND, "-32002"),
        (ErrorCode::URL_ELICITATION_REQUIRED, "-32042"),
        (ErrorCode::HEADER_MISMATCH, "-32020"),
        (ErrorCode::MISSING_CLIENT_CAPABILITY, "-32021"),
        (ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, "-32022"),
    ];
    for (code, spelling) in codes {
        assert_eq!(code.to_string(), spelling);
    }
}
