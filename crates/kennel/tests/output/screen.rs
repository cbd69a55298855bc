//! Everything that Kennel prints at a terminal, while all that it is told tries to command that terminal.

use crate::scene::{EVIL, Scene};
use kennel_state::{Limits, SavedLimits, SavedTool, Store};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, SystemTime};

/// Whether lines that begin as Kennel's own do can be others'.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// No: a line belongs to Kennel.
    Own,
    /// Yes: what was asked for is a text of several lines, printed as it is.
    Foreign,
}

/// What no terminal may be sent: what it obeys, what changes the direction of text, and what cannot be seen.
fn is_denied(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{feff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[track_caller]
fn assert_harmless(what: &str, screen: &[u8], lines: Lines) {
    // What the call's own progress is drawn and removed with.
    let text = String::from_utf8(screen.to_vec()).unwrap_or_else(|error| panic!("{what}: {error}: {screen:?}"));
    let text = text.replace("\r\u{1b}[K", "");
    let denied: Vec<char> = text.chars().filter(|character| is_denied(*character)).collect();
    assert!(denied.is_empty(), "{what}: the terminal was sent {denied:?} in {text:?}");
    if lines == Lines::Own {
        let forged = text.lines().any(|line| line.starts_with("kennel: FORGED"));
        assert!(!forged, "{what}: a line is forged in\n{text}");
    }
}

#[test]
fn a_server_that_is_asked_commands_no_terminal() {
    for scene in Scene::of_all() {
        let (server, junk, dead) = (scene.server(""), scene.server("junk"), scene.server("die"));
        let evil = format!("{EVIL}=1");
        for (words, lines) in [
            (&["tools", "--run", &server][..], Lines::Own),
            (&["tools", "--json", "--run", &server], Lines::Own),
            (&["tools", "--run", &junk], Lines::Own),
            (&["tools", "--run", &dead], Lines::Own),
            (&["call", "--run", &server, "plain"], Lines::Own),
            (&["call", "--run", &server, "plain", "other=1"], Lines::Own),
            (&["call", "--run", &server, "plain", &evil, "choice=c"], Lines::Own),
            (&["call", "--run", &server, "choose", "choice=c"], Lines::Own),
            (&["call", "--run", &server, "no such tool"], Lines::Own),
            (&["call", "--run", &server, "xy"], Lines::Own),
            (&["call", "--run", &server, "result"], Lines::Foreign),
            (&["call", "--run", &server, "--json", "result"], Lines::Own),
            (&["call", "--run", &server, "progress"], Lines::Foreign),
            (&["call", "--run", &server, EVIL], Lines::Foreign),
            (&["call", "--run", &server, "fails"], Lines::Own),
            (&["call", "--run", &server, "error"], Lines::Own),
            (&["call", "--run", &server, "die"], Lines::Own),
        ] {
            let screen = scene.screen(words);
            assert!(!screen.is_empty(), "{words:?} printed nothing");
            assert_harmless(&format!("{words:?}"), &screen, lines);
        }
    }
}

#[test]
fn a_result_in_a_pipe_is_what_the_server_said() {
    let scene = Scene::mine();
    let ran = crate::support::running::run(scene.kennel(&["call", "--run", &scene.server(""), "result"]));
    assert!(ran.fine().starts_with(EVIL), "{}", ran.out());
    let ran = crate::support::running::run(scene.kennel(&["call", "--json", "--run", &scene.server(""), "result"]));
    let result: serde_json::Value = serde_json::from_str(&ran.fine()).unwrap();
    assert_eq!(result["content"][0]["text"], EVIL);
}

#[test]
fn json_at_a_terminal_means_what_the_server_said() {
    let scene = Scene::mine();
    let screen = String::from_utf8(scene.screen(&["call", "--json", "--run", &scene.server(""), "result"])).unwrap();
    let result = screen.lines().find(|line| line.starts_with('{')).unwrap();
    let result: serde_json::Value = serde_json::from_str(result).unwrap();
    assert_eq!(result["content"][0]["text"], EVIL);
}

#[test]
fn servers_of_a_gateway_command_no_terminal() {
    for scene in Scene::of_all() {
        let keys = format!("description = {}\ntags = [\"a\"]", serde_json::to_string("x\u{9b}2J\u{202e}").unwrap());
        let file = scene.table("good", "", &keys) + &scene.table("junk", "junk", "") + &scene.table("dead", "die", "");
        scene.ground.make_file("work/kennel.toml", &file, 0o644);
        let config = scene.ground.text("work/kennel.toml");
        for json in [false, true] {
            let mut words = vec!["serve", "--listen", "127.0.0.1:0", "-c", &config];
            words.extend(json.then_some("--json"));
            let mut serving = scene.at_terminal(&words);
            serving.wait_for("servers are served");
            for name in ["good", "junk", "dead"] {
                assert_harmless("start", &scene.screen(&["start", name]), Lines::Own);
            }
            for words in [
                &["ps"][..],
                &["ps", "-v"],
                &["ps", "--json"],
                &["inspect", "good"],
                &["inspect", "dead"],
                &["inspect", "dead", "--json"],
                &["inspect", EVIL],
                &["logs", "good"],
                &["logs", "junk"],
                &["logs", "dead"],
                &["logs", "dead", "--json"],
                &["logs", EVIL],
                &["events"],
                &["events", "--json"],
                &["tools", "--server", "good"],
                &["call", "--server", "good", "error"],
                &["call", "--server", "dead", "error"],
                &["restart", "good"],
                &["restart", "dead"],
                &["restart", "dead", "--json"],
                &["stop", "good"],
                &["reload"],
                &["reload", "--json"],
            ] {
                let screen = scene.screen(words);
                assert!(!screen.is_empty(), "{words:?} printed nothing");
                assert_harmless(&format!("{words:?}"), &screen, Lines::Own);
            }
            serving.kept.signal(Signal::TERM);
            assert_harmless(&format!("{words:?}"), &serving.finish_with_bytes().1, Lines::Own);
        }
    }
}

#[test]
fn one_server_behind_run_commands_no_terminal() {
    let scene = Scene::mine();
    let script = scene.ground.text("work/server.py");
    for mode in ["die", "junk"] {
        for json in [&[][..], &["--json"]] {
            let words = [&["run", "--listen", "127.0.0.1:0"][..], json, &["--", crate::scene::PYTHON, &script, mode]];
            let mut running = scene.at_terminal(&words.concat());
            running.wait_for(if mode == "die" { "last lines of standard error" } else { "is served at" });
            if running.kept.lives() {
                running.kept.signal(Signal::TERM);
            }
            assert_harmless(mode, &running.finish_with_bytes().1, Lines::Own);
        }
    }
}

#[test]
fn messages_for_a_client_command_no_terminal_where_it_is_one() {
    let scene = Scene::mine();
    let script = scene.ground.text("work/server.py");
    let mut running = scene.at_terminal(&["run", "--stdio", "--", crate::scene::PYTHON, &script]);
    let client = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
    running.type_in(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{client}}}\n").as_bytes(),
    );
    running.wait_for("serverInfo");
    running.type_in(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"result\"}}\n");
    running.wait_for("\"isError\"");
    running.kept.signal(Signal::TERM);
    let (_, screen) = running.finish_with_bytes();
    assert_harmless("--stdio", &screen, Lines::Own);
    let text = String::from_utf8(screen).unwrap();
    let result = text.lines().find(|line| line.contains("\"isError\"")).unwrap();
    let result: serde_json::Value = serde_json::from_str(result).unwrap();
    assert_eq!(result["result"]["content"][0]["text"], EVIL, "it means the same");
}

