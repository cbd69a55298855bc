//! The commands of the operator: what they show and what they do.

use crate::scene::Scene;
use crate::support::running::{Collected, Kept};
use crate::support::waiting::PATIENCE;
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;

fn scene() -> Scene {
    Scene::start(|file| {
        file.fixture("shared", &["--stderr-lines", "2"], "model = \"shared\"\ndescription = \"For tests\"")
            .fixture("own", &[], "")
            .fixture("broken", &["--exit-at-start", "3"], "restarts = 0")
            .text("[servers.away]\nurl = \"https://mcp.example.com/mcp?key=secret\"\n")
            .text("[servers.unfit]\ncommand = \"x\"\nidle-stop = 0.01\n")
            .text("[servers.off]\ncommand = \"x\"\nenabled = false\n")
    })
}

#[test]
fn servers_are_listed_with_how_they_are() {
    let scene = scene();
    let state = |name: &str| scene.report(name)["state"].clone();
    assert_eq!(state("shared"), "idle");
    scene.call("shared", "echo", &json!({ "message": "hi" }));
    scene.call("broken", "echo", &json!({}));
    let _session = scene.session("own");
    assert_eq!((state("shared"), state("own")), (json!("ready"), json!("ready")));
    assert_eq!((state("broken"), state("unfit")), (json!("failed"), json!("not_served")));
    let own = scene.report("own");
    assert_eq!((&own["sessions"], &own["processes"], &own["model"]), (&json!(1), &json!(1), &json!("per-session")));
    let table = scene.kennel(&["ps"]).fine();
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{table}"));
    assert!(line("NAME").contains("STATE") && line("shared").contains("/servers/shared/mcp"), "{table}");
    assert!(line("broken").contains("exit code 3") && line("unfit").contains("`idle_stop`"), "{table}");
    assert!(!table.contains("off ") && !table.contains("key=secret"), "{table}");
    let verbose = scene.kennel(&["ps", "-v"]).fine();
    assert!(verbose.contains(scene.socket().to_str().unwrap()) && verbose.contains("kennel.toml"), "{verbose}");
    assert_eq!(std::fs::metadata(scene.socket()).unwrap().mode() & 0o777, 0o600);
    let inspected = scene.kennel(&["inspect", "shared"]).fine();
    for words in ["For tests", "shared", "ready", "legacy"] {
        assert!(inspected.contains(words), "no `{words}`: {inspected}");
    }
    scene.end(Signal::INT);
}

#[test]
fn a_name_that_no_server_has_is_refused_with_what_was_meant() {
    let scene = scene();
    for command in ["inspect", "logs", "stop", "start", "restart"] {
        let ran = scene.kennel(&[command, "shard"]);
        assert_eq!(ran.code, Some(1), "{command}: {ran:?}");
        assert!(ran.err().contains("did you mean `shared`?"), "{command}: {ran:?}");
    }
    let ran = scene.kennel(&["restart", "unfit"]);
    assert!(ran.code == Some(1) && ran.err().contains("`idle_stop`"), "{ran:?}");
    scene.end(Signal::INT);
}

