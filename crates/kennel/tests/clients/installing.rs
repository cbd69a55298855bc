//! Clients are pointed at Kennel, and back.

use crate::scene::{CODEX, CURSOR, Scene};
use serde_json::Value;
use std::fs;

#[test]
fn an_install_is_seen_found_again_and_taken_back() {
    let scene = Scene::new();
    let preview = scene.kennel(&["client", "install", "cursor", "--dry-run"]).fine();
    assert!(preview.contains("+    \"kennel\": {\n+      \"url\": \"http://127.0.0.1:7330/mcp\","), "{preview}");
    let unasked = scene.kennel(&["client", "install", "cursor"]);
    assert_eq!(unasked.code, Some(125));
    assert_eq!(scene.read(".cursor/mcp.json"), CURSOR);
    scene.kennel(&["client", "install", "cursor", "--yes"]).fine();
    let installed = scene.read(".cursor/mcp.json");
    assert!(installed.contains("// mine") && installed.contains("\"kennel\""), "{installed}");
    let again = scene.kennel(&["client", "install", "cursor", "--yes"]);
    assert!(again.err().contains("Cursor uses Kennel already"), "{again:?}");
    let list: Value = serde_json::from_str(&scene.kennel(&["client", "list", "--json"]).fine()).unwrap();
    let cursor = list.as_array().unwrap().iter().find(|row| row["client"] == "cursor").unwrap();
    assert_eq!((&cursor["kennel"], &cursor["servers"]), (&Value::Bool(true), &Value::from(2)));
    // Kennel does not take itself over.
    let report: Value = serde_json::from_str(&scene.kennel(&["import", "cursor", "--json"]).fine()).unwrap();
    assert!(report["servers"].as_array().unwrap().iter().any(|server| server["outcome"] == "itself"), "{report}");
    scene.kennel(&["client", "undo", "cursor"]).fine();
    assert_eq!(scene.read(".cursor/mcp.json"), CURSOR);
    let nothing = scene.kennel(&["client", "undo", "cursor"]);
    assert_eq!(nothing.code, Some(125));
    scene.ground.assert_clean();
}

#[test]
fn a_file_that_was_changed_since_is_not_put_back() {
    let scene = Scene::new();
    scene.kennel(&["client", "install", "codex", "--yes", "--url", "http://127.0.0.1:9/views/a/mcp"]).fine();
    let changed = format!("{}# a thought\n", scene.read(".codex/config.toml"));
    assert!(changed.contains("[mcp_servers.kennel]\nurl = \"http://127.0.0.1:9/views/a/mcp\"\n"), "{changed}");
    fs::write(scene.path(".codex/config.toml"), &changed).unwrap();
    let before = scene.files();
    let refused = scene.kennel(&["client", "undo", "codex"]);
    assert_eq!(refused.code, Some(125));
    assert!(
        refused.err().contains("config.toml was changed since") && refused.err().contains("config.toml.bak-"),
        "{refused:?}"
    );
    assert_eq!(scene.files(), before);
    // The entry alone can still be taken out.
    scene.kennel(&["client", "remove", "codex", "--yes"]).fine();
    let after = scene.read(".codex/config.toml");
    assert!(after.starts_with(CODEX) && after.contains("# a thought") && !after.contains("kennel"), "{after}");
    let gone = scene.kennel(&["client", "remove", "codex", "--yes"]);
    assert!(gone.err().contains("no file of Codex has an entry `kennel`"), "{gone:?}");
    scene.ground.assert_clean();
}

#[test]
fn the_endpoint_and_the_token_are_those_of_the_gateway() {
    let scene = Scene::new();
    scene.ground.make_directory("work/user/.config");
    scene.ground.make_directory("work/user/.config/kennel");
    scene.write(".config/kennel/kennel.toml", "[gateway]\nlisten = \"0.0.0.0:7444\"\n");
    let mut command = scene.command(&["client", "install", "codex", "--yes"]);
    command.env("KENNEL_TOKEN", "token-secret-1");
    let ran = crate::support::running::run(command);
    ran.fine();
    let text = scene.read(".codex/config.toml");
    let expected =
        "[mcp_servers.kennel]\nurl = \"http://127.0.0.1:7444/mcp\"\nbearer_token_env_var = \"KENNEL_TOKEN\"\n";
    assert!(text.ends_with(expected), "{text}");
    // Where it has to be written, it is not shown.
    scene.ground.make_directory("work/user/.config/Claude");
    let mut command = scene.command(&["client", "install", "claude-desktop", "--yes"]);
    command.env("KENNEL_TOKEN", "token-secret-1");
    let shown = crate::support::running::run(command).fine();
    assert!(shown.contains("\"KENNEL_TOKEN\": \"…\"") && !shown.contains("token-secret-1"), "{shown}");
    let text = scene.read(".config/Claude/claude_desktop_config.json");
    assert!(
        text.contains("token-secret-1") && text.contains("\"connect\", \"--url\", \"http://127.0.0.1:7444/mcp\""),
        "{text}"
    );
    scene.ground.assert_clean();
}
