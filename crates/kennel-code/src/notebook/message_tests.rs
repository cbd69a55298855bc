use super::*;
use serde_json::json;

fn heard(message: &serde_json::Value) -> Option<FromBox> {
    read(message.to_string().as_bytes(), "c2")
}

#[test]
fn asks_of_all_kinds_are_read() {
    let asks = [
        (json!({ "op": "call_tool", "alias": "fs", "tool": "read-file", "arguments": { "a": 1.0 } }), "CallTool"),
        (json!({ "op": "search_tools", "query": "x" }), "SearchTools"),
        (json!({ "op": "describe_tools", "alias": "fs" }), "DescribeTools"),
        (json!({ "op": "save_tool", "name": "f", "source": "def f(): pass" }), "SaveTool"),
        (json!({ "op": "remove_tool", "name": "f" }), "RemoveTool"),
        (json!({ "op": "list_saved" }), "ListSaved"),
    ];
    for (mut ask, kind) in asks {
        ask["t"] = "ask".into();
        ask["n"] = 3.into();
        match heard(&ask) {
            Some(FromBox::Ask { number: 3, ask: Ok(ask) }) => assert!(format!("{ask:?}").starts_with(kind)),
            other => panic!("{kind}: {other:?}"),
        }
    }
}

#[test]
fn arguments_keep_every_digit() {
    let body = r#"{"t":"ask","n":1,"op":"call_tool","alias":"a","tool":"b","arguments":{"x":1.0,"x":100000000000000000000001}}"#;
    match read(body.as_bytes(), "c2") {
        Some(FromBox::Ask { ask: Ok(Ask::CallTool(call)), .. }) => {
            assert_eq!(call.arguments.unwrap().get(), r#"{"x":1.0,"x":100000000000000000000001}"#);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_read_is_answered_where_it_has_a_number() {
    for ask in [
        json!({ "t": "ask", "n": 3, "op": "format_disk" }),
        json!({ "t": "ask", "n": 3 }),
        json!({ "t": "ask", "n": 3, "op": "call_tool", "alias": 7 }),
    ] {
        match heard(&ask) {
            Some(FromBox::Ask { number: 3, ask: Err(error) }) => assert_eq!(error.kind, AskErrorKind::Protocol),
            other => panic!("{other:?}"),
        }
    }
    for nothing in [json!({ "t": "ask" }), json!({ "t": "ready", "n": 1 }), json!({ "n": 1 }), json!([1])] {
        assert!(heard(&nothing).is_none(), "{nothing}");
    }
    assert!(read(b"{", "c2").is_none());
}

#[test]
fn only_the_end_of_the_cell_itself_counts() {
    let end = |cell: &str| heard(&json!({ "t": "end", "cell": cell, "status": "success", "value": "1" }));
    assert!(matches!(end("c2"), Some(FromBox::End(End { status: EndStatus::Success, value: Some(_), .. }))));
    assert!(end("c1").is_none());
}

#[test]
fn an_end_that_cannot_be_read_is_an_error() {
    match read(br#"{"t":"end","cell":"c2","status":"success","value":"\ud800"}"#, "c2") {
        Some(FromBox::End(end)) => {
            assert_eq!(end.status, EndStatus::Error);
            assert!(end.error.unwrap().message.contains("cannot be read"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn replies_carry_the_answer_as_it_is() {
    let value = RawValue::from_string("[1.0, 2]".to_owned()).unwrap();
    assert_eq!(reply(4, &Ok(value)), br#"{"t":"reply","n":4,"ok":[1.0, 2]}"#);
    let error = AskError { code: Some(-32602), ..AskError::new(AskErrorKind::Limit, "too \"many\"") };
    assert_eq!(
        reply(5, &Err(error)),
        br#"{"t":"reply","n":5,"error":{"kind":"limit","message":"too \"many\"","code":-32602}}"#
    );
    let cell = serde_json::from_slice::<serde_json::Value>(&cell("c2", "1+1", Some(&["fs".to_owned()]))).unwrap();
    assert_eq!(cell, json!({ "t": "cell", "cell": "c2", "code": "1+1", "servers": ["fs"] }));
}
