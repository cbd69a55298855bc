use super::*;
use proptest::prelude::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("JSON")
}

#[test]
fn half_characters_do_not_cost_the_rest_of_a_text() {
    let text = text_of(&raw(r#""cut \ud83d here""#)).expect("a text");
    assert!(text.starts_with("cut ") && text.ends_with(" here"), "{text:?}");
    assert_eq!(text_of(&raw(r#""a\nb""#)).as_deref(), Some("a\nb"));
    for other in ["5", "null", "[1]", "{}", "true"] {
        assert_eq!(text_of(&raw(other)), None, "{other}");
    }
}

#[test]
fn a_summary_is_the_first_sentence_on_one_line() {
    assert_eq!(summary("Reads a file. Fails if it is not there.", 100), "Reads a file.");
    assert_eq!(summary("\n  Reads a file\nin full", 100), "Reads a file");
    assert_eq!(summary("Version 1.5 of it", 100), "Version 1.5 of it");
    assert_eq!(summary("Reads a very long file", 12), "Reads a very…");
    assert_eq!(summary("Unbreakable", 5), "Unbr…");
    assert_eq!(one_line("a\u{1b}[31mb\tc", 100), "a [31mb c");
}

proptest! {
    #[test]
    fn any_text_can_be_cut_anywhere(text in "\\PC{0,80}", longest in 1_usize..90) {
        let line = one_line(&text, longest);
        prop_assert!(line.chars().count() <= longest + 1);
        prop_assert!(start(&text, longest).len() <= longest);
        let (first, rest) = first_sentence(&text);
        prop_assert_eq!(format!("{first}{rest}"), text.trim_start());
    }
}
