use super::*;
use http::header::{HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::{Value, json};

fn parameter(header: &str, path: &[&str], kind: HeaderParameterKind) -> HeaderParameter {
    HeaderParameter { header: header.into(), path: path.iter().map(|name| (*name).to_owned()).collect(), kind }
}

fn parameters() -> Vec<HeaderParameter> {
    vec![
        parameter("region", &["region"], HeaderParameterKind::String),
        parameter("priority", &["job", "priority"], HeaderParameterKind::Integer),
        parameter("dry-run", &["dryRun"], HeaderParameterKind::Boolean),
    ]
}

/// Checks a call whose arguments and headers are spelled like this.
fn checked(arguments: &str, headers: &[(&str, &str)]) -> Result<(), Improper> {
    let call =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#);
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::try_from(*name).unwrap();
        map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    check(&parameters(), &map, &Message::parse(call.into()).unwrap())
}

#[track_caller]
fn refused(arguments: &str, headers: &[(&str, &str)]) -> HeaderError {
    match checked(arguments, headers) {
        Err(Improper::Header(error)) => error,
        other => panic!("{arguments} {headers:?}: {other:?}"),
    }
}

#[test]
fn values_are_repeated_and_what_is_absent_is_not() {
    let all = [("mcp-param-region", "us-west1"), ("mcp-param-priority", "42"), ("mcp-param-dry-run", "false")];
    let arguments = r#"{"region":"us-west1","job":{"priority":42},"dryRun":false,"query":"x"}"#;
    assert_eq!(checked(arguments, &all), Ok(()));
    for arguments in ["{}", r#"{"region":null,"job":null,"dryRun":null}"#, r#"{"job":{}}"#, "null", "[]"] {
        assert_eq!(checked(arguments, &[]), Ok(()), "{arguments}");
        assert_eq!(checked(arguments, &[("mcp-param-other", "\u{fc}"), ("mcp-param-x", "1")]), Ok(()), "{arguments}");
        for header in all {
            assert!(matches!(refused(arguments, &[header]), HeaderError::Unfounded { .. }), "{arguments} {header:?}");
        }
    }
    for left_out in 0..all.len() {
        let mut some = all.to_vec();
        let (name, _) = some.remove(left_out);
        let HeaderError::Missing { header, .. } = refused(arguments, &some) else { panic!("{name} is missing") };
        assert_eq!(header.to_lowercase(), name);
        some.extend([all[left_out], all[left_out]]);
        assert!(matches!(refused(arguments, &some), HeaderError::Repeated { .. }));
    }
}

#[test]
fn texts_are_compared_exactly_after_decoding() {
    let region = |value| [("mcp-param-region", value)];
    for (argument, header) in [
        ("Hello", "=?base64?SGVsbG8=?="),
        ("Hello", "Hello"),
        ("Hello", "  Hello\t"),
        ("", ""),
        ("\u{4e16}", "=?base64?5LiW?="),
        ("SGVsbG8=", "SGVsbG8="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
    ] {
        assert_eq!(checked(&json!({"region": argument}).to_string(), &region(header)), Ok(()), "{header}");
    }
    assert_eq!(checked(r#"{"region":"H\u0065llo"}"#, &region("Hello")), Ok(()), "escapes are spelling");
    for header in ["hello", "Hello!", "", "SGVsbG8=", "=?BASE64?SGVsbG8=?="] {
        assert!(matches!(refused(r#"{"region":"Hello"}"#, &region(header)), HeaderError::Different { .. }), "{header}");
    }
    for header in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "Hell\u{f6}"] {
        assert!(matches!(refused(r#"{"region":"Hello"}"#, &region(header)), HeaderError::Malformed { .. }), "{header}");
    }
    // A value of another kind has no text to repeat.
    for argument in ["5", "true", "{}", "[]"] {
        let arguments = format!(r#"{{"region":{argument}}}"#);
        assert!(matches!(refused(&arguments, &region(argument)), HeaderError::Different { .. }), "{argument}");
    }
}

#[test]
fn numbers_are_compared_as_numbers_and_booleans_by_name() {
    let priority = |spelled: &str, header: &str| {
        checked(&format!(r#"{{"job":{{"priority":{spelled}}}}}"#), &[("mcp-param-priority", header)])
    };
    for (spelled, header) in [
        ("42", "42"),
        ("42.0", "42"),
        ("42", "42.0"),
        ("4.2e1", "42"),
        ("420E-1", "0042"),
        ("-7", "-7"),
        ("-0", "0"),
        ("0.0e9", "0"),
        ("9007199254740993", "9007199254740993"),
        ("42", "=?base64?NDI=?="),
    ] {
        assert_eq!(priority(spelled, header), Ok(()), "{spelled} {header}");
    }
    for (spelled, header) in [
        ("42", "43"),
        ("42", "420"),
        ("42", "-42"),
        ("9007199254740993", "9007199254740992"),
        ("42", ""),
        ("42", "+42"),
        ("42", "42."),
        ("0", "."),
        ("0", "-"),
        ("42", "forty-two"),
        ("42", "4 2"),
        ("1e99999999999999999999", "1e99999999999999999999"),
        ("\"42\"", "42"),
    ] {
        assert!(matches!(priority(spelled, header), Err(Improper::Header(_))), "{spelled} {header}");
    }
    for (argument, header, is_same) in [
        (true, "true", true),
        (false, "false", true),
        (true, "false", false),
        (true, "True", false),
        (true, "1", false),
    ] {
        let arguments = json!({"dryRun": argument}).to_string();
        assert_eq!(checked(&arguments, &[("mcp-param-dry-run", header)]).is_ok(), is_same, "{argument} {header}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_repeated(text in any::<String>()) {
        use base64::Engine;
        let encoded = format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(&text));
        let arguments = json!({"region": text}).to_string();
        prop_assert_eq!(checked(&arguments, &[("mcp-param-region", &encoded)]), Ok(()));
        // Anything else is not taken for it.
        let another = json!({"region": format!("{text}.")}).to_string();
        prop_assert!(checked(&another, &[("mcp-param-region", &encoded)]).is_err());
    }

    #[test]
    fn numbers_are_equal_when_they_are(left in any::<i64>(), right in any::<i64>(), zeros in 0..5_usize) {
        let shifted = format!("{left}{}e-{zeros}", "0".repeat(zeros));
        prop_assert_eq!(Number::read(&shifted), Number::read(&left.to_string()));
        prop_assert_eq!(Number::read(&left.to_string()) == Number::read(&right.to_string()), left == right);
    }

    #[test]
    fn junk_never_panics(value in any::<String>(), header in "[\\x20-\\x7e]{0,40}") {
        let _ = Number::read(&value);
        let arguments = [json!({"region": value}), json!({"job": {"priority": value.len()}}), Value::String(value)];
        for arguments in arguments {
            for name in ["mcp-param-region", "mcp-param-priority", "mcp-param-dry-run"] {
                let _ = checked(&arguments.to_string(), &[(name, &header)]);
            }
        }
    }
}
