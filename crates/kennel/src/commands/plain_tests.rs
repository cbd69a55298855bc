use super::{one_line, printable};

#[test]
fn what_commands_a_terminal_is_replaced() {
    assert_eq!(printable("a\u{1b}[2Jb\u{7}\u{9b}0m\rc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}0m\u{fffd}c\u{fffd}d");
    assert_eq!(printable("lines\r\nand\ttabs\nand ünïcode 🐕\n"), "lines\nand\ttabs\nand ünïcode 🐕\n");
    assert_eq!(one_line(" a\n\n b\u{1b}\tc "), "a b\u{fffd} c");
}