#[test]
fn foreign_files_command_no_terminal() {
    let scene = Scene::mine();
    let spelled = serde_json::to_string(EVIL).unwrap();
    let servers = format!(
        "{{\"mcpServers\":{{{spelled}:{{\"command\":{spelled},\"args\":[{spelled}],\"env\":{{{spelled}:{spelled}}},{spelled}:1}},\
         \"named\":{{\"command\":{spelled},\"cwd\":{spelled}}},\"odd\":{{\"url\":{spelled},\"headers\":{{{spelled}:{spelled}}}}}}}}}"
    );
    scene.ground.make_file("work/mcp.json", &servers, 0o644);
    scene.ground.make_file("work/broken.json", format!("{{\"mcpServers\": {{ {EVIL}"), 0o644);
    scene.ground.make_directory("work/.cursor");
    scene.ground.make_file("work/.cursor/mcp.json", format!("{{\"mcpServers\":{{ {EVIL}"), 0o644);
    let odd =
        format!("[servers.{spelled}]\ncommand = \"x\\u001b[2J\"\n[servers.a]\ncommand = \"a\"\n\"q\\u001b[2Jy\" = 1\n");
    scene.ground.make_file("work/odd.toml", &odd, 0o644);
    scene.ground.make_file("work/torn.toml", format!("[servers.a]\ncommand = {EVIL}"), 0o644);
    let path = |name: &str| scene.ground.text(&format!("work/{name}"));
    let (import, broken, odd, torn, own) =
        (path("mcp.json"), path("broken.json"), path("odd.toml"), path("torn.toml"), path("own.toml"));
    for words in [
        // What is exported is a file, printed as it is.
        &["export", "cursor", "-c", &own][..],
        &["export", "codex", "-c", &own],
    ] {
        assert_eq!(scene.at_terminal(&["import", &import, "--yes", "-c", &own]).end(), Some(0));
        assert_harmless(&format!("{words:?}"), &scene.screen(words), Lines::Foreign);
    }
    for words in [
        &["import", &import, "--dry-run", "-c", &own][..],
        &["import", &import, "--dry-run", "--json", "-c", &own],
        &["import", &broken, "--dry-run", "-c", &own],
        &["import", &import, "--yes", "-c", &own],
        &["import", EVIL, "--dry-run", "-c", &own],
        &["client", "list"],
        &["client", "list", "--json"],
        &["client", "install", "cursor", "--dry-run"],
        &["config", "check", "-c", &odd],
        &["config", "check", "-c", &torn],
        &["serve", "-c", &odd],
        &["serve", "-c", &torn],
        &["code", "-c", &torn],
        &["remove", EVIL, "-c", &own],
        &["add", EVIL, "-c", &own, "--", "x"],
        &["exec", "--read", EVIL, "--", "true"],
    ] {
        let screen = scene.screen(words);
        assert!(!screen.is_empty(), "{words:?} printed nothing");
        assert_harmless(&format!("{words:?}"), &screen, Lines::Own);
    }
}

