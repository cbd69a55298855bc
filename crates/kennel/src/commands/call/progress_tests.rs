use super::in_words;
use serde_json::json;

#[test]
fn progress_is_told_in_a_few_words() {
    for (params, words) in [
        (json!({"progress": 50, "total": 100}), Some("50 %")),
        (
            json!({"progress": 1, "total": 3, "message": "fetching\u{1b}[2J\n pages"}),
            Some("33 % fetching\u{fffd}[2J pages"),
        ),
        (json!({"progress": 7, "total": 3}), Some("100 %")),
        (json!({"progress": 7}), Some("7")),
        (json!({"progress": 7.5, "total": 0}), Some("7.5")),
        (json!({"total": 3}), None),
    ] {
        assert_eq!(in_words(&params).as_deref(), words, "{params}");
    }
    let long = in_words(&json!({"progress": 1, "message": "x".repeat(1000)}));
    assert!(long.is_some_and(|text| text.len() < 80));
}
