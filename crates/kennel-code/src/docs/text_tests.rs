use super::*;

#[test]
fn a_line_is_cut_after_a_sentence_or_else_after_a_word() {
    assert_eq!(one_line("One  two\n\tthree", 20), "One two three");
    assert_eq!(one_line("First sentence. Second one is longer.", 25), "First sentence. …");
    assert_eq!(one_line("A. But this one is much longer", 25), "A. But this one is much…");
    assert_eq!(one_line(&"x".repeat(100), 10), "xxxxxxxxx…");
    assert_eq!(one_line("", 10), "");
}

#[test]
fn what_hides_something_is_left_out() {
    assert_eq!(one_line("a\u{0}b\u{202e}c\u{200b}d\u{e0041}", 20), "a b c d");
    assert_eq!(paragraphs("a\u{0}b\u{202e}c\nd\u{7}", 20), "abc\nd");
}

#[test]
fn a_summary_is_the_first_sentence() {
    assert_eq!(summary("Reads a file. Fast.", 100), "Reads a file.");
    assert_eq!(summary("Reads files, e.g. texts. Fast.", 100), "Reads files, e.g. texts.");
    assert_eq!(summary("\n\n  Reads a file\nwith care. ", 100), "Reads a file");
}

#[test]
fn paragraphs_stay_until_there_is_no_room() {
    assert_eq!(paragraphs("\na\n\n\n\nb  \n  c\n", 50), "a\n\nb\n  c");
    assert_eq!(paragraphs("a line\nand another line", 10), "a line …");
    assert_eq!(paragraphs("One sentence here. And more that is cut.", 30), "One sentence here. …");
}

#[test]
fn a_docstring_cannot_be_left() {
    assert_eq!(in_docstring(r#"a """ b \n c"#), r"a ''' b \\n c");
    assert!(!in_docstring("\"\"\"\"\"").contains("\"\"\""));
}
