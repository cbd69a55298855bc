//! What a seal shows.

use super::*;

fn answers() -> Answers {
    Answers::from([("step “1”".to_owned(), r#"{"b":1.0, "a":"\u0041"}"#.to_owned())])
}

#[test]
fn a_state_comes_back_as_it_was() {
    let purpose = purpose(("tools/call", "a tool"), r#"{"x":1}"#);
    assert_eq!(open(&purpose, &seal(&purpose, &answers())).ok(), Some(answers()));
}

#[test]
fn a_change_anywhere_is_seen() {
    let state = seal("p", &answers());
    for place in 0..state.len() {
        let mut bytes = state.clone().into_bytes();
        bytes[place] ^= 1;
        if let Ok(changed) = String::from_utf8(bytes) {
            assert!(open("p", &changed).is_err(), "{changed}");
        }
    }
    assert!(open("p", &format!("{state}-TAMPERED")).is_err());
    assert!(open("p", "").is_err());
}

#[test]
fn a_state_is_for_one_request_however_that_is_spelled() {
    let state = seal(&purpose(("tools/call", "t"), r#"{"a":1,"b":2}"#), &answers());
    assert!(open(&purpose(("tools/call", "t"), r#"{ "b": 2, "a": 1 }"#), &state).is_ok());
    assert!(open(&purpose(("tools/call", "t"), r#"{"a":1,"b":3}"#), &state).is_err());
    assert!(open(&purpose(("tools/call", "u"), r#"{"a":1,"b":2}"#), &state).is_err());
    assert!(open(&purpose(("prompts/get", "t"), r#"{"a":1,"b":2}"#), &state).is_err());
}

#[test]
fn the_signature_is_the_one_of_the_standard() {
    // Computed by OpenSSL.
    assert_eq!(hex(&signature("what")), "f71f265b890f4841c9a423a432d376dd2691d5a366847a5544010aaef7330f95");
}
