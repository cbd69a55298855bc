//! The verbs that people know, and servers in other clients' words.

use crate::scene::Scene;
use std::fs;

#[test]
fn servers_are_added_as_elsewhere() {
    let scene = Scene::new();
    scene.ground.make_file("work/project/server.py", "", 0o644);
    for words in [
        &["add", "time", "--", "uvx", "mcp-server-time", "--local-timezone", "UTC"][..],
        &[
            "add",
            "--transport",
            "http",
            "linear",
            "https://linear.example.com/mcp",
            "--header",
            "Authorization: Bearer ${T}",
        ],
        &["add", "-t", "sse", "-s", "user", "events", "https://events.example.com/sse"],
        &["add", "either", "https://either.example.com/mcp"],
        &["add", "-e", "A=b=c", "--env", "TOKEN", "local", "--", "python3", "./server.py", "-v"],
        &["add", "bare", "npx", "package"],
    ] {
        scene.kennel(words).fine();
    }
    let own = fs::read_to_string(scene.own()).unwrap();
    let expected = format!(
        "\n[servers.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\", \"--local-timezone\", \"UTC\"]\n\
         \n[servers.linear]\nurl = \"https://linear.example.com/mcp\"\ntransport = \"http\"\n\
         headers = {{ Authorization = \"Bearer ${{T}}\" }}\n\
         \n[servers.events]\nurl = \"https://events.example.com/sse\"\ntransport = \"sse\"\n\
         \n[servers.either]\nurl = \"https://either.example.com/mcp\"\n\
         \n[servers.local]\ncommand = \"python3\"\nargs = [\"./server.py\", \"-v\"]\ncwd = \"{}\"\n\
         env = {{ A = \"b=c\", TOKEN = \"${{TOKEN}}\" }}\n\
         \n[servers.bare]\ncommand = \"npx\"\nargs = [\"package\"]\n",
        scene.ground.text("work/project")
    );
    assert!(own.ends_with(&expected), "{own}\n{expected}");
    scene.ground.assert_clean();
}

#[test]
fn a_name_is_given_once() {
    let scene = Scene::new();
    scene.kennel(&["add", "a", "--", "a"]).fine();
    let before = scene.files();
    let same = scene.kennel(&["add", "a", "--", "a"]);
    assert_eq!(same.code, Some(0), "{same:?}");
    for (words, said) in [
        (&["add", "a", "--", "b"][..], "has another server `a`; choose another name"),
        (&["add", "a b", "--", "b"], "`a b` cannot be a server's name"),
        (&["add", "b", "--header", "X: y", "--", "b"], "--header is for addresses"),
        (&["add", "b", "--env", "X=y", "https://example.com"], "--env and --cwd are for programs"),
        (&["add", "b", "--header", "nothing", "https://example.com"], "--header must be NAME: VALUE"),
        (&["remove", "b"], "has no server `b`; it has `a`"),
    ] {
        let refused = scene.kennel(words);
        assert_eq!(refused.code, Some(125), "{refused:?}");
        assert!(refused.err().contains(said), "{refused:?}");
    }
    assert_eq!(scene.files(), before);
    scene.kennel(&["remove", "a"]).fine();
    assert!(!fs::read_to_string(scene.own()).unwrap().contains("servers"));
}

#[test]
fn servers_are_said_in_other_words() {
    let scene = Scene::new();
    let nothing = scene.kennel(&["export", "codex"]);
    assert!(nothing.code == Some(125) && nothing.err().contains("has no servers; add some"), "{nothing:?}");
    scene.kennel(&["add", "time", "--", "uvx", "mcp-server-time"]).fine();
    scene.kennel(&["add", "keyed", "-e", "KEY=${KEY}", "--", "keyed"]).fine();
    let printed = scene.kennel(&["export", "opencode", "--servers", "keyed"]).fine();
    assert!(printed.contains("\"KEY\": \"{env:KEY}\"") && !printed.contains("uvx"), "{printed}");
    let desktop = scene.kennel(&["export", "claude-desktop"]);
    assert_eq!(desktop.code, Some(1));
    assert!(desktop.out().contains("\"uvx\"") && desktop.err().contains("`keyed` has ${KEY}"), "{desktop:?}");
    let file = scene.path(".codex/config.toml");
    let file = file.to_str().unwrap();
    scene.kennel(&["export", "codex", "--servers", "keyed", "--output", file, "--yes"]).fine();
    let codex = scene.read(".codex/config.toml");
    assert!(codex.starts_with(crate::scene::CODEX) && codex.contains("env_vars = [\"KEY\"]"), "{codex}");
    let again = scene.kennel(&["export", "codex", "--servers", "keyed", "--output", file, "--yes"]);
    assert!(again.err().contains("nothing is new"), "{again:?}");
    let unknown = scene.kennel(&["export", "codex", "--servers", "tine"]);
    assert!(unknown.err().contains("has no server `tine`; did you mean `time`?"), "{unknown:?}");
    scene.ground.assert_clean();
}
