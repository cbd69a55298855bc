//! Any text with any secret: it is found in no output, whatever was cut, and a terminal finds nothing to obey.
#![no_main]

use kennel_redact::{Redactor, cut, cut_off, is_unfit, json_for_terminal, one_line, printable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (String, String, usize)| {
    let (text, secret, most) = input;
    let redactor = Redactor::new([secret.as_str()]);
    for text in [text.clone(), cut(&text, most).into_owned(), cut_off(text.as_bytes().get(..most).unwrap_or_default())] {
        let redacted = redactor.redact(&text);
        let is_in_marker = secret.trim().chars().any(|letter| "[redacted]".contains(letter));
        assert!(redactor.is_empty() || is_in_marker || !redacted.contains(secret.trim()), "{secret:?} in {redacted:?}");
        let shown = printable(&redacted);
        assert!(!shown.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')), "{shown:?}");
        assert!(!one_line(&text).contains('\n'));
    }
    let json = serde_json::to_string(&text).unwrap();
    let shown = json_for_terminal(&json);
    assert!(!shown.chars().any(|letter| is_unfit(letter)), "{shown:?}");
    assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
});
