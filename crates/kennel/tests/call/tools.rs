//! `kennel tools`.

use crate::scene::Scene;
use crate::support::caller::{callers, myself};
use crate::support::running::run;
use crate::support::terminal::Terminal;
use serde_json::Value;

#[test]
fn people_get_a_table() {
    for caller in callers() {
        let scene = Scene::new(caller);
        let out = run(scene.kennel(&["tools", "--run", &scene.command("")])).fine();
        let lines: Vec<&str> = out.lines().collect();
        let line = |name: &str| {
            let found = lines.iter().find(|line| line.split_whitespace().next() == Some(name));
            found.unwrap_or_else(|| panic!("no {name}: {out}")).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("echo"), "echo message Returns its message");
        assert_eq!(line("junk"), "junk lines [kind] Prints `lines` lines on stdout that are no messages, then answers");
        assert_eq!(line("pid"), "pid Returns the id of the server's process");
        let column = |name: &str, word: &str| lines.iter().find(|line| line.starts_with(name)).unwrap().find(word);
        assert_eq!(column("echo ", "Returns"), column("junk ", "Prints"), "{caller:?}: columns are aligned");
        scene.ground.assert_clean();
    }
}

#[test]
fn at_a_terminal_the_table_keeps_to_its_width() {
    let scene = Scene::new(myself());
    let terminal = Terminal::open();
    terminal.resize(24, 90);
    let (code, screen) = terminal.start(&scene.kennel(&["tools", "--run", &scene.command("")])).finish();
    assert_eq!(code, Some(0), "{screen}");
    let table = screen.lines().filter(|line| !line.starts_with("kennel: "));
    let widest = table.map(|line| line.trim_end().chars().count()).max();
    assert!((70..=90).contains(&widest.unwrap()), "{widest:?}: {screen}");
}

#[test]
fn programs_get_the_list_as_spelled_whatever_its_pages() {
    let scene = Scene::new(myself());
    let list = |options: &str| run(scene.kennel(&["tools", "--json", "--run", &scene.command(options)])).fine();
    let whole = list("");
    let tools: Vec<Value> = serde_json::from_str(&whole).unwrap();
    assert!(tools.len() > 20, "{}", tools.len());
    // The order of members is the server's.
    assert!(
        whole.starts_with(r#"[{"name":"test_simple_text","description":"Returns a text","inputSchema":{"#),
        "{whole}"
    );
    assert_eq!(list("--page-size 7"), whole);
    assert_eq!(list("--page-size 1"), whole);
    // Also a tool of the last page can be called.
    assert!(scene.call_with("--page-size 7", &["write_file", "path=/tmp/x"]).fine().starts_with("wrote "));
}

#[test]
fn a_gateway_lists_the_same() {
    let scene = Scene::new(myself());
    let served = scene.serve(&["--listen", "127.0.0.1:0"]);
    let words = ["tools", "--json"];
    let started = run(scene.kennel(&[&words[..], &["--run", &scene.command("")]].concat())).fine();
    let running = run(scene.kennel(&[&words[..], &["--url", &format!("{}/mcp", served.url)]].concat()));
    assert_eq!((running.fine(), running.err()), (started, String::new()));
    served.stop();
    scene.ground.assert_clean();
}

#[test]
fn a_server_without_tools_says_so() {
    let scene = Scene::new(myself());
    let file = scene.ground.make_file("work/none.jsonl", "", 0o644);
    let ran = run(scene.kennel(&["tools", "--run", &scene.command(&format!("--tools-file {}", file.display()))]));
    assert_eq!(ran.fine(), "");
    assert!(ran.err().ends_with("kennel: the server has no tools\n"), "{}", ran.err());
}
