use super::super::stub::Detail;
use super::*;

fn server(name: &str, description: &str, tools: &[(&str, &str)]) -> Arc<Server> {
    let definition = |(name, description): &(&str, &str)| {
        let json = serde_json::json!({"name": name, "description": description,
            "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}});
        RawJson::parse(json.to_string()).expect("JSON")
    };
    Arc::new(Server::read(name, description, tools.iter().map(definition).collect()))
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    catalog.replace(server(
        "File System",
        "Files. All of them.",
        &[("read-file", "Read a file"), ("write", "Write a file")],
    ));
    catalog.replace(server("mail.example", "", &[("send.now", "Send an email message")]));
    catalog
}

fn search(catalog: &Catalog, arguments: &str) -> String {
    let arguments = RawJson::parse(arguments.to_owned()).expect("JSON");
    catalog.search(&SearchArguments::read(Some(&arguments)).expect("arguments"))
}

fn describe(catalog: &Catalog, tools: &[&str], detail: Detail) -> String {
    catalog.describe(&DescribeArguments { tools: tools.iter().map(|tool| (*tool).to_owned()).collect(), detail })
}

#[test]
fn searches_find_tools_as_they_are_called() {
    let catalog = catalog();
    assert_eq!(
        search(&catalog, r#"{"query":"read a file","limit":1}"#),
        "mcp_file_system.read_file(path: str)  # Read a file"
    );
    assert_eq!(search(&catalog, r#"{"query":"email","detail":"names"}"#), "mcp_mail_example.send_now");
    assert!(search(&catalog, r#"{"query":"email","server":"file_system"}"#).starts_with("No tool matches."));
    assert!(search(&catalog, r#"{"query":"email","servers":[]}"#).starts_with("No tool matches."));
    let unknown = search(&catalog, r#"{"query":"email","server":"nobody"}"#);
    assert!(unknown.contains("\"nobody\"") && unknown.contains("file_system, mail_example"), "{unknown}");
}

#[test]
fn tools_are_described_by_every_name_that_they_have() {
    let catalog = catalog();
    for called in ["file_system.read_file", "mcp_file_system.read_file", "File System.read-file"] {
        assert_eq!(describe(&catalog, &[called], Detail::Names), "mcp_file_system.read_file", "{called}");
    }
    for called in ["mail.example.send.now", "mail_example.send_now"] {
        assert_eq!(describe(&catalog, &[called], Detail::Names), "mcp_mail_example.send_now", "{called}");
    }
    for called in ["file_system.*", "file_system", "File System.*"] {
        let wanted = "mcp_file_system.read_file\nmcp_file_system.write";
        assert_eq!(describe(&catalog, &[called], Detail::Names), wanted, "{called}");
    }
    let of_server = |tools: Option<&[String]>| catalog.describe(&DescribeArguments::of_server("file_system", tools));
    assert_eq!(of_server(None).matches("async def ").count(), 2);
    assert!(of_server(Some(&["read-file".to_owned()])).contains("async def read_file(path: str):"));
    let wrong = describe(&catalog, &["file_system.none", "nobody.x", "file_system.write"], Detail::Names);
    let lines: Vec<&str> = wrong.lines().collect();
    assert!(lines[0] == "mcp_file_system.write" && lines[1].contains("no tool \"none\""), "{wrong}");
    assert!(lines[2].contains("no server in \"nobody.x\""), "{wrong}");
}

#[test]
fn servers_come_and_go() {
    let mut catalog = catalog();
    catalog.replace(server("File System", "", &[("look", "Look at a file")]));
    assert_eq!(search(&catalog, r#"{"query":"file","detail":"names"}"#), "mcp_file_system.look");
    catalog.replace(server("file-system", "", &[("other", "Another file")]));
    assert_eq!(catalog.server("file-system").map(|(alias, _)| alias), Some("file_system_2"));
    let only = catalog.only(|name| name == "file-system");
    assert_eq!(search(&only, r#"{"query":"file","detail":"names"}"#), "mcp_file_system_2.other");
    assert_eq!(only.servers().count(), 1);
    // What is not there takes nobody's place.
    let look = r#"{"query":"look at a file","detail":"names","limit":1}"#;
    assert_eq!(search(&catalog, look), "mcp_file_system.look");
    assert_eq!(search(&only, look), "mcp_file_system_2.other");
    catalog.remove("File System");
    assert_eq!(search(&catalog, look), "mcp_file_system.other");
    assert_eq!(search(&catalog, r#"{"query":"file","detail":"names"}"#), "mcp_file_system.other");
}

#[test]
fn the_box_is_told_of_all_servers() {
    let told: serde_json::Value = serde_json::from_slice(catalog().for_box().as_bytes()).expect("JSON");
    assert_eq!(told.as_array().map(Vec::len), Some(2));
    assert_eq!((&told[0]["name"], &told[0]["alias"]), (&"File System".into(), &"file_system".into()));
    assert_eq!((&told[0]["description"], &told[0]["tools"][0]["python"]), (&"Files.".into(), &"read_file".into()));
    assert_eq!(told[1]["tools"][0]["name"], "send.now");
}

#[test]
fn the_manual_is_short_and_lists_servers_within_bounds() {
    let empty = Catalog::default().manual();
    assert!(empty.len() <= 3 * 1024, "{}", empty.len());
    assert!(empty.ends_with("## Servers\nNone yet.\n"), "{empty}");
    let manual = catalog().manual();
    assert!(manual.contains("- `mcp_file_system`: 2 tools. Files.\n- `mcp_mail_example`: 1 tool\n"), "{manual}");
    let mut many = Catalog::default();
    for number in 0..500 {
        many.replace(server(&format!("server{number}"), &"long words ".repeat(100), &[]));
    }
    let manual = many.manual();
    assert!(manual.len() <= 3 * 1024 + manual::MOST_SERVERS * 200, "{}", manual.len());
    assert!(manual.contains("… and 460 more"), "{manual}");
}
