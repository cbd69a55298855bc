//! What is read out of messages.

use crate::support::{bytes, id, message, refused, text};
use kennel_wire::{ErrorId, FieldError, Frame, Id, Kind, Message, ParseLimits, Problem, ValueKind, Within};

#[test]
fn a_request_is_read() {
    let request = message(
        r#"{"jsonrpc":"2.0","id":"call-1","method":"tools/call","params":{"name":"get_weather","arguments":{"location":"New York"},"_meta":{"progressToken":"oivaizmir","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
    );
    let Kind::Request { id: found, method, params } = request.kind() else { panic!("{request:?}") };
    assert_eq!((found, method.as_ref()), (&id("\"call-1\""), "tools/call"));
    assert!(text(params.unwrap()).starts_with(r#"{"name":"get_weather""#));
    assert_eq!(request.progress_token(), Ok(Some(id("\"oivaizmir\""))));
    assert_eq!(request.params().unwrap().kind(), ValueKind::Object);
    assert!(request.result().is_none() && request.error().is_none());
}

#[test]
fn notifications_are_read() {
    let initialized = message(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(initialized.kind(), Kind::Notification { method: "notifications/initialized".into(), params: None });
    let progress = message(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7.0,"progress":50,"total":100}}"#,
    );
    assert_eq!(progress.reported_token(), Ok(Some(id("7.0"))));
    let cancelled =
        message(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0,"reason":"enough"}}"#);
    assert_eq!(cancelled.cancelled_request(), Ok(Some(id("0"))));
    let updated = message(
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"listen-1"},"uri":"file:\/\/\/a b"}}"#,
    );
    assert_eq!(updated.resource_uri(), Ok(Some("file:///a b".into())));
    assert_eq!(
        updated.id_at(&["params", "_meta", "io.modelcontextprotocol/subscriptionId"]),
        Ok(Some(id("\"listen-1\"")))
    );
}

#[test]
fn answers_are_read() {
    let response = message(
        r#"{"jsonrpc":"2.0","id":"listen-1","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"listen-1"}}}"#,
    );
    assert!(matches!(response.kind(), Kind::Response { result, .. } if result.ends_with(b"\"listen-1\"}}")));
    let subscription = &["result", "_meta", "io.modelcontextprotocol/subscriptionId"];
    assert_eq!(response.id_at(subscription), Ok(Some(id("\"listen-1\""))));
    for value in ["null", "0", "[]", "\"ok\"", "{}"] {
        let response = message(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{value}}}"#));
        assert_eq!(response.result().unwrap().as_bytes(), value.as_bytes());
    }
    let error = message(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"uri":"x"}}}"#);
    assert_eq!(error.text_at(&["error", "data", "uri"]), Ok(Some("x".into())));
    assert_eq!(error.id(), Some(&id("1")));
}

