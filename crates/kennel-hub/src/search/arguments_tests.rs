use super::*;
use proptest::prelude::*;

fn json(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("JSON")
}

fn search(text: &str) -> Result<SearchArguments, ArgumentError> {
    SearchArguments::read(Some(&json(text)))
}

fn call(text: &str) -> Result<CallArguments, ArgumentError> {
    CallArguments::read(Some(&json(text)))
}

#[test]
fn what_is_left_out_has_its_default() {
    let asked = search(r#"{"query":"read a file"}"#).expect("arguments");
    let wanted = SearchArguments { query: "read a file".to_owned(), limit: 8, server: None, detail: Detail::Summary };
    assert_eq!(asked, wanted);
    assert_eq!(search(r#"{"query":"read a file","limit":null,"server":"","detail":null,"more":1}"#), Ok(wanted));
}

#[test]
fn what_is_said_counts() {
    let asked = search(r#"{"query":"x","limit":3,"server":"git","detail":"full"}"#).expect("arguments");
    assert_eq!((asked.limit, asked.server.as_deref(), asked.detail), (3, Some("git"), Detail::Full));
    assert_eq!(search(r#"{"query":"x","detail":"names"}"#).expect("arguments").detail, Detail::Names);
}

#[test]
fn a_limit_is_brought_within_its_bounds() {
    for (said, counts) in
        [("0", 1), ("-5", 1), ("50", 50), ("51", 50), ("9223372036854775807", 50), ("\"7\"", 7), ("7.0", 7)]
    {
        assert_eq!(search(&format!(r#"{{"query":"x","limit":{said}}}"#)).expect("arguments").limit, counts, "{said}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    for none in ["{}", r#"{"query":""}"#, r#"{"query":"  "}"#, r#"{"query":5}"#, "[]", "null"] {
        assert_eq!(search(none), Err(ArgumentError::NoQuery), "{none}");
    }
    assert_eq!(SearchArguments::read(None), Err(ArgumentError::NoQuery));
    assert_eq!(search(r#"{"query":"x","limit":"many"}"#), Err(ArgumentError::Limit));
    assert_eq!(search(r#"{"query":"x","limit":2.5}"#), Err(ArgumentError::Limit));
    assert_eq!(search(r#"{"query":"x","server":["git"]}"#), Err(ArgumentError::Server));
    assert_eq!(search(r#"{"query":"x","detail":"all"}"#), Err(ArgumentError::Detail));
    assert_eq!(search(r#"{"query":"x","detail":1}"#), Err(ArgumentError::Detail));
    for none in ["{}", r#"{"name":""}"#, r#"{"name":7}"#, r#""name""#] {
        assert_eq!(call(none), Err(ArgumentError::NoName), "{none}");
    }
    for odd in ["[1]", "5", "\"text\"", "\"[1]\"", "true"] {
        assert_eq!(call(&format!(r#"{{"name":"x","arguments":{odd}}}"#)), Err(ArgumentError::Arguments), "{odd}");
    }
}

#[test]
fn arguments_of_a_call_keep_their_spelling() {
    let spelled = r#"{ "a" : 1.0, "a b":"\u0041" }"#;
    let asked = call(&format!(r#"{{"name":"git__log","arguments":{spelled}}}"#)).expect("arguments");
    assert_eq!((asked.name.as_str(), asked.arguments.as_bytes()), ("git__log", spelled.as_bytes()));
    let in_text = call(r#"{"name":"x","arguments":"{\"a\":1.0}"}"#).expect("arguments");
    assert_eq!(in_text.arguments.as_bytes(), br#"{"a":1.0}"#);
    for none in [r#"{"name":"x"}"#, r#"{"name":"x","arguments":null}"#] {
        assert_eq!(call(none).expect("arguments").arguments.as_bytes(), b"{}");
    }
}

proptest! {
    #[test]
    fn any_arguments_are_read_or_refused(value in "[\\[\\]{}\":,a-z0-9.\\\\-]{0,40}") {
        for text in [format!(r#"{{"query":"x","limit":{value},"name":{value},"arguments":{value}}}"#), value] {
            if let Ok(json) = RawJson::parse(text) {
                let _ = (SearchArguments::read(Some(&json)), CallArguments::read(Some(&json)));
            }
        }
    }
}