#[test]
fn logs_have_what_servers_print_and_go_on_over_a_restart() {
    let scene = scene();
    scene.call("shared", "echo", &json!({ "message": "hi" }));
    let printed = scene.kennel(&["logs", "shared"]).fine();
    assert!(printed.contains("[shared] kennel-fixture: line 2 on stderr"), "{printed}");
    let mut command = scene.command(&["logs", "-f", "shared", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut following = Kept::start(command);
    let mut lines = Collected::from(following.stdout());
    let starts = |lines: &Collected| lines.text().matches("line 2 on stderr").count();
    while starts(&lines) < 1 {
        lines.take(PATIENCE).unwrap();
    }
    scene.kennel(&["restart", "shared"]).fine();
    while starts(&lines) < 2 {
        lines.take(PATIENCE).unwrap();
    }
    following.signal(Signal::INT);
    following.end(&mut [&mut lines]);
    scene.call("broken", "echo", &json!({}));
    let printed = scene.kennel(&["logs", "broken"]).fine();
    assert!(printed.contains("kennel: ") && printed.contains("exit code 3"), "{printed}");
    let events = scene.kennel(&["events"]).fine();
    assert!(events.contains("shared was restarted") && events.contains("broken  failed"), "{events}");
    scene.end(Signal::INT);
}

#[test]
fn a_server_that_is_stopped_stays_so_until_it_is_started_and_sessions_outlive_that() {
    let scene = scene();
    for name in ["shared", "own"] {
        let mut session = scene.session(name);
        assert_eq!(session.text("echo", json!({ "message": "hi" })), "hi");
        scene.kennel(&["stop", name]).fine();
        scene.pids(name, 0);
        let refused = session.call(1, "echo", json!({})).unwrap().pop().unwrap();
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("kennel start"), "{refused}");
        assert_eq!(scene.report(name)["state"], "stopped");
        scene.kennel(&["stop", name]).fine();
        scene.kennel(&["start", name]).fine();
        assert_eq!(session.text("echo", json!({ "message": "hi" })), "hi", "the session goes on");
    }
    scene.end(Signal::INT);
}

#[test]
fn a_restart_replaces_processes_and_loses_neither_sessions_nor_calls() {
    let scene = scene();
    for name in ["shared", "own"] {
        let mut session = scene.session(name);
        let other = scene.session(name);
        session.text("echo", json!({ "message": "hi" }));
        let count = if name == "shared" { 1 } else { 2 };
        let before = scene.pids(name, count);
        let slow = std::thread::spawn(move || {
            let mut other = other;
            other.text("sleep", json!({ "ms": 1500 }))
        });
        let is_busy = || scene.report(name)["calls"] != 0;
        assert!(crate::support::waiting::holds_soon(is_busy), "the slow call is in flight");
        scene.kennel(&["restart", name]).fine();
        assert_eq!(session.text("echo", json!({ "message": "hi" })), "hi", "answered by the new one");
        slow.join().expect("the slow call is answered");
        let after = scene.pids(name, count.min(1));
        assert!(after.iter().all(|pid| !before.contains(pid)), "{name}: {before:?}, then {after:?}");
    }
    let ran = scene.kennel(&["restart", "broken"]);
    assert!(ran.code == Some(1) && ran.err().contains("goes on as it was"), "{ran:?}");
    scene.end(Signal::INT);
}

#[test]
fn tools_are_listed_and_called_by_the_name_of_their_server() {
    let scene = scene();
    assert!(scene.kennel(&["tools", "--server", "shared"]).fine().contains("echo"));
    assert_eq!(scene.kennel(&["call", "--server", "own", "echo", "message=hi"]).fine(), "hi\n");
    let ran = scene.kennel(&["call", "--server", "nobody", "echo", "message=hi"]);
    assert!(ran.code == Some(125) && ran.err().contains("nobody"), "{ran:?}");
    scene.end(Signal::INT);
}

#[test]
fn a_second_gateway_with_the_same_socket_is_refused_with_the_way_out() {
    let scene = scene();
    let file = scene.file();
    let ran = scene.kennel(&["serve", "--listen", "127.0.0.1:0", "-c", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    for words in [scene.socket().to_str().unwrap(), "kennel reload", "--socket"] {
        assert!(ran.err().contains(words), "no `{words}`: {ran:?}");
    }
    assert_eq!(scene.report("shared")["state"], "idle", "the first one goes on");
    scene.end(Signal::INT);
}

#[test]
fn without_a_gateway_commands_say_how_to_start_one() {
    let (_, place, _) = scene().end(Signal::INT);
    let mut command = std::process::Command::new(crate::support::programs::kennel());
    command.args(["ps", "--data"]).arg(place.path().join("data"));
    let ran = crate::support::running::run(command);
    assert!(ran.code == Some(125) && ran.err().contains("kennel serve"), "{ran:?}");
}

#[test]
fn the_file_is_checked_and_its_schema_printed() {
    let scene = scene();
    let file = scene.file();
    let checked = scene.kennel(&["config", "check", "-c", file.to_str().unwrap()]).fine();
    assert!(checked.contains("6 servers, 5 enabled, 1 of them elsewhere"), "{checked}");
    std::fs::write(&file, "[servers.x]\ncomand = \"y\"\n").unwrap();
    let ran = scene.kennel(&["config", "check", "-c", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err().contains("kennel.toml:2:1: servers.x.comand") && ran.err().contains("command"), "{ran:?}");
    let schema: serde_json::Value = serde_json::from_str(&scene.kennel(&["config", "schema"]).fine()).unwrap();
    assert_eq!(schema["title"], "kennel.toml");
    let mut command = scene.command(&["config", "path"]);
    command.env("XDG_CONFIG_HOME", "/somewhere");
    assert_eq!(crate::support::running::run(command).fine(), "/somewhere/kennel/kennel.toml\n");
    scene.end(Signal::INT);
}

#[test]
fn the_socket_answers_whoever_closes_its_own_side_and_refuses_what_it_does_not_know() {
    use std::io::{Read, Write};
    let scene = scene();
    for (request, words) in [
        ("{\"command\":\"status\"}", "\"servers\""),
        ("{\"command\":\"fly\"}", "does not understand"),
        ("nonsense", "does not understand"),
    ] {
        let mut stream = std::os::unix::net::UnixStream::connect(scene.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(words), "{request}: {answer}");
    }
    scene.end(Signal::INT);
}
