//! One entry that points a client at Kennel: in the client's form, found again, taken out, and taken back.

use crate::scene::Scene;
use kennel_config::clients::{
    Client, Export, KENNEL_NAME, Records, UndoError, entry_for_kennel, export, is_kennel, read_client, read_text,
    replace, without,
};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

const URL: &str = "http://127.0.0.1:7330/mcp";

fn install(client: Client, file: &Path) -> Export {
    let entry = entry_for_kennel(client, URL, Path::new("/usr/bin/kennel"), None);
    let before = file.exists().then(|| read_text(file).expect("text"));
    let made = export(client, file, before, &[entry]).expect("an export");
    assert!(made.left_out.is_empty() && made.notes.is_empty());
    made
}

#[test]
fn each_client_gets_its_own_form() {
    let cases = [
        (
            Client::ClaudeDesktop,
            "\"command\": \"/usr/bin/kennel\",\n      \"args\": [\"connect\", \"--url\", \"http://127.0.0.1:7330/mcp\"]",
        ),
        (Client::ClaudeCode, "\"type\": \"http\",\n      \"url\": \"http://127.0.0.1:7330/mcp\""),
        (Client::Cursor, "\"url\": \"http://127.0.0.1:7330/mcp\""),
        (Client::VsCode, "\"type\": \"http\""),
        (Client::Codex, "[mcp_servers.kennel]\nurl = \"http://127.0.0.1:7330/mcp\"\n"),
        (Client::Gemini, "\"httpUrl\": \"http://127.0.0.1:7330/mcp\""),
        (Client::Windsurf, "\"serverUrl\": \"http://127.0.0.1:7330/mcp\""),
        (Client::OpenCode, "\"type\": \"remote\""),
        (Client::Zed, "\"url\": \"http://127.0.0.1:7330/mcp\""),
    ];
    for (client, form) in cases {
        let scene = Scene::new(client);
        let file = scene.surroundings.home_of(client).expect("a file");
        assert!(file.exists(), "{client}: {}", file.display());
        let made = install(client, &file);
        assert!(
            made.after.replace("\r\n", "\n").contains(form) || made.after.replace('\t', "  ").contains(form),
            "{client}:\n{}",
            made.after
        );
        fs::write(&file, &made.after).expect("a file");
        assert!(!install(client, &file).is_change(), "{client}: a second install changes nothing");
        let entries = read_client(client, &scene.surroundings).found.entries;
        let own: Vec<_> = entries.iter().filter(|entry| is_kennel(entry, &["127.0.0.1:7330".to_owned()])).collect();
        assert_eq!(own.len(), 1, "{client}");
        assert_eq!(own[0].name, KENNEL_NAME);
        let gone = without(client, &file, made.after.clone(), KENNEL_NAME).expect("an export");
        assert_eq!(gone.after.replace("\r\n", "\n").trim(), made.before.as_deref().unwrap().trim(), "{client}");
    }
}

#[test]
fn a_token_is_written_only_where_no_variable_can_stand_for_it() {
    for client in Client::ALL {
        let entry = entry_for_kennel(client, URL, Path::new("/usr/bin/kennel"), Some("token-secret-1"));
        let file = Path::new(if client == Client::Codex { "config.toml" } else { "mcp.json" });
        let text = export(client, file, None, &[entry]).expect("an export").after;
        let is_written = matches!(client, Client::ClaudeDesktop | Client::Zed);
        assert_eq!(text.contains("token-secret-1"), is_written, "{client}: {text}");
        assert_eq!(text.contains("KENNEL_TOKEN"), client != Client::Zed, "{client}: {text}");
    }
}

#[test]
fn kennel_knows_itself_in_any_dress() {
    let read = |launch: &str| {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("list.json");
        fs::write(&file, format!("{{\"mcpServers\": {{\"x\": {launch}}}}}")).expect("a file");
        kennel_config::clients::read_path(&file, None).found.entries.remove(0)
    };
    let addresses = ["127.0.0.1:7330".to_owned(), "box.lan:7330".to_owned()];
    for own in [
        r#"{"command": "kennel", "args": ["serve"]}"#,
        r#"{"command": "/opt/bin/kennel", "args": ["connect"]}"#,
        r#"{"command": "env", "args": ["A=b", "kennel", "connect", "http://other/mcp"]}"#,
        r#"{"command": "npx", "args": ["mcp-remote", "http://localhost:7330/mcp"]}"#,
        r#"{"url": "http://localhost:7330/servers/a/mcp"}"#,
        r#"{"url": "http://[::1]:7330/mcp"}"#,
        r#"{"url": "https://box.lan:7330/views/a/mcp"}"#,
    ] {
        assert!(is_kennel(&read(own), &addresses), "{own}");
    }
    for other in [
        r#"{"command": "/opt/bin/kennel", "args": ["run", "--stdio", "--", "x"]}"#,
        r#"{"command": "kennel-club-server", "args": ["run"]}"#,
        r#"{"command": "npx", "args": ["kennel", "--help"]}"#,
        r#"{"url": "http://localhost:7331/mcp"}"#,
        r#"{"url": "https://kennel.example.com/mcp"}"#,
    ] {
        assert!(!is_kennel(&read(other), &addresses), "{other}");
    }
}

#[test]
fn an_install_can_be_taken_back_unless_somebody_changed_the_file() {
    let scene = Scene::new(Client::Cursor);
    let records = Records::new(scene.path().join("records"));
    let file = scene.surroundings.home_of(Client::Cursor).expect("a file");
    let original = fs::read(&file).expect("a file");
    let put = || {
        let made = install(Client::Cursor, &file);
        let before = made.before.as_deref().map(str::as_bytes);
        let written = replace(&file, before, made.after.as_bytes(), SystemTime::now()).expect("a change");
        records.remember(Client::Cursor, &written, made.after.as_bytes()).expect("a record");
        written
    };
    let undo = || records.undo(Client::Cursor, SystemTime::now());
    assert!(matches!(undo(), Err(UndoError::Nothing { .. })));
    put();
    undo().expect("taken back");
    assert_eq!(fs::read(&file).expect("a file"), original);
    let beside = fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "no copies are left");
    // Changed since: refused, with both files named.
    let backup = put().backup.expect("a copy");
    let changed = format!("{}\n", fs::read_to_string(&file).unwrap());
    fs::write(&file, &changed).expect("a change");
    let said = undo().expect_err("refused").to_string();
    assert!(said.contains(&*file.to_string_lossy()) && said.contains(&*backup.to_string_lossy()), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), changed);
    assert_eq!(fs::read(&backup).unwrap(), original);
}

#[test]
fn a_file_that_kennel_made_goes_away_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let records = Records::new(directory.path().join("records"));
    let file = directory.path().join("client/config.toml");
    let made = install(Client::Codex, &file);
    let written = replace(&file, None, made.after.as_bytes(), SystemTime::now()).expect("a file");
    records.remember(Client::Codex, &written, made.after.as_bytes()).expect("a record");
    records.undo(Client::Codex, SystemTime::now()).expect("taken back");
    assert!(!file.exists());
}
