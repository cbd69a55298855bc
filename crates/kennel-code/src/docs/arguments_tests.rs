use super::*;

fn json(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("JSON")
}

fn search(text: &str) -> Result<SearchArguments, ArgumentError> {
    SearchArguments::read(Some(&json(text)))
}

fn describe(text: &str) -> Result<DescribeArguments, ArgumentError> {
    DescribeArguments::read(Some(&json(text)))
}

#[test]
fn what_is_left_out_has_its_default_and_what_is_said_counts() {
    let wanted = SearchArguments { query: "read".to_owned(), limit: 5, servers: None, detail: Detail::Signatures };
    assert_eq!(search(r#"{"query":"read"}"#), Ok(wanted.clone()));
    assert_eq!(search(r#"{"query":"read","limit":null,"server":"","detail":null,"more":1}"#), Ok(wanted));
    let said = search(r#"{"query":"x","limit":"70","server":"git","detail":"full"}"#).expect("arguments");
    assert_eq!((said.limit, said.servers, said.detail), (50, Some(vec!["git".to_owned()]), Detail::Full));
    let both = search(r#"{"query":"x","servers":["a","b"],"limit":0}"#).expect("arguments");
    assert_eq!((both.servers, both.limit), (Some(vec!["a".to_owned(), "b".to_owned()]), 1));
    assert_eq!(search(r#"{"query":"x","servers":[]}"#).expect("arguments").servers, Some(Vec::new()));
    let one = describe(r#"{"tools":"git.log","detail":"names"}"#).expect("arguments");
    assert_eq!((one.tools, one.detail), (vec!["git.log".to_owned()], Detail::Names));
}

#[test]
fn what_is_wrong_is_said() {
    for none in ["{}", r#"{"query":" "}"#, r#"{"query":5}"#, "[]", "null"] {
        assert_eq!(search(none), Err(ArgumentError::NoQuery), "{none}");
    }
    assert_eq!(SearchArguments::read(None), Err(ArgumentError::NoQuery));
    assert_eq!(search(r#"{"query":"x","limit":2.5}"#), Err(ArgumentError::Limit));
    assert_eq!(search(r#"{"query":"x","server":5}"#), Err(ArgumentError::Server));
    assert_eq!(search(r#"{"query":"x","detail":"all"}"#), Err(ArgumentError::Detail));
    for none in ["{}", r#"{"tools":[]}"#, r#"{"tools":[5]}"#, r#"{"tools":{}}"#] {
        assert_eq!(describe(none), Err(ArgumentError::NoTools), "{none}");
    }
    let many = vec!["\"a.b\""; MOST_TOOLS + 1].join(",");
    assert_eq!(describe(&format!(r#"{{"tools":[{many}]}}"#)), Err(ArgumentError::TooManyTools));
}
