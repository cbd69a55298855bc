use super::*;
use proptest::prelude::*;

#[test]
fn escapes_are_decoded() {
    for (string, expected) in [
        (r#""""#, ""),
        (r#""plain ü""#, "plain ü"),
        (r#""\u0069d""#, "id"),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\ud83D\uDe00!""#, "😀!"),
        (r#""\u0000""#, "\0"),
        (r#""\uffff""#, "\u{ffff}"),
    ] {
        assert_eq!(decode(string.as_bytes()).as_deref(), Some(expected), "{string}");
    }
}

#[test]
fn lone_surrogates_are_not_text() {
    for string in
        [r#""\ud83d""#, r#""\ude00""#, r#""\ud83dx""#, r#""\ud83d\n""#, r#""\ud83d\ud83d""#, r#""\ud83d\u0041""#]
    {
        assert_eq!(decode(string.as_bytes()), None, "{string}");
        assert!(!says(string.as_bytes(), "\u{fffd}"));
    }
}

#[test]
fn every_character_of_ascii_is_written_as_serde_json_reads_it() {
    for byte in 0..0x80_u8 {
        let text = char::from(byte).to_string();
        assert_eq!(serde_json::from_slice::<String>(&string(&text)).unwrap(), text);
    }
}

#[test]
fn text_without_escapes_is_borrowed() {
    assert!(matches!(decode(b"\"tools/call\""), Some(Cow::Borrowed("tools/call"))));
}

proptest! {
    #[test]
    fn what_is_written_is_what_serde_json_reads(text in any::<String>()) {
        let written = string(&text);
        prop_assert_eq!(serde_json::from_slice::<String>(&written).unwrap(), text.clone());
        prop_assert_eq!(decode(&written).unwrap(), text);
    }

    #[test]
    fn decoding_agrees_with_serde_json(text in r#""([ -!#-\[\]-~ü😀]|\\(["\\/bfnrt]|u(d[89a-f]|[0-9A-Fa-f]{2})[0-9A-Fa-f]{2})){0,6}""#) {
        prop_assert_eq!(decode(text.as_bytes()).map(Cow::into_owned), serde_json::from_str::<String>(&text).ok());
    }
}
