use super::*;

fn of(line: &str) -> Option<Number> {
    let bytes = line.as_bytes();
    request_of(&bytes[..bytes.len().min(60)], &bytes[bytes.len().saturating_sub(60)..])
}

fn long() -> String {
    format!("{{\"x\":\"{}\"}}", "y".repeat(200))
}

#[test]
fn an_answer_names_its_request_before_the_result_or_at_the_end() {
    let long = long();
    for (line, number) in [
        (format!(r#"{{"jsonrpc":"2.0","id":17,"result":{long}}}"#), 17),
        (format!(r#"{{"id":17,"jsonrpc":"2.0","result":{long}}}"#), 17),
        (format!(r#" {{ "id" : 17.0 , "error" : {long}}}"#), 17),
        (format!(r#"{{"jsonrpc":"2.0","result":{long},"id":17}}"#), 17),
        (format!(r#"{{"error":{long},"id":17, "jsonrpc" : "2.0" }} "#), 17),
        (format!(r#"{{"result":{{"id":3,"x":{long}}},"id":9223372036854775807,"jsonrpc":"2.0"}}"#), i64::MAX),
    ] {
        assert_eq!(of(&line), Some(number), "{line}");
    }
}

#[test]
fn what_is_part_of_a_payload_or_no_answer_names_nothing() {
    let long = long();
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":17,"method":"x","params":{long}}}"#),
        format!(r#"{{"jsonrpc":"2.0","method":"x","params":{long},"id":17}}"#),
        format!(r#"{{"method":"x","id":17,"params":{long}}}"#),
        format!(r#"{{"jsonrpc":"2.0","result":{{"a":{long},"id":17}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","result":[{long},"\"id\":17}}"]}}"#),
        format!(r#"{{"jsonrpc":"2.0","result":{long},"id":"17"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":-17,"result":{long}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":17.5,"result":{long}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":99999999999999999999,"result":{long}}}"#),
        format!(r#"{{"x":{long},"result":{long},"id":17}}"#),
        long.clone(),
        "x".repeat(300),
        String::new(),
    ] {
        assert_eq!(of(&line), None, "{line}");
    }
}

#[test]
fn a_number_that_was_cut_names_nothing() {
    assert_eq!(request_of(b"{\"jsonrpc\":\"2.0\",\"id\":1", b""), None);
    assert_eq!(request_of(b"{\"jsonrpc\":\"2.0\",\"id\":1,", b""), None);
    assert_eq!(request_of(b"{\"result\":", b"7,\"jsonrpc\":\"2.0\"}"), None);
}
