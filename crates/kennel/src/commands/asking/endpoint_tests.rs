use super::{AskError, answer_of, answered_with_error};
use crate::commands::asking::address::Address;
use crate::commands::asking::door::{Answer, Door, DoorError};
use crate::failure::Failure;
use kennel_wire::{Id, Message};
use std::time::Duration;

fn answered(status: u16, body: &str) -> Result<Message, DoorError> {
    let address = Address { host: "a".into(), port: 1, path: "/rpc".into() };
    let door = Door { address, token: None, patience: Duration::from_secs(1), most_bytes: 1 };
    answer_of(&door, Answer { status, body: body.into() }, &Id::number(1))
}

#[test]
fn only_an_answer_to_the_request_is_one() {
    assert!(answered(200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_ok());
    assert!(answered(200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#).is_ok());
    for body in [
        "",
        "<html>\u{1b}[2J",
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"x"}"#,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
    ] {
        let error = answered(200, body).unwrap_err();
        assert!(matches!(&error, DoorError::NotRpc(_, 200, shown) if !shown.contains('\u{1b}')), "{body}: {error}");
    }
}

#[test]
fn a_door_that_stays_closed_says_why_and_what_to_do() {
    let error = answered(401, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"A token is needed."}}"#);
    let failure = Failure::from(AskError::from(error.unwrap_err()));
    assert_eq!(
        failure.to_string(),
        "http://a:1/rpc refused the request (HTTP 401): A token is needed.\n  hint: set KENNEL_TOKEN to the token of the \
         gateway"
    );
    assert!(matches!(failure, Failure::Argument(_)));
}

#[test]
fn an_error_is_told_with_what_the_server_adds() {
    let told = |error: &str| {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        answered_with_error("tools/call", &Message::parse(message.into()).unwrap()).to_string()
    };
    assert_eq!(told(r#"{"code":-32602,"message":"no\u001b"}"#), "tools/call failed: no\u{fffd} (code -32602)");
    assert_eq!(told(r#"{"code":5,"message":"no","data":"a\nb"}"#), "tools/call failed: no (code 5)\n  a\n  b");
    assert_eq!(told(r#"{"code":5,"message":"no","data":{"a":1}}"#), "tools/call failed: no (code 5)\n  {\"a\":1}");
    assert_eq!(
        told(r#"{"code":-31001,"message":"ended","data":{"phase":"call"}}"#),
        "tools/call failed: ended (code -31001)"
    );
    assert_eq!(told(r#"{"odd":1}"#), "tools/call failed: {\"odd\":1} (code -32603)");
}
