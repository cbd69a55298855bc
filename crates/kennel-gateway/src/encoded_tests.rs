use super::*;
use proptest::prelude::*;

fn encode(text: &str) -> String {
    format!("{BEGIN}{}{END}", STANDARD.encode(text))
}

#[test]
fn the_examples_of_the_protocol_are_read() {
    for (header, text) in [
        ("us-west1", "us-west1"),
        ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
        ("=?base64?IHBhZGRlZCA=?=", " padded "),
        ("=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"),
        ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
        ("=?base64??=", ""),
        // Not quite the markers.
        ("=?base64?=", "=?base64?="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("SGVsbG8=?=", "SGVsbG8=?="),
        ("=?Base64?SGVsbG8=?=", "=?Base64?SGVsbG8=?="),
        ("=?base64?SGVsbG8=?= ", "=?base64?SGVsbG8=?= "),
    ] {
        assert_eq!(decode(header).as_deref(), Some(text), "{header}");
    }
}

#[test]
fn what_is_no_base64_of_text_is_nothing() {
    for encoded in
        ["SGVsbG8", "SGVsbG8==", "SGVs!!!bG8=", "SGVsbG9=", " SGVsbG8=", "SGVs bG8=", "SGVsbG8=\n", "=", "_-8="]
    {
        assert_eq!(decode(&format!("{BEGIN}{encoded}{END}")), None, "{encoded}");
    }
    assert_eq!(decode(&format!("{BEGIN}{}{END}", STANDARD.encode(b"\xff\xfe"))), None);
}

proptest! {
    #[test]
    fn what_is_encoded_is_read_again(text in any::<String>()) {
        let header = encode(&text);
        prop_assert_eq!(decode(&header), Some(Cow::Owned(text)));
    }

    #[test]
    fn junk_is_passed_on_or_refused(junk in any::<String>(), begins in any::<bool>(), ends in any::<bool>()) {
        let header = format!("{}{junk}{}", if begins { BEGIN } else { "" }, if ends { END } else { "" });
        match decode(&header) {
            // Only the one spelling that a client would have sent.
            Some(Cow::Owned(text)) => prop_assert_eq!(encode(&text), header),
            Some(Cow::Borrowed(text)) => prop_assert_eq!(text, &header),
            None => prop_assert!(header.starts_with(BEGIN) && header.ends_with(END)),
        }
    }
}
