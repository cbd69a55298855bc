use super::*;

#[test]
fn what_commands_a_terminal_is_replaced() {
    for (text, shown) in [
        ("plain, ünïcode and 漢字\n\ttoo", "plain, ünïcode and 漢字\n\ttoo"),
        ("\u{1b}]52;c;ZXZpbA==\u{7}", "\u{fffd}]52;c;ZXZpbA==\u{fffd}"),
        ("\u{1b}[2J\u{9b}2J\u{90}q\u{9c}", "\u{fffd}[2J\u{fffd}2J\u{fffd}q\u{fffd}"),
        ("one\rtwo\r\nthree\u{85}four", "one\u{fffd}two\nthree\u{fffd}four"),
        ("\u{7f}\u{8}\u{0}", "\u{fffd}\u{fffd}\u{fffd}"),
    ] {
        assert_eq!(printable(text), shown, "{text:?}");
    }
}

#[test]
fn what_misleads_a_reader_is_replaced() {
    for unfit in "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200b}\u{200e}\u{200f}\
                  \u{2060}\u{feff}\u{ad}\u{61c}\u{2028}\u{2029}\u{e0041}\u{e007f}\u{e0100}\u{3164}\u{180e}\u{fff9}"
        .chars()
    {
        let text = format!("a{unfit}b");
        assert_eq!(printable(&text), "a\u{fffd}b", "{text:?}");
    }
    assert_eq!(printable("a\u{200d}b\u{200c}c\u{fe0f}"), "a\u{fffd}b\u{fffd}c\u{fffd}", "hidden in a plain name");
}

#[test]
fn joiners_stay_where_they_mean_something() {
    for text in ["👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}\u{200d}🔥", "می\u{200c}خواهم", "1\u{fe0f}\u{20e3}"]
    {
        assert_eq!(printable(text), text);
    }
    assert_eq!(printable("👩\u{200d}\u{200d}👧"), "👩\u{fffd}\u{fffd}👧", "but not where they hide something");
}

#[test]
fn a_line_is_one_line() {
    assert_eq!(one_line(" a\u{2028}b\n\nc\u{1b}\td "), "a b c\u{fffd} d");
}

#[test]
fn no_line_of_a_message_begins_like_another_message() {
    assert_eq!(
        hanging("a failed: b\nkennel: all is well\n    deep\n\n[x] c"),
        "a failed: b\n  kennel: all is well\n    deep\n\n  [x] c"
    );
    assert_eq!(hanging("one\n  two"), "one\n  two");
}

#[test]
fn json_keeps_its_meaning() {
    assert_eq!(
        json_for_terminal("{\"a\":\r\n\"\u{9b}2J\u{202e}\u{7f}\u{e0041}é\"}"),
        "{\"a\": \n\"\\u009b2J\\u202e\\u007f\\udb40\\udc41é\"}"
    );
}
