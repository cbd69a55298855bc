use super::*;

fn full() -> CellResult {
    CellResult {
        stdout: "one\ntwo\n".to_owned(),
        stderr: "careful\n".to_owned(),
        value: "{'a': 1}".to_owned(),
        error: Some(CellError {
            kind: "ValueError".to_owned(),
            message: "bad, very bad".to_owned(),
            traceback: "Traceback (most recent call last):\nValueError: bad, very bad\n".to_owned(),
        }),
        notes: vec!["state lost: out of memory".to_owned(), "7".to_owned()],
        calls: 3,
        ..CellResult::new(Status::Error, "c12", "main")
    }
}

#[test]
fn a_success_is_nothing_but_its_output_and_value() {
    let result = CellResult {
        stdout: "one\n".to_owned(),
        value: "2".to_owned(),
        ..CellResult::new(Status::Success, "c1", "main")
    };
    assert_eq!(result.compact(), "one\n2");
    let tool = result.tool_result(Format::Compact);
    assert_eq!(
        tool["structuredContent"],
        json!({ "status": "success", "cell": "c1", "session": "main", "stdout": "one\n", "value": "2" })
    );
    assert_eq!(tool.get("isError"), None);
}

#[test]
fn an_error_says_so_first_and_where_last() {
    assert_eq!(
        full().compact(),
        "status: error\none\ntwo\nstderr:\ncareful\n{'a': 1}\nTraceback (most recent call last):\nValueError: bad, \
         very bad\nnote: state lost: out of memory\nnote: 7"
    );
    assert_eq!(full().tool_result(Format::Compact)["isError"], true);
}

#[test]
fn each_status_is_told() {
    let text = |status| CellResult::new(status, "c3", "main").compact();
    assert_eq!(text(Status::Success), "");
    assert_eq!(text(Status::Running), "running: cell c3");
    assert_eq!(text(Status::Timeout), "status: timeout");
    assert_eq!(text(Status::Cancelled), "status: cancelled");
    let invalid = CellResult::invalid("the code is too long");
    assert_eq!(invalid.compact(), "status: validation_error\nValidationError: the code is too long");
    for (status, is_error) in [
        (Status::Success, false),
        (Status::Error, true),
        (Status::Timeout, true),
        (Status::ValidationError, true),
        (Status::Running, false),
        (Status::Cancelled, false),
    ] {
        let result = CellResult::new(status, "c3", "main");
        assert_eq!(result.tool_result(Format::Json).get("isError").is_some(), is_error, "{status:?}");
        // One spelling everywhere.
        assert_eq!(result.structured()["status"], status.name());
    }
}

#[test]
fn json_has_the_members_in_order_and_nothing_empty() {
    let tool = full().tool_result(Format::Json);
    assert_eq!(tool.get("structuredContent"), None);
    let text = tool["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with(r#"{"status":"error","cell":"c12","session":"main","stdout":"one\ntwo\n","stderr""#));
    assert!(text.ends_with(r#""calls":3}"#), "{text}");
    let empty = CellResult::new(Status::Success, "c1", "").tool_result(Format::Json);
    assert_eq!(empty["content"][0]["text"], r#"{"status":"success","cell":"c1"}"#);
}

#[test]
fn toon_has_one_line_for_each_member() {
    let tool = full().tool_result(Format::Toon);
    assert_eq!(
        tool["content"][0]["text"],
        r#"status: error
cell: c12
session: main
stdout: "one\ntwo\n"
stderr: "careful\n"
value: "{'a': 1}"
error:
  type: ValueError
  message: "bad, very bad"
  traceback: "Traceback (most recent call last):\nValueError: bad, very bad\n"
notes[2]: "state lost: out of memory","7"
calls: 3"#
    );
}

#[test]
fn toon_quotes_what_would_be_read_otherwise() {
    let line = |value: &str| {
        let result = CellResult { value: value.to_owned(), ..CellResult::new(Status::Success, "", "") };
        let tool = result.tool_result(Format::Toon);
        tool["content"][0]["text"].as_str().unwrap().strip_prefix("status: success\nvalue: ").unwrap().to_owned()
    };
    for plain in ["abc", "two words", "<object>", "e5", "€", "a-b", "(1"] {
        assert_eq!(line(plain), plain);
    }
    for quoted in ["42", "-1.5", "1e5", "007", "true", "null", " a", "a ", "-a", "#a", "a:b", "[1]", "{}", "a,b"] {
        assert_eq!(line(quoted), format!("\"{quoted}\""));
    }
    assert_eq!(line("a\"\\\t\r\u{1}"), r#""a\"\\\t\r\u0001""#);
}
