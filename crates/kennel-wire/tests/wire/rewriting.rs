//! What is changed in messages, and what stays.

use crate::support::{id, message, raw, text};
use kennel_wire::{FieldError, RawJson, ValueKind};

#[test]
fn only_the_id_changes() {
    for (before, after) in [
        (
            "{\"id\" :\t1.0 ,\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id2\":1.0}",
            "{\"id\" :\t\"k-1\" ,\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id2\":1.0}",
        ),
        (r#"{"jsonrpc":"2.0","id":"","result":{"id":""}}"#, r#"{"jsonrpc":"2.0","id":"k-1","result":{"id":""}}"#),
        (r#"{"jsonrpc":"2.0","\u0069d":-1,"error":{}}"#, r#"{"jsonrpc":"2.0","\u0069d":"k-1","error":{}}"#),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, r#"{"jsonrpc":"2.0","id":"k-1","error":{}}"#),
    ] {
        assert_eq!(message(before).with_id(&id("\"k-1\"")).unwrap(), after);
    }
}

#[test]
fn several_members_are_put_into_one_object() {
    for (before, after) in [("{}", r#"{"a":1,"b\"":{}}"#), (r#"{ "x":[ ]}"#, r#"{"a":1,"b\"":{}, "x":[ ]}"#)] {
        let answer = message(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{before}}}"#));
        let members = [("a", raw("1")), ("b\"", raw("{}"))];
        let changed = answer.rewrite().add(&["result"], &members).unwrap().finish();
        assert_eq!(changed, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{after}}}"#));
        assert_eq!(answer.rewrite().add(&["result"], &[]).unwrap().finish(), answer.bytes());
    }
    let answer = message(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#);
    let error = answer.rewrite().add(&["result"], &[("a", raw("1"))]).unwrap_err();
    assert!(matches!(error, FieldError::Missing { .. }), "{error}");
}

#[test]
fn an_object_comes_apart_and_together_again() {
    let object = raw(r#"{ "a" : 1.0, "\u0062\n":{"a":[1, 2]} ,"c":"x"}"#);
    let members = object.members();
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b\n", "c"]);
    let together = RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value)));
    assert_eq!(text(together.as_bytes()), r#"{"a":1.0,"b\n":{"a":[1, 2]},"c":"x"}"#);
    assert!(raw("[1]").members().is_empty() && raw("{}").members().is_empty());
    assert_eq!(text(RawJson::object([]).as_bytes()), "{}");
}

#[test]
fn where_there_is_no_id_none_is_made() {
    for text in [r#"{"jsonrpc":"2.0","method":"a"}"#, r#"{"jsonrpc":"2.0","error":{}}"#] {
        assert_eq!(message(text).with_id(&id("1")).unwrap_err().to_string(), "there is no `id`");
    }
}

#[test]
fn several_fields_change_in_one_copy() {
    let request = message(
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"uri":"a:b","requestId":1,"progressToken":2,"_meta":{"progressToken":3,"x":1e3}}}"#,
    );
    let changed = request
        .rewrite()
        .cancelled_request(&id("10"))
        .and_then(|rewrite| rewrite.progress_token(&id("\"p\"")))
        .and_then(|rewrite| rewrite.id(&id("99")))
        .and_then(|rewrite| rewrite.resource_uri("q\"\u{1}"))
        .and_then(|rewrite| rewrite.reported_token(&id("20")))
        .unwrap()
        .finish();
    assert_eq!(
        changed,
        r#"{"jsonrpc":"2.0","id":99,"method":"a","params":{"uri":"q\"\u0001","requestId":10,"progressToken":20,"_meta":{"progressToken":"p","x":1e3}}}"#
    );
}