#[test]
fn an_error_may_have_no_id_and_says_how() {
    let of = |member: &str| message(&format!(r#"{{"jsonrpc":"2.0"{member},"error":{{}}}}"#));
    for (member, expected) in
        [(r#","id":null"#, ErrorId::Null), ("", ErrorId::Absent), (r#","id":"""#, id("\"\"").into())]
    {
        let message = of(member);
        assert!(matches!(message.kind(), Kind::Error { id, .. } if *id == expected), "{member}");
    }
    assert_eq!(of("").id(), None);
}

#[test]
fn ids_keep_type_and_spelling() {
    for spelling in ["0", "-1", "1", "1.0", "1.50", "1e3", "9007199254740993", "\"\"", "\"1\"", r#""\u0031""#] {
        let request = message(&format!(r#"{{"jsonrpc":"2.0","id":{spelling},"method":"ping"}}"#));
        assert_eq!(request.id().unwrap().spelling(), spelling.as_bytes());
    }
}

#[test]
fn escaped_names_are_the_same_names() {
    let request = message(
        r#"{"jsonrpc":"2\u002e0","\u0069d":1,"meth\u006Fd":"tools\/call","\u0070arams":{"_m\u0065ta":{"progress\u0054oken":2}}}"#,
    );
    assert!(matches!(request.kind(), Kind::Request { .. }));
    assert_eq!(request.method().as_deref(), Some("tools/call"));
    assert_eq!(request.progress_token(), Ok(Some(id("2"))));
}

#[test]
fn similar_names_where_nothing_is_decided_are_other_names() {
    let text = r#"{"jsonrpc":"2.0","x-ID":1,"ids":2,"method":"a","params":{"ID":1,"id":2,"uri":"x","uris":"y","x":{"Name":1}}}"#;
    let notification = message(text);
    assert_eq!(notification.resource_uri().unwrap().as_deref(), Some("x"));
    assert_eq!(notification.id_at(&["params", "ID"]), Ok(Some(id("1"))));
}

#[test]
fn unknown_members_and_space_stay() {
    let source = "\t{ \"x\" : 1.0 , \"x\" : 1e3,\"jsonrpc\":\"2.0\",\r\n\"method\":\"a\" , \"params\":null, \"y\":{\"id\":[]} } ";
    let notification = message(source);
    assert_eq!(notification.bytes(), source.as_bytes());
    assert_eq!(notification.kind(), Kind::Notification { method: "a".into(), params: Some(b"null") });
}

#[test]
fn parts_share_the_bytes_of_the_message() {
    let source = bytes(r#"{"jsonrpc":"2.0","method":"a","params":{"uri":"x"}}"#);
    let inside = source.as_ptr_range();
    let notification = Message::parse(source).unwrap();
    assert!(inside.contains(&notification.params().unwrap().as_bytes().as_ptr()));
    assert!(inside.contains(&notification.field(&["params", "uri"]).unwrap().unwrap().as_bytes().as_ptr()));
}

#[test]
fn a_path_leads_to_its_value_or_nowhere() {
    let source =
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"s":"}{\"\\","a":[{"b":1}],"b":{"c":{"d":-1.50}},"z":null}}"#;
    let request = message(source);
    let at = |path: &[&str]| request.locate(path).unwrap().map(|range| &source[range]);
    assert_eq!(at(&["params", "b", "c", "d"]), Some("-1.50"));
    assert_eq!(at(&["params", "b", "c"]), Some(r#"{"d":-1.50}"#));
    assert_eq!(at(&["params", "s"]), Some(r#""}{\"\\""#));
    assert_eq!(at(&["params", "a"]), Some(r#"[{"b":1}]"#));
    assert_eq!(at(&["params", "z"]), Some("null"));
    for nowhere in [&[][..], &["id"], &["result"], &["params", "d"], &["params", "a", "b"], &["params", "z", "b"]] {
        assert_eq!(at(nowhere), None, "{nowhere:?}");
    }
}

#[test]
fn a_field_that_is_given_twice_is_not_chosen() {
    let twice = message(r#"{"jsonrpc":"2.0","method":"a","params":{"x":"x","\u0078":"y","_meta":{"a":1,"a":2}}}"#);
    assert_eq!(twice.text_at(&["params", "x"]), Err(FieldError::Ambiguous { path: "params.x".to_owned() }));
    assert_eq!(twice.progress_token(), Ok(None), "other members do not matter");
    let twice = message(r#"{"jsonrpc":"2.0","method":"a","params":{"x":{"y":1,"y":2}}}"#);
    assert_eq!(twice.id_at(&["params", "x", "y"]), Err(FieldError::Ambiguous { path: "params.x.y".to_owned() }));
}

#[test]
fn what_a_request_is_about_is_read_from_where_its_method_says() {
    let about = |method: &str, params: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        message(&text)
            .subject()
            .map(|subject| subject.map(std::borrow::Cow::into_owned))
            .map_err(|error| error.to_string())
    };
    let all = r#"{"name":"n","uri":"u","taskId":"t","ref":{"type":"ref/prompt","name":"r"}}"#;
    for (method, subject) in [
        ("tools/call", Some("n")),
        ("prompts/get", Some("n")),
        ("resources/read", Some("u")),
        ("resources/subscribe", Some("u")),
        ("tasks/cancel", Some("t")),
        ("completion/complete", Some("r")),
        ("tools/list", None),
        ("acme/call", None),
    ] {
        assert_eq!(about(method, all), Ok(subject.map(str::to_owned)), "{method}");
        assert_eq!(about(method, "{}"), Ok(None), "{method}");
    }
    assert_eq!(about("completion/complete", r#"{"ref":{"uri":"u"}}"#), Ok(Some("u".to_owned())));
    for (params, reason) in [
        (r#"{"name":["danger"]}"#, "`params.name` must be text"),
        (r#"{"name":7}"#, "`params.name` must be text"),
        (r#"{"name":"danger\ud800"}"#, "`params.name` must be text"),
        (r#"{"name":"danger\u0000x"}"#, "`params.name` holds a NUL character"),
    ] {
        assert_eq!(about("tools/call", params), Err(reason.to_owned()), "{params}");
    }
    for reference in [r#"{"name":"a","Name":"b"}"#, r#"{"uri":"a","URI\u0000":"b"}"#, r#"{"Name":"a"}"#] {
        let refused = about("completion/complete", &format!(r#"{{"ref":{reference}}}"#)).unwrap_err();
        assert!(refused.contains("only in case"), "{reference}: {refused}");
    }
    let twice = about("completion/complete", r#"{"ref":{"name":"a","name":"b"}}"#).unwrap_err();
    assert_eq!(twice, "`params.ref.name` is given more than once");
}

#[test]
fn a_field_of_another_type_is_an_error() {
    let odd = message(r#"{"jsonrpc":"2.0","method":"a","params":{"uri":1,"requestId":null,"progressToken":{}}}"#);
    assert_eq!(odd.resource_uri().unwrap_err().to_string(), "`params.uri` must be text");
    assert_eq!(
        odd.cancelled_request().unwrap_err().to_string(),
        "`params.requestId` must be a string or a number, not null"
    );
    let path = "params.progressToken".to_owned();
    assert_eq!(odd.reported_token(), Err(FieldError::NotId { path, kind: ValueKind::Object }));
}

#[test]
fn logs_do_not_show_payloads() {
    let request = message(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"password":"hush"}}"#);
    assert_eq!(format!("{request:?}"), r#"Message { method: "a", id: Id(1), bytes: 66, .. }"#);
    assert_eq!(format!("{:?}", request.params().unwrap()), "RawJson(an object, 19 bytes)");
}

#[test]
fn the_depth_that_serde_json_reads_is_the_default() {
    let nested = |depth: usize| {
        format!(r#"{{"jsonrpc":"2.0","method":"a","params":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1))
    };
    assert!(Message::parse(bytes(&nested(127))).is_ok());
    assert!(serde_json::from_str::<serde_json::Value>(&nested(127)).is_ok());
    assert!(Message::parse(bytes(&nested(128))).is_err());
    assert!(serde_json::from_str::<serde_json::Value>(&nested(128)).is_err());
    let limits = ParseLimits { depth: 128, ..ParseLimits::default() };
    assert!(Frame::parse_within(bytes(&nested(128)), limits).is_ok());
}

#[test]
fn fields_are_found_among_few_members_and_among_many() {
    for others in 0..9 {
        let other = |number| format!(r#""other{number}":{{"_meta":{{"progressToken":"wrong"}}}}"#);
        let members: Vec<String> = (0..others).map(other).collect();
        for place in 0..=others {
            let mut members = members.clone();
            members.insert(place, r#""_meta":{"progressToken":7}"#.to_owned());
            let text = format!(r#" {{"params":{{{}}},"jsonrpc":"2.0","id":1,"method":"x"}}"#, members.join(","));
            let message = message(&text);
            assert_eq!(message.progress_token().unwrap(), Some(Id::number(7)), "{text}");
            assert_eq!(message.rewrite().progress_token(&Id::number(8)).unwrap().finish(), text.replace(":7", ":8"));
            members.push(r#""\u005fmeta":{}"#.to_owned());
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{{}}}}}"#, members.join(","));
            let error = refused(&text);
            assert_eq!(*error.problem(), Problem::DuplicateName { name: "_meta", within: Within::Params }, "{text}");
        }
    }
}

#[test]
fn parameters_in_an_answer_are_not_taken_for_its_result() {
    let answer =
        message(r#"{"jsonrpc":"2.0","id":1,"params":{"a":1,"_meta":{"b":1}},"result":{"_meta":{"b":2},"a":2}}"#);
    assert_eq!(answer.field(&["result", "a"]).unwrap().unwrap().as_bytes(), b"2");
    assert_eq!(answer.field(&["result", "_meta", "b"]).unwrap().unwrap().as_bytes(), b"2");
    assert_eq!(answer.field(&["params", "a"]), Ok(None));
}
