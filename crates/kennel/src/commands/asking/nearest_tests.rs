use super::{did_you_mean, distance, nearest};

#[test]
fn the_distance_counts_letters_and_swaps() {
    for (left, right, expected) in [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abc", "ab", 1),
        ("abc", "xabc", 1),
        ("abc", "axc", 1),
        ("abc", "acb", 1),
        ("", "abc", 3),
        ("kitten", "sitting", 3),
    ] {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&letters(left), &letters(right)), expected, "{left} {right}");
        assert_eq!(distance(&letters(right), &letters(left)), expected, "{right} {left}");
    }
}

#[test]
fn names_that_are_almost_right_come_first() {
    let names = ["get-sum", "get-env", "echo", "read_file", "write_file", "read_text_file"];
    assert_eq!(nearest("get_sum", names), ["get-sum", "get-env"]);
    assert_eq!(nearest("ehco", names), ["echo"]);
    assert_eq!(nearest("ECHO", names), ["echo"]);
    assert_eq!(nearest("readfile", names), ["read_file"]);
    assert_eq!(nearest("text", names), ["read_text_file"]);
    assert_eq!(nearest("x", ["a", "b"]), [""; 0], "another letter is another word");
    assert_eq!(nearest("zzz", names), [""; 0]);
    assert_eq!(nearest("fi", names), [""; 0], "two letters are in everything");
}

#[test]
fn the_question_is_only_asked_where_there_is_a_guess() {
    assert_eq!(did_you_mean("mesage", ["message", "count"]), "; did you mean `message`?");
    assert_eq!(did_you_mean("ab", ["aa", "bb", "cc"]), "; did you mean `aa` or `bb`?");
    assert_eq!(did_you_mean("mesage", ["count"]), "");
}
