use super::*;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn errors_are_told_from_results_however_they_are_spelled() {
    for (response, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"error":{"code":-32601}}}"#, 200),
        (r#"{"result":{"a":[{"code":-32601}]},"id":1,"jsonrpc":"2.0"}"#, 200),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, 200),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#, 404),
        (r#"{"error":{"message":"no","code":-32601},"id":1,"jsonrpc":"2.0"}"#, 404),
        (r#" { "jsonrpc" : "2.0" , "id" : 1 , "error" : { "code" : -32022 , "message" : "" } }"#, 400),
        (r#"{"jsonrpc":"2.0","id":"\"result\":{","error":{"code":-32601,"message":"no"}}"#, 404),
        (r#"{"jsonrpc":"2.0","x\"result":{},"id":1,"error":{"code":-32601,"message":"no"}}"#, 404),
        (r#"{"jsonrpc":"2.0","id":"result","error":{"code":-32601,"message":"no"}}"#, 404),
        (r#"{"jsonrpc":"2.0","x":{"result":{}},"id":1,"error":{"code":-32601,"message":"no"}}"#, 404),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601.0,"message":"no"}}"#, 404),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"no"}}"#, 200),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, 200),
        ("", 200),
        ("{", 200),
    ] {
        assert_eq!(status(&Bytes::from(response)).as_u16(), expected, "{response}");
    }
}

proptest! {
    #[test]
    fn no_id_makes_an_error_look_like_a_result(id in any::<String>(), code in -32700_i64..-32000) {
        let response = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": id}}).to_string();
        prop_assert_eq!(error_code(&Bytes::from(response)), Some(ErrorCode(code)));
    }

    #[test]
    fn any_bytes_have_a_status(bytes in any::<Vec<u8>>()) {
        status(&Bytes::from(bytes));
    }
}
