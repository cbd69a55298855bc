use super::*;
use serde_json::json;

fn asked(arguments: &serde_json::Value) -> String {
    question("files", "write", &arguments.to_string()).unwrap()
}

#[test]
fn short_arguments_are_shown_as_they_are() {
    let text = asked(&json!({ "path": "/tmp/a", "count": 2, "deep": { "list": [true, null], "empty": {} } }));
    for line in [
        "Code wants to call files.write with",
        "path: \"/tmp/a\"",
        "count: \"2\"",
        "deep.list[0]: \"true\"",
        "deep.list[1]: \"null\"",
        "deep.empty: \"{}\"",
    ] {
        assert!(text.lines().any(|known| known == line), "no {line:?} in\n{text}");
    }
    assert!(!text.contains("SHA-256"), "{text}");
}

#[test]
fn a_long_value_hides_no_other_and_says_how_long_it_is() {
    let text = asked(&json!({ "a": "x".repeat(100_000), "path": "/etc/shadow", "z": "y".repeat(100_000) }));
    assert!(text.contains("path: \"/etc/shadow\""), "{text}");
    assert!(text.contains("99,600 letters left out"), "{text}");
    assert!(text.contains("SHA-256") && text.len() < 2000, "{text}");
}

#[test]
fn both_ends_of_a_long_value_are_seen() {
    let text = asked(&json!({ "path": format!("/tmp/{}/home/ann/.ssh/id_rsa", "./".repeat(1000)) }));
    assert!(text.contains("\"/tmp/./") && text.contains("/home/ann/.ssh/id_rsa\""), "{text}");
}

#[test]
fn what_cannot_be_seen_is_spelled_out() {
    let text = asked(&json!({ "a\nb: \"fake\"": "x\u{1b}[2J\u{202e}y\u{200b}\r\u{2028}", "\u{202e}": 1 }));
    let is_seen = |letter: char| letter == '\n' || !letter.is_control();
    assert!(text.chars().all(is_seen), "{text:?}");
    assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{2028}']), "{text:?}");
    assert!(text.contains("\\u{202e}") && text.contains("\\u{1b}[2J"), "{text:?}");
    assert_eq!(text.lines().count(), 3, "no line is made up: {text}");
}

#[test]
fn a_name_that_is_there_twice_is_shown_twice() {
    let text = question("files", "write", r#"{"path":"/tmp/a","path":"/etc/shadow"}"#).unwrap();
    assert!(text.contains("/tmp/a") && text.contains("/etc/shadow"), "{text}");
}

#[test]
fn many_values_inside_of_one_argument_hide_no_other_argument() {
    let text = asked(&json!({ "list": (0..1000).collect::<Vec<_>>(), "path": "/etc/shadow" }));
    assert!(text.contains("988 more values inside that are not shown"), "{text}");
    assert!(text.contains("path: \"/etc/shadow\"") && text.contains("SHA-256"), "{text}");
}

#[test]
fn more_arguments_than_can_be_shown_are_said() {
    let many: serde_json::Map<_, _> = (0..80).map(|number| (format!("a{number}"), json!("x".repeat(1000)))).collect();
    let text = asked(&many.into());
    assert!(text.contains("There are 30 more arguments that are not shown"), "{text}");
    assert!(text.contains("SHA-256") && text.chars().count() < 12_000, "{}", text.len());
}

#[test]
fn anything_is_bounded() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(90), "]".repeat(90));
    for arguments in ["{}", &deep] {
        let text = question(&"s".repeat(1000), &"t".repeat(1000), arguments).unwrap();
        assert!(text.len() < 4000, "{text}");
    }
    for arguments in ["", "[]", "3", &"x".repeat(100_000), "{\"\\ud800\":1}", "{\"a\":{\"\\ud800\":1}}"] {
        assert_eq!(question("files", "write", arguments), None, "what cannot be shown is not asked");
    }
}
