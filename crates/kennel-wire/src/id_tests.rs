use super::*;
use std::collections::HashSet;

fn id(spelling: &str) -> Id {
    Id::parse(spelling.as_bytes()).unwrap()
}

const SPELLINGS: &[&str] = &[
    "0",
    "-0",
    "1",
    "1.0",
    "1e0",
    "-1",
    "1.5",
    "9007199254740993",
    "123456789012345678901234567890",
    "\"\"",
    "\"0\"",
    "\"1\"",
    "\"\\u0031\"",
    "\"ü\"",
    "\"\\ud800\"",
];

#[test]
fn ids_are_equal_only_if_they_are_spelled_alike() {
    let ids: HashSet<Id> = SPELLINGS.iter().map(|spelling| id(spelling)).collect();
    assert_eq!(ids.len(), SPELLINGS.len());
    for spelling in SPELLINGS {
        assert!(ids.contains(&id(spelling)));
        assert_eq!(id(spelling).spelling(), spelling.as_bytes());
        assert_eq!(id(spelling).to_string(), *spelling);
    }
}

#[test]
fn ids_of_every_length_are_kept() {
    for length in 0..200 {
        let text = "x".repeat(length);
        let id = Id::string(&text);
        assert_eq!(id.spelling(), format!("\"{text}\"").as_bytes());
        assert_eq!(id.clone(), id);
        assert_eq!(id.as_str().as_deref(), Some(text.as_str()));
    }
}

#[test]
fn a_long_id_does_not_flood_a_log() {
    assert!(Id::string(&"ü".repeat(100_000)).to_string().len() < 200);
    assert_eq!(format!("{:?}", Id::string("a")), "Id(\"a\")");
}

#[test]
fn an_id_tells_its_text_or_its_number() {
    for (spelling, text, number) in [
        ("\"1\"", Some("1"), None),
        ("\"\\u0031\"", Some("1"), None),
        ("\"\\ud800\"", None, None),
        ("1", None, Some(1)),
        ("-7", None, Some(-7)),
        ("1.0", None, Some(1)),
        ("1.5", None, None),
        ("1e3", None, None),
        ("1.0e3", None, None),
        ("9223372036854775807", None, Some(i64::MAX)),
        ("9223372036854775808", None, None),
    ] {
        assert_eq!(id(spelling).as_str().as_deref(), text, "{spelling}");
        assert_eq!(id(spelling).as_integer(), number, "{spelling}");
    }
    assert_eq!(Id::number(i64::MIN).as_integer(), Some(i64::MIN));
}

#[test]
fn other_values_are_no_ids() {
    for (spelling, problem) in [
        ("null", Problem::NullId),
        ("true", Problem::IdType(ValueKind::Bool)),
        ("{}", Problem::IdType(ValueKind::Object)),
        ("[1]", Problem::IdType(ValueKind::Array)),
    ] {
        assert_eq!(*Id::parse(spelling.as_bytes()).unwrap_err().problem(), problem);
    }
    assert!(Id::parse(b"1 2").is_err());
}