#[test]
fn a_missing_token_is_inserted_with_all_around_it() {
    for (before, after) in [
        (r#""method":"a","x":1"#, r#""method":"a","params":{"_meta":{"progressToken":7}},"x":1"#),
        (r#""method":"a","params":{}"#, r#""method":"a","params":{"_meta":{"progressToken":7}}"#),
        (r#""method":"a","params":{ }"#, r#""method":"a","params":{"_meta":{"progressToken":7} }"#),
        (r#""method":"a","params":{ "b":1}"#, r#""method":"a","params":{"_meta":{"progressToken":7}, "b":1}"#),
        (r#""params":{"_meta":{}},"method":"a""#, r#""params":{"_meta":{"progressToken":7}},"method":"a""#),
        (
            r#""params":{"_meta":{"c":{}}},"method":"a""#,
            r#""params":{"_meta":{"progressToken":7,"c":{}}},"method":"a""#,
        ),
        (
            r#""params":{"_meta":{"progressToken":""}},"method":"a""#,
            r#""params":{"_meta":{"progressToken":7}},"method":"a""#,
        ),
    ] {
        let whole = |members: &str| format!(r#"{{"jsonrpc":"2.0","id":1,{members}}}"#);
        let changed = message(&whole(before)).rewrite().progress_token(&id("7")).unwrap().finish();
        assert_eq!(changed, whole(after));
        assert_eq!(message(text(&changed)).progress_token(), Ok(Some(id("7"))));
    }
}

#[test]
fn any_field_can_be_set_also_in_results() {
    let response = message(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    let changed = response.rewrite().set(&["result", "res\"ult"], &raw(" \"complete\" ")).unwrap().finish();
    assert_eq!(changed, r#"{"jsonrpc":"2.0","id":1,"result":{"res\"ult":"complete","tools":[]}}"#);
    let replaced = response.rewrite().set(&["result"], &raw("{}")).unwrap().finish();
    assert_eq!(replaced, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[test]
fn what_cannot_be_set_is_an_error() {
    let request = message(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":null,"uri":"x"}}"#);
    let path = "params._meta".to_owned();
    assert_eq!(
        request.rewrite().progress_token(&id("1")).unwrap_err(),
        FieldError::NotObject { path, kind: ValueKind::Null }
    );
    for path in [&[][..], &["result"], &["result", "a"], &["id"]] {
        let error = request.rewrite().set(path, &raw("1")).unwrap_err();
        assert!(matches!(error, FieldError::Missing { .. }), "{path:?}: {error}");
    }
    let error = request.rewrite().cancelled_request(&id("1")).unwrap_err();
    assert_eq!(error.to_string(), "there is no `params.requestId`");
    let twice = message(r#"{"jsonrpc":"2.0","method":"a","params":{"x":"x","x":"x"}}"#);
    assert!(matches!(twice.rewrite().replace(&["params", "x"], &raw("1")).unwrap_err(), FieldError::Ambiguous { .. }));
    let null = message(r#"{"jsonrpc":"2.0","method":"a","params":null}"#);
    assert!(matches!(null.rewrite().progress_token(&id("1")).unwrap_err(), FieldError::NotObject { .. }));
}

#[test]
fn changes_of_the_same_place_are_refused() {
    let request = message(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":1}}}"#);
    for path in
        [&["params", "_meta", "progressToken"][..], &["params", "_meta"], &["params"], &["params", "_meta", "x"]]
    {
        let once = request.rewrite().replace(&["params", "_meta"], &raw("{}")).unwrap();
        let error = once.set(path, &raw("{}")).unwrap_err();
        assert!(matches!(error, FieldError::Overlapping { .. }), "{path:?}: {error}");
    }
    let once = request.rewrite().set(&["params", "a"], &raw("1")).unwrap();
    assert!(matches!(once.set(&["params", "b"], &raw("1")).unwrap_err(), FieldError::Overlapping { .. }));
}

#[test]
fn without_changes_nothing_is_copied() {
    let request = message(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
    assert_eq!(request.rewrite().finish().as_ptr(), request.bytes().as_ptr());
}
