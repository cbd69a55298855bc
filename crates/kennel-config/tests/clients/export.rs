//! What is written into a client's file: only what is to change, and the same entries come back from it.

use crate::scene::{Scene, files, shown};
use kennel_config::clients::{
    Client, Entry, Launch, Scope, Text, entry_for_kennel, export, read_known, read_text, without,
};
use std::path::{Path, PathBuf};

/// A new file of each client.
fn new_file(client: Client) -> PathBuf {
    PathBuf::from(match client {
        Client::Codex => "/new/config.toml",
        Client::Zed | Client::Gemini => "/new/settings.json",
        _ => "/new/mcp.json",
    })
}

fn read(client: Client, file: &Path, text: &str) -> Vec<Entry> {
    read_known(file, client, &Scope::User, text).expect("a list").entries
}

fn user_entries(scene: &Scene, client: Client) -> Vec<Entry> {
    let mut entries = scene.entries(client);
    entries.retain(|entry| entry.origin.scope == Scope::User);
    entries
}

#[test]
fn what_is_imported_and_exported_is_imported_the_same() {
    for client in Client::ALL.into_iter().chain([Client::Common]) {
        let entries = if client == Client::Common {
            let file = files().join("directory/one.json");
            read(client, &file, &read_text(&file).unwrap())
        } else {
            user_entries(&Scene::new(client), client)
        };
        assert!(!entries.is_empty(), "{client}");
        let file = new_file(client);
        let first = export(client, &file, None, &entries).expect("an export");
        assert!(
            first.left_out.is_empty() && first.notes.is_empty(),
            "{client}: {:?} {:?}",
            first.left_out,
            first.notes
        );
        let again = read(client, &file, &first.after);
        assert_eq!(again.len(), entries.len(), "{client}:\n{}", first.after);
        for (before, after) in entries.iter().zip(&again) {
            assert!(before.says_the_same(after), "{client}: {} became {}", shown(before), shown(after));
        }
        let second = export(client, &file, Some(first.after.clone()), &again).expect("an export");
        assert!(!second.is_change(), "{client}:\n{}\n{}", first.after, second.after);
    }
}

#[test]
fn exporting_what_a_file_says_already_leaves_every_byte() {
    for client in Client::ALL {
        let scene = Scene::new(client);
        for place in scene.surroundings.places(client).into_iter().filter(|place| place.file.exists()) {
            let before = read_text(&place.file).unwrap();
            let entries = read_known(&place.file, client, &place.scope, &before).unwrap().entries;
            // Words of the project are filled when they are read; a server of another project is in another list.
            let entries: Vec<Entry> = entries.into_iter().filter(|entry| entry.origin.scope == Scope::User).collect();
            let export = export(client, &place.file, Some(before), &entries).expect("an export");
            assert!(!export.is_change(), "{client}:\n{}", export.after);
        }
    }
}

#[test]
fn everything_else_in_a_file_stays() {
    for client in Client::ALL {
        let scene = Scene::new(client);
        let file =
            scene.surroundings.places(client).into_iter().map(|place| place.file).find(|file| file.exists()).unwrap();
        let before = read_text(&file).unwrap();
        let mut entry = user_entries(&Scene::new(Client::Cursor), Client::Cursor).remove(3);
        entry.enabled = true;
        entry.name = "neu – 新".to_owned();
        let added = export(client, &file, Some(before.clone()), &[entry]).expect("an export");
        // Only lines that are new, but for the comma of the line before.
        for line in before.lines() {
            assert!(added.after.contains(line), "{client}: {line} is gone:\n{}", added.after);
        }
        assert!(read(client, &file, &added.after).iter().any(|entry| entry.name == "neu – 新"), "{client}");
        let removed = without(client, &file, added.after.clone(), "neu – 新").expect("an export");
        assert_eq!(read(client, &file, &removed.after).len(), read(client, &file, &before).len(), "{client}");
        for line in before.lines() {
            assert!(removed.after.contains(line), "{client}: {line} is gone:\n{}", removed.after);
        }
    }
}

#[test]
fn byte_order_marks_and_line_ends_stay() {
    let file = files().join("directory/windows.json");
    let before = read_text(&file).unwrap();
    let entry = user_entries(&Scene::new(Client::Cursor), Client::Cursor).remove(1);
    let after = export(Client::Common, &file, Some(before.clone()), &[entry]).unwrap().after;
    assert!(after.starts_with('\u{feff}') && after.contains("// Windows"));
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    assert!(after.len() > before.len());
    let toml = "# Windows\r\n[mcp_servers.a]\r\ncommand = \"a\"\r\n";
    let entry = user_entries(&Scene::new(Client::Codex), Client::Codex).remove(0);
    let after = export(Client::Codex, Path::new("config.toml"), Some(toml.to_owned()), &[entry]).unwrap().after;
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
}