#[test]
fn saved_tools_command_no_terminal() {
    let scene = Scene::mine();
    let file = scene.ground.path("work/data/state/kennel.db");
    let store = Store::open(file, Limits::default(), |_| {});
    let tool = SavedTool {
        owner: "local".to_owned(),
        view: String::new(),
        name: "evil".to_owned(),
        description: EVIL.to_owned(),
        source: EVIL.to_owned(),
        saved: SystemTime::now(),
    };
    store.save_tool(tool, SavedLimits { count: 10, bytes: 1 << 20 }).wait(Duration::from_secs(30)).unwrap();
    drop(store);
    assert_harmless("list", &scene.screen(&["saved", "list"]), Lines::Own);
    assert_harmless("list", &scene.screen(&["saved", "list", "--json"]), Lines::Own);
    assert_harmless("show", &scene.screen(&["saved", "show", "evil"]), Lines::Foreign);
    assert_harmless("show", &scene.screen(&["saved", "show", "evil", "--json"]), Lines::Own);
    assert_harmless("remove", &scene.screen(&["saved", "remove", EVIL]), Lines::Own);
}

#[test]
fn an_endpoint_that_is_none_commands_no_terminal() {
    let scene = Scene::mine();
    let error =
        serde_json::json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": EVIL, "data": [EVIL] } });
    for body in [EVIL.to_owned(), error.to_string(), format!("{{\"{EVIL}")] {
        for status in ["200 OK", "403 \u{1b}[2J\u{9b}2J"] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/rpc", listener.local_addr().unwrap());
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let serving = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 8192]);
                let _ = stream.write_all(answer.as_bytes());
            });
            assert_harmless(&answer_of(status, &body), &scene.screen(&["tools", "--url", &url]), Lines::Own);
            serving.join().unwrap();
        }
    }
}

fn answer_of(status: &str, body: &str) -> String {
    format!("an answer {status:?} {body:?}")
}
