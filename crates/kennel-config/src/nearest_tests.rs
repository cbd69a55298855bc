use super::*;

const KEYS: [&str; 6] = ["command", "args", "env", "idle-stop", "require-tools", "url"];

#[test]
fn a_typing_error_finds_its_word() {
    let cases = [("comand", "command"), ("arg", "args"), ("idle_stop", "idle-stop"), ("requireTools", "require-tools")];
    for (word, meant) in cases {
        assert_eq!(nearest(word, KEYS).first(), Some(&meant), "{word}");
    }
}

#[test]
fn two_letters_in_the_wrong_order_are_one_mistake() {
    assert_eq!(nearest("evn", KEYS), ["env"]);
}

#[test]
fn nothing_is_offered_for_what_nobody_meant() {
    for word in ["", "x", "completely-different", "zzz"] {
        assert_eq!(did_you_mean(word, KEYS), None, "{word}");
    }
}
