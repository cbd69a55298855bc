use super::{Outcome, show};
use crate::commands::call::saving::Folder;
use serde_json::{Value, json};

fn text(result: &Value) -> String {
    show(result.to_string().as_bytes(), None).text
}

#[test]
fn texts_are_shown_as_they_are() {
    let result = json!({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two\n"}], "structuredContent": {"a": 1}});
    assert_eq!(text(&result), "one\ntwo\n", "the texts say it already");
    assert_eq!(text(&json!({"content": []})), "");
    assert_eq!(text(&json!({"content": [{"type": "text", "text": ""}]})), "");
}

#[test]
fn structured_content_is_shown_where_there_is_no_text() {
    let raw = br#"{"structuredContent":{"z":1.0,"a":[]},"content":[]}"#;
    assert_eq!(show(raw, None).text, "{\n  \"z\": 1.0,\n  \"a\": []\n}\n");
    let pictured =
        json!({"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "structuredContent": 7});
    assert_eq!(text(&pictured), "[image, image/png, 3 bytes]\n7\n");
}

#[test]
fn what_is_no_text_is_described() {
    for (item, line) in [
        (json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}), "[image, image/png, 3 bytes]"),
        (json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}), "[audio, audio/wav, 1 byte]"),
        (json!({"type": "audio", "data": "A A", "mimeType": "audio/wav"}), "[audio, audio/wav, 1 byte]"),
        (json!({"type": "image", "data": "!", "mimeType": "image/png"}), "[image, image/png, its data is not base64]"),
        (json!({"type": "image", "mimeType": "image/png"}), "[image, image/png, without data]"),
        (
            json!({"type": "resource", "resource": {"uri": "test://x", "mimeType": "text/plain", "text": "grün"}}),
            "[resource test://x, text/plain, 5 bytes]",
        ),
        (json!({"type": "resource", "resource": {"uri": "test://x", "blob": "AAAA"}}), "[resource test://x, 3 bytes]"),
        (
            json!({"type": "resource_link", "uri": "test://x", "mimeType": "a/b", "size": 9, "name": "x"}),
            "[link to resource test://x, a/b, 9 bytes]",
        ),
        (json!({"type": "hologram"}), "{\n  \"type\": \"hologram\"\n}"),
    ] {
        assert_eq!(text(&json!({"content": [item]})), format!("{line}\n"));
    }
}

#[test]
fn a_result_that_is_none_is_shown_all_the_same() {
    assert_eq!(show(b"[1]", None).text, "[\n  1\n]\n");
    assert_eq!(show(br#"{"toolResult":1}"#, None).text, "{\n  \"toolResult\": 1\n}\n");
    // JavaScript cuts texts in the middle of a letter, and then no string can hold them.
    let cut = show(br#"{"content":[{"type":"text","text":"a\ud83d"},{"type":"text","text":"b"}]}"#, None).text;
    assert!(cut.contains(r#""text": "a\ud83d""#) && cut.ends_with("b\n"), "{cut}");
}

#[test]
fn a_tool_that_failed_says_so() {
    let outcome = |result: Value| show(result.to_string().as_bytes(), None).outcome;
    assert_eq!(outcome(json!({"content": [], "isError": true})), Outcome::Failed);
    assert_eq!(outcome(json!({"content": [], "isError": false})), Outcome::Done);
    assert_eq!(outcome(json!({"content": []})), Outcome::Done);
}

#[test]
fn what_is_no_text_can_be_saved() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("made/for/it");
    let mut folder = Folder::open(&place, "../tool").unwrap();
    let result = json!({"content": [
        {"type": "image", "data": "AAEC", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///../../x", "mimeType": "text/plain", "text": "hi"}},
        {"type": "image", "data": "!", "mimeType": "image/png"},
        {"type": "text", "text": "said"},
    ]});
    let shown = show(result.to_string().as_bytes(), Some(&mut folder)).text;
    let (first, second) = (place.join("___tool-1.png"), place.join("___tool-2.txt"));
    assert!(shown.starts_with(&format!("[image, image/png, 3 bytes, saved as {}]\n", first.display())), "{shown}");
    assert!(shown.ends_with("[image, image/png, its data is not base64]\nsaid\n"), "{shown}");
    assert_eq!(std::fs::read(first).unwrap(), [0, 1, 2]);
    assert_eq!(std::fs::read(second).unwrap(), b"hi");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2);
}
