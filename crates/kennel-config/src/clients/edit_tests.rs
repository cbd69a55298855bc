use super::*;

const PATH: &[&str] = &["mcpServers"];

fn put(name: &str) -> Change {
    let command = ("command".to_owned(), Node::text("x"));
    Change::Put { path: PATH, name: name.to_owned(), value: Value::Table(vec![command]).into() }
}

fn json(text: &str, changes: &[Change]) -> Result<String, ReadError> {
    edit(Path::new("list.json"), text, changes)
}

#[test]
fn a_list_is_made_where_there_is_none() {
    let made = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n";
    assert_eq!(json("", &[put("a")]).ok().as_deref(), Some(made));
    assert_eq!(json("{}\n", &[put("a")]).ok().as_deref(), Some(made));
    let commented = json("// mine\n{\"x\": 1}\n", &[put("a")]).expect("a change");
    assert!(commented.starts_with("// mine\n{\n  \"x\": 1,\n"), "{commented}");
}

#[test]
fn of_names_that_come_twice_the_last_is_changed() {
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"1\"}}, \"mcpServers\": {\"a\": {\"command\": \"2\"}}}";
    let after = json(text, &[put("a")]).expect("a change");
    assert_eq!(after, text.replace("\"2\"", "\"x\""));
    let gone = json(text, &[Change::Remove { path: PATH, name: "a".to_owned() }]).expect("a change");
    assert!(gone.contains("\"1\"") && !gone.contains("\"2\""), "{gone}");
}

#[test]
fn what_is_in_the_way_is_not_thrown_away() {
    for text in ["{\"mcpServers\": 5}", "[1]", "{\"mcpServers\": null}"] {
        assert!(matches!(json(text, &[put("a")]), Err(ReadError::Kind { .. })), "{text}");
    }
}

#[test]
fn a_file_that_says_so_already_stays_as_it_is() {
    // Line ends of both kinds, which nothing but a change would make alike.
    let text = "[mcpServers.a]\r\ncommand = \"x\"\n";
    assert_eq!(edit(Path::new("list.toml"), text, &[put("a")]).ok().as_deref(), Some(text));
}

#[test]
fn items_are_added_once() {
    let change = [Change::Append { list: &["mcp", "excluded"], item: Node::text("a") }];
    let once = json("{\"mcp\": {\"excluded\": [\"b\"]}}", &change).expect("a change");
    assert_eq!(once, "{\"mcp\": {\"excluded\": [\"b\", \"a\"]}}");
    assert_eq!(json(&once, &change).ok(), Some(once));
}

proptest::proptest! {
    #[test]
    fn whatever_a_file_says_it_is_changed_or_refused(text in r#"[\[\]{}":,/* a1\n\\]{0,40}"#, is_toml: bool) {
        let file = Path::new(if is_toml { "list.toml" } else { "list.json" });
        if let Ok(after) = edit(file, &text, &[put("a")]) {
            let document = Document::parse(file, Language::of(file), &after).expect("what was written can be read");
            proptest::prop_assert_eq!(document.root.at(&["mcpServers", "a", "command"]), Some(&Node::text("x")));
            proptest::prop_assert_eq!(edit(file, &after, &[put("a")]).ok(), Some(after));
        }
    }
}
