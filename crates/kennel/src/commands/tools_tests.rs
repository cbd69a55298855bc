use super::{first_sentence, table, wrapped};
use crate::commands::asking::Tool;
use serde_json::json;

fn tools() -> Vec<Tool> {
    let tool = |name: &str, description: &str, names: &[&str], required: &[&str]| {
        let properties: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        let schema = json!({"type": "object", "properties": properties, "required": required});
        Tool::read(&json!({"name": name, "description": description, "inputSchema": schema}).to_string()).unwrap()
    };
    vec![
        tool("echo", "Returns its message. And more.", &["message"], &["message"]),
        tool(
            "write_file",
            "Writes a text into a file of the directories that are allowed",
            &["create", "path", "text"],
            &["path"],
        ),
        tool("pid", "", &[], &[]),
    ]
}

#[test]
fn a_program_gets_one_line_for_each_tool() {
    let expected = "\
echo        message               Returns its message.
write_file  path [create] [text]  Writes a text into a file of the directories that are allowed
pid
";
    assert_eq!(table(&tools(), None), expected);
}

#[test]
fn a_terminal_gets_columns_that_fit() {
    let text = table(&tools(), Some(72));
    let expected = "\
echo        message               Returns its message.
write_file  path [create] [text]  Writes a text into a file of the
                                  directories that are allowed
pid
";
    assert_eq!(text, expected);
    for width in 72..120 {
        let text = table(&tools(), Some(width));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
    }
}

#[test]
fn names_do_not_command_the_terminal() {
    let tool = Tool::read("{\"name\":\"a\\u001b[2J\",\"description\":\"b\\u0007\"}").unwrap();
    assert!(!table(&[tool], None).contains(['\u{1b}', '\u{7}']));
}

#[test]
fn the_first_sentence_is_found() {
    for (text, sentence) in [
        ("One. Two.", "One."),
        ("One, e.g. this one. Two.", "One, e.g. this one."),
        ("Version 1.5 of it! Two", "Version 1.5 of it!"),
        ("\n  One\n  goes on\n\n  Two", "One goes on"),
        ("No end", "No end"),
        ("", ""),
        ("Grüße. Ähm.", "Grüße."),
    ] {
        assert_eq!(first_sentence(text), sentence);
    }
}

#[test]
fn words_that_are_too_long_are_broken() {
    assert_eq!(wrapped("a bcdefgh ij", 3), ["a", "bcd", "efg", "h", "ij"]);
    assert_eq!(wrapped("ab cd", 5), ["ab cd"]);
    assert_eq!(wrapped("", 5), [""; 0]);
}
