use super::*;
use crate::cutting::{cut, cut_off};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;
use std::fmt::Write;

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nEFAASCBKcwggSjAgEAAoIBAQ/+\nshort\n-----END PRIVATE KEY-----\n";

fn redacted(secrets: &[&str], text: &str) -> String {
    Redactor::new(secrets.iter().copied()).redact(text).into_owned()
}

#[test]
fn values_are_taken_out_wherever_they_stand() {
    assert_eq!(redacted(&["hunter2!"], "it is hunter2!, twice hunter2!"), "it is [redacted], twice [redacted]");
    assert_eq!(redacted(&["secret", "secret-and-more"], "I secret-and-more, secret"), "I [redacted], [redacted]");
    assert_eq!(redacted(&["abcdef123", "123xyzw"], "abcdef123xyzw!"), "[redacted]!", "none leaves a part of another");
    assert_eq!(redacted(&["short", ""], "short"), "short", "what is everywhere is no secret");
    assert_eq!(redacted(&["value\n"], "the-value of values"), "the-value of values");
    assert_eq!(redacted(&["a-value\n"], "the a-value."), "the [redacted].", "a file ends in a line end");
}

#[test]
fn each_line_of_a_key_is_taken_out() {
    for line in KEY.lines().filter(|line| line.len() > 8 && !line.starts_with('-')) {
        assert_eq!(redacted(&[KEY], &format!("read: {line}")), "read: [redacted]");
        assert_eq!(redacted(&[KEY], &format!("read: {}", STANDARD.encode(line))).find("TUlJ"), None);
    }
    let spelled = KEY.replace('\n', "\\n").replace('/', "\\/");
    assert_eq!(redacted(&[KEY], &format!("{{\"key\":\"{spelled}\"}}")), "{\"key\":\"[redacted]\\n\"}");
    let spelled = KEY.replace('\n', "\\r\\n");
    assert!(!redacted(&[KEY], &spelled).contains("MIIE") && !redacted(&[KEY], &spelled).contains("EFAA"));
}

#[test]
fn the_beginning_of_a_value_is_taken_out_where_the_text_was_cut() {
    let secret = "s3cr3t/value\"of é many";
    for most in 0..40 {
        let text = format!("found {secret} here");
        let shown = redacted(&[secret], &cut(&text, most));
        assert!(!shown.contains("s3cr3"), "{most}: {shown}");
    }
    assert_eq!(redacted(&[secret], &cut_off("it: s3cr3t/va".as_bytes())), "it: [redacted]…");
    assert_eq!(redacted(&[secret], "it: s3cr3t/va"), "it: s3cr3t/va", "a text that is whole says what it says");
}

#[test]
fn a_redactor_of_nothing_changes_nothing() {
    let redactor = Redactor::new(["abc"]);
    assert!(redactor.is_empty() && matches!(redactor.redact("abc…"), Cow::Borrowed("abc…")));
}

/// The ways to spell a value that are promised.
fn spelled(way: usize, secret: &str) -> String {
    let mut text = String::new();
    match way {
        0 => text.push_str(secret),
        1 => text.push_str(&secret.replace('\\', "\\\\").replace('"', "\\\"").replace('/', "\\/")),
        2 => secret.encode_utf16().for_each(|unit| write!(text, "\\u{unit:04x}").unwrap()),
        3 => secret.encode_utf16().for_each(|unit| write!(text, "\\u{unit:04X}").unwrap()),
        4 => secret.bytes().for_each(|byte| match byte {
            b'A'..=b'Z' => text.push(char::from(byte)),
            _ => write!(text, "%{byte:02X}").unwrap(),
        }),
        5 => secret.bytes().for_each(|byte| match byte {
            b' ' => text.push('+'),
            b'A'..=b'Z' => text.push(char::from(byte)),
            _ => write!(text, "%{byte:02x}").unwrap(),
        }),
        6 => text = STANDARD.encode(secret),
        7 => text = URL_SAFE.encode(format!("u:{secret}")),
        8 => text = STANDARD.encode(format!("{secret}:p")),
        9 => text = STANDARD.encode(format!("ab:{secret}")),
        10 => secret.bytes().for_each(|byte| write!(text, "{byte:02x}").unwrap()),
        11 => secret.bytes().for_each(|byte| write!(text, "{byte:02X}").unwrap()),
        _ => text = spelled(1, &spelled(1, secret)),
    }
    text
}

/// The longest piece of the spelled value that can be seen.
fn seen(shown: &str, spelled: &str) -> usize {
    let spelled: Vec<char> = spelled.chars().collect();
    let is_seen =
        |length: &usize| spelled.windows(*length).any(|piece| shown.contains(&piece.iter().collect::<String>()));
    (1..=spelled.len()).take_while(is_seen).last().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_spelling_the_surroundings_and_the_cut_no_secret_is_seen(
        secret in "[A-Z][A-Z\"\\\\/&é ]{6,60}[A-Z]",
        others in proptest::collection::vec("[A-Z]{6,20}", 0..4),
        way in 0..13_usize,
        before in "[0-9 .,]{0,40}",
        after in "[0-9 .,]{0,40}",
        most in 0..400_usize,
    ) {
        let value = spelled(way, &secret);
        let text = format!("{before}{value}{after}");
        let redactor = Redactor::new(others.iter().map(String::as_str).chain([secret.as_str()]));
        // An escape has up to six letters; one of base64 that holds a neighbour's bits too stays at each end.
        for text in [text.clone(), cut(&text, most).into_owned(), cut_off(text.as_bytes().get(..most).unwrap_or(text.as_bytes()))] {
            let shown = redactor.redact(&text);
            let most_seen = if matches!(way, 2 | 3) { 3 * 6 + 5 } else if way == 4 || way == 5 { 3 * 3 + 2 } else if way == 12 { 3 * 4 + 3 } else { 7 };
            prop_assert!(seen(&shown, &value) <= most_seen, "{text} is shown as {shown}");
        }
    }

    #[test]
    fn no_text_breaks_it_and_no_secret_stays(text in ".{0,200}", secret in "[%\\\\ux0-9A-F…\n +é]{6,20}", at in 0..200_usize) {
        let at = text.floor_char_boundary(at);
        let text = format!("{}{secret}{}", &text[..at], &text[at..]);
        let redactor = Redactor::new([secret.as_str()]);
        let shown = redactor.redact(&text);
        prop_assert!(redactor.is_empty() || !shown.contains(secret.trim()), "{secret:?} in {shown:?}");
        let shown = crate::printable(&shown);
        prop_assert!(!shown.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')));
    }
}