#[test]
fn comments_inside_a_changed_entry_stay() {
    let json =
        "{\n  \"mcpServers\": {\n    \"a\": {\n      // why\n      \"command\": \"old\" // really\n    }\n  }\n}\n";
    let mut entry = read(Client::Cursor, Path::new("mcp.json"), json).remove(0);
    let Launch::Stdio { command, .. } = &mut entry.launch else { panic!("a program") };
    *command = Text::from("new");
    let after = export(Client::Cursor, Path::new("mcp.json"), Some(json.to_owned()), &[entry]).unwrap().after;
    assert!(after.contains("// why\n      \"command\": \"new\" // really"), "{after}");
    let toml = "[mcp_servers.a]\n# why\ncommand = \"old\" # really\n";
    let mut entry = read(Client::Codex, Path::new("config.toml"), toml).remove(0);
    let Launch::Stdio { command, .. } = &mut entry.launch else { panic!("a program") };
    *command = Text::from("new");
    let after = export(Client::Codex, Path::new("config.toml"), Some(toml.to_owned()), &[entry]).unwrap().after;
    assert_eq!(after, toml.replace("old", "new"));
}

#[test]
fn clients_are_told_in_their_own_words() {
    let from = Scene::new(Client::VsCode);
    let perplexity = user_entries(&from, Client::VsCode).remove(0);
    // A question can only be asked by VS Code, which wants it to be declared.
    let code = export(Client::VsCode, &new_file(Client::VsCode), None, std::slice::from_ref(&perplexity)).unwrap();
    assert!(code.after.contains("\"id\": \"perplexity-key\""), "{}", code.after);
    let desktop = export(Client::ClaudeDesktop, &new_file(Client::ClaudeDesktop), None, &[perplexity]).unwrap();
    let said = desktop.left_out[0].to_string();
    assert!(
        said.contains("`perplexity` has ${PERPLEXITY_KEY} in `env.PERPLEXITY_API_KEY`, which Claude Desktop cannot"),
        "{said}"
    );
    let codex = user_entries(&Scene::new(Client::Codex), Client::Codex);
    let gemini = export(Client::Gemini, &new_file(Client::Gemini), None, &codex).unwrap();
    assert!(gemini.after.contains("\"httpUrl\": \"https://mcp.figma.example.com/mcp\""), "{}", gemini.after);
    assert!(gemini.after.contains("\"excluded\": [\"chrome devtools\"]"), "{}", gemini.after);
    assert!(gemini.after.contains("\"Authorization\": \"Bearer ${FIGMA_OAUTH_TOKEN}\""), "{}", gemini.after);
    let notes = gemini.notes.join("\n");
    assert!(notes.contains("Gemini CLI has no word for the time to start of `chrome devtools`"), "{notes}");
    assert!(notes.contains("no word for `required` of `chrome devtools`"), "{notes}");
    let said: Vec<String> = gemini.left_out.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("`context7` has a text with `$` or `{` in `env.LITERAL`"), "{said:?}");
    let open = export(Client::OpenCode, &new_file(Client::OpenCode), None, &codex[1..]).unwrap();
    assert!(!open.after.contains("cwd"), "{}", open.after);
    assert!(
        open.notes.join("\n").contains("no word for the working directory of `chrome devtools`"),
        "{:?}",
        open.notes
    );
    let second = Some("{\"mcp\": {\"servers\": {}}}".to_owned());
    let second = export(Client::OpenCode, &new_file(Client::OpenCode), second, &codex[2..]).unwrap().after;
    assert!(second.contains("\"cwd\": \"/home/me\"") && second.contains("\"disabled\": true"), "{second}");
    assert!(open.after.contains("\"type\": \"remote\"") && open.after.contains("\"enabled\": false"), "{}", open.after);
    // Zed takes no entry without arguments, also where there are none.
    let bare = user_entries(&Scene::new(Client::Zed), Client::Zed).remove(4);
    let zed = export(Client::Zed, &new_file(Client::Zed), None, &[bare]).unwrap().after;
    assert!(zed.contains("\"args\": []"), "{zed}");
    let off = export(Client::ClaudeCode, &new_file(Client::ClaudeCode), None, &codex[2..]).unwrap();
    assert!(!off.after.contains("chrome"), "{}", off.after);
    let said = off.left_out[0].to_string();
    assert!(said.contains("`chrome devtools` is turned off, which Claude Code cannot be told"), "{said}");
    let sse = user_entries(&Scene::new(Client::Cursor), Client::Cursor).remove(2);
    let said = export(Client::Zed, &new_file(Client::Zed), None, &[sse]).unwrap().left_out[0].to_string();
    assert!(said.contains("SSE, which Zed does not speak"), "{said}");
}

#[test]
fn a_file_that_is_the_list_itself_stays_one() {
    let file = Path::new("/home/ann/servers.json");
    let text = "{\n  \"files\": {\"command\": \"files-server\"}\n}\n";
    for client in [Client::Common, Client::ClaudeCode] {
        let kennel = entry_for_kennel(client, "http://127.0.0.1:7330/mcp", Path::new("/bin/kennel"), None);
        let after = export(client, file, Some(text.to_owned()), &[kennel]).unwrap().after;
        let names: Vec<String> = read(client, file, &after).into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["files", "kennel"], "{after}");
        let without = without(client, file, after, "kennel").unwrap().after;
        assert_eq!(read(client, file, &without).len(), 1, "{without}");
    }
    // A server may be called so, too.
    let inside = "{\"mcpServers\": {\"command\": {\"command\": \"x\"}}}";
    assert_eq!(read(Client::Common, file, inside)[0].name, "command");
}
