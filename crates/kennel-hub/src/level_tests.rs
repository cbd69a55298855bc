use super::*;

fn message(level: &str) -> Message {
    let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":{level}}}}}"#);
    Message::parse(text.into()).expect("a message")
}

#[test]
fn levels_are_known_by_name_and_graver_ones_are_greater() {
    let names = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    let levels: Vec<_> =
        names.iter().map(|name| Level::of(&message(&format!("\"{name}\""))).expect("a level")).collect();
    assert!(levels.is_sorted() && levels.windows(2).all(|pair| pair[0] != pair[1]));
    for (level, name) in levels.iter().zip(names) {
        assert_eq!(level.raw().as_bytes(), format!("\"{name}\"").as_bytes());
    }
}

#[test]
fn what_is_no_level_is_none() {
    for level in ["\"Debug\"", "\"\"", "1", "null", "{}"] {
        assert_eq!(Level::of(&message(level)), None, "{level}");
    }
}
