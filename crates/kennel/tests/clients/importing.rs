//! Servers are taken over only after somebody has seen what changes and has said yes.

use crate::scene::{CURSOR, Scene};
use crate::support::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn without_a_terminal_nothing_is_written_unless_it_is_said() {
    let scene = Scene::new();
    let before = scene.files();
    let ran = scene.kennel(&["import"]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.err().contains("was not changed: there is no terminal at which to ask\n  hint: "), "{ran:?}");
    assert!(ran.err().contains("say --yes"), "{ran:?}");
    let shown = scene.kennel(&["import", "--dry-run"]).fine();
    assert!(shown.contains("+[servers.time]\n+command = \"uvx\"\n") && shown.contains("+[servers.time-2]"), "{shown}");
    assert!(shown.contains("+env = { KEY = \"…\" }") && !shown.contains("cursor-secret-1"), "{shown}");
    assert_eq!(scene.files(), before);
    scene.ground.assert_clean();
}

#[test]
fn what_was_imported_is_not_imported_again() {
    let scene = Scene::new();
    let before = scene.files();
    scene.kennel(&["import", "--yes"]).fine();
    let own = fs::read_to_string(scene.own()).unwrap();
    assert!(own.contains("cursor-secret-1") && own.contains("[servers.time-2]"), "{own}");
    assert_eq!(fs::metadata(scene.own()).unwrap().permissions().mode() & 0o777, 0o600);
    let again = scene.kennel(&["import", "--yes"]);
    assert!(again.err().contains("nothing is new") && again.code == Some(0), "{again:?}");
    let mut after = scene.files();
    assert_eq!(after.remove(&scene.own()), Some(own.into_bytes()));
    assert_eq!(after, before, "nothing else was touched");
    scene.ground.assert_clean();
}

#[test]
fn at_a_terminal_somebody_is_asked() {
    let scene = Scene::new();
    for (answer, code) in [("n\n", 1), ("\n", 1), ("y\n", 0)] {
        assert!(!scene.own().exists(), "{answer:?}");
        let mut terminal = Terminal::open().start(&scene.command(&["import", "cursor"]));
        terminal.wait_for("[y/N] ");
        terminal.type_in(answer.as_bytes());
        assert_eq!(terminal.end(), Some(code), "{answer:?}");
    }
    assert!(scene.own().exists());
    scene.ground.assert_clean();
}

#[test]
fn a_copy_of_the_file_is_kept_and_comments_stay() {
    let scene = Scene::new();
    scene.ground.make_directory("work/user/.config");
    scene.ground.make_directory("work/user/.config/kennel");
    let text = "# my servers\n[servers.own]   # first\ncommand = 'own'\n";
    scene.write(".config/kennel/kennel.toml", text);
    let said = scene.kennel(&["import", "codex", "--yes"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(scene.read(".config/kennel/kennel.toml").starts_with(text));
    let copies: Vec<_> =
        scene.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains(".bak-")).collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].1, text.as_bytes());
    assert!(said.err().contains(&*copies[0].0.to_string_lossy()), "{said:?}");
    scene.ground.assert_clean();
}

#[test]
fn broken_files_are_named_and_change_nothing() {
    let scene = Scene::new();
    scene.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": { \"command\": 5 }\n  }\n}\n");
    let before = scene.files();
    let alone = scene.kennel(&["import", "cursor", "--yes"]);
    assert_eq!(alone.code, Some(1), "{alone:?}");
    assert!(alone.err().contains(".cursor/mcp.json:3:23: `mcpServers.a.command` must be a text"), "{alone:?}");
    assert_eq!(scene.files(), before);
    // The others are taken, and the exit code still tells.
    let all = scene.kennel(&["import", "--yes"]);
    assert_eq!(all.code, Some(1), "{all:?}");
    assert!(fs::read_to_string(scene.own()).unwrap().contains("time-mcp"));
    // Kennel's own file is not repaired by guessing.
    fs::write(scene.own(), "[servers.x]\ncomand = 'a'\n").unwrap();
    let before = scene.files();
    let own = scene.kennel(&["import", "codex", "--yes"]);
    assert_eq!(own.code, Some(125), "{own:?}");
    assert!(own.err().contains("kennel.toml:2:") && own.err().contains("did you mean `command`"), "{own:?}");
    assert_eq!(scene.files(), before);
    scene.ground.assert_clean();
}

#[test]
fn files_and_directories_can_be_named() {
    let scene = Scene::new();
    scene.ground.make_directory("work/project/lists");
    scene.ground.make_file("work/project/lists/a.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#, 0o644);
    scene.ground.make_file("work/project/lists/b.json", r#"{"command": "b"}"#, 0o644);
    let own = scene.ground.text("work/project/mine.toml");
    let printed = scene.kennel(&["import", "./lists", "codex", "-c", &own, "--yes", "--json"]).fine();
    let report: Value = serde_json::from_str(&printed).unwrap();
    let outcomes: Vec<(&str, &str)> = report["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| (server["as"].as_str().unwrap(), server["client"].as_str().unwrap()))
        .collect();
    assert_eq!(outcomes, [("a", "json"), ("b", "json"), ("time", "codex")]);
    assert_eq!((&report["written"], report["file"].as_str()), (&Value::Bool(true), Some(own.as_str())));
    assert!(!scene.own().exists());
    let unknown = scene.kennel(&["import", "emacs"]);
    assert_eq!(unknown.code, Some(125));
    assert!(unknown.err().contains("Kennel knows no client `emacs`; it knows claude-desktop, "), "{unknown:?}");
    scene.ground.assert_clean();
}

#[test]
fn json_without_yes_only_tells() {
    let scene = Scene::new();
    let before = scene.files();
    let report: Value = serde_json::from_str(&scene.kennel(&["import", "--json"]).fine()).unwrap();
    assert_eq!(report["written"], Value::Bool(false));
    assert_eq!(report["servers"].as_array().unwrap().len(), 3);
    assert!(!report.to_string().contains("cursor-secret-1"));
    assert_eq!(scene.files(), before);
    assert_eq!(scene.read(".cursor/mcp.json"), CURSOR);
}
