//! Messages as lines.

use crate::support::{bytes, message};
use kennel_wire::{Id, Message, one_line};

#[test]
fn line_ends_between_tokens_become_spaces() {
    let pretty = "{\n  \"jsonrpc\": \"2.0\",\r\n\t\"method\": \"a\",\r\"params\": {\"x\": \"\\n\"}\n}\n";
    let line = one_line(bytes(pretty));
    assert_eq!(line, "{   \"jsonrpc\": \"2.0\",  \t\"method\": \"a\", \"params\": {\"x\": \"\\n\"} } ");
    assert_eq!(message(std::str::from_utf8(&line).unwrap()).params(), message(pretty).params());
}

#[test]
fn a_line_comes_back_without_a_copy() {
    let line = bytes(r#"{"jsonrpc":"2.0","method":"a","params":{"x":"\n\r\u2028"}}"#);
    let before = line.as_ptr();
    assert_eq!(one_line(line).as_ptr(), before);
    assert_eq!(one_line(bytes("")), "");
}

#[test]
fn a_line_end_is_found_at_every_place() {
    for length in 1..200 {
        for place in 0..length {
            let mut text = vec![b'x'; length];
            text[place] = b'\n';
            let line = one_line(text.clone().into());
            text[place] = b' ';
            assert_eq!(line, text);
        }
    }
}

#[test]
fn a_changed_message_is_written_as_one_line_with_its_end() {
    let message =
        Message::parse(bytes("{\r\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"ping\"\n}\n")).unwrap();
    let line = message.rewrite().id(&Id::number(27)).unwrap().finish_line();
    assert_eq!(line, "{    \"jsonrpc\": \"2.0\",   \"id\": 27,   \"method\": \"ping\" } \n");
    let unchanged = Message::parse(bytes(r#"{"jsonrpc":"2.0","method":"x"}"#)).unwrap().rewrite().finish_line();
    assert_eq!(unchanged, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n");
}
