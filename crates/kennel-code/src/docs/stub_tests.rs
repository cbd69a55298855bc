use super::*;

fn shown(definitions: &[&str], detail: Detail) -> String {
    let definitions: Vec<RawJson> =
        definitions.iter().map(|json| RawJson::parse((*json).to_owned()).expect("JSON")).collect();
    let tools = Tool::read_all(&definitions);
    let shown = tools.iter().zip(&definitions).map(|(tool, definition)| Shown { alias: "fs", tool, definition });
    stub(&shown.collect::<Vec<_>>(), detail)
}

const EDIT: &str = r#"{"name":"edit-file","description":"Edits a file. With care.","inputSchema":{"type":"object","required":["path","edits"],
    "properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","required":["old"],
    "properties":{"old":{"type":"string","description":"What to look for"},"new":{"type":"string"}}}}}}}"#;
const PLAIN: &str = r#"{"name":"now","inputSchema":{"type":"object","properties":{}}}"#;
const OPTIONAL: &str =
    r#"{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":["string","null"]}},"required":[]}}"#;

#[test]
fn tools_are_shown_in_as_much_detail_as_is_wanted() {
    assert_eq!(shown(&[EDIT, PLAIN], Detail::Names), "mcp_fs.edit_file\nmcp_fs.now");
    assert_eq!(
        shown(&[EDIT, PLAIN], Detail::Signatures),
        "mcp_fs.edit_file(path: str, edits: list[Edit])  # Edits a file.\n  Edit = {old: str, new?: str}\nmcp_fs.now()"
    );
    let full = "# await mcp_fs.NAME(...)\nclass Edit(TypedDict):\n    old: str  # What to look for\n    new: NotRequired[str]\n\n\
                async def edit_file(path: str, edits: list[Edit]):\n    \"\"\"Edits a file. With care.\n    \
                (tool \"edit-file\" of the server)\n    \"\"\"\n\nasync def now(): ...";
    assert_eq!(shown(&[EDIT, PLAIN], Detail::Full), full);
    assert_eq!(shown(&[OPTIONAL], Detail::Signatures), "mcp_fs.x(*, a: str = None)");
    assert_eq!(shown(&[PLAIN], Detail::Schema), format!("mcp_fs.now {PLAIN}"));
}

#[test]
fn classes_that_stand_there_already_do_not_come_again() {
    let other = EDIT.replace("edit-file", "edit_again");
    assert_eq!(shown(&[EDIT, &other], Detail::Full).matches("class Edit").count(), 1);
}

#[test]
fn what_does_not_fit_is_named() {
    let definition = RawJson::parse(EDIT.to_owned()).expect("JSON");
    let tool = Tool::read(&definition);
    let many = vec![Shown { alias: "fs", tool: &tool, definition: &definition }; 5_000];
    for detail in [Detail::Names, Detail::Signatures, Detail::Full, Detail::Schema] {
        let text = stub(&many, detail);
        assert!(text.len() < 2 * MOST_BYTES, "{detail:?}: {}", text.len());
        assert!(text.lines().last().is_some_and(|last| last.contains("… and ")), "{detail:?}");
    }
}

#[test]
fn details_are_read_as_they_are_said() {
    for (text, detail) in [
        ("names", Detail::Names),
        ("signatures", Detail::Signatures),
        ("full", Detail::Full),
        ("schema", Detail::Schema),
    ] {
        assert_eq!(Detail::read(text), Some(detail));
    }
    assert_eq!(Detail::read("all"), None);
}
