//! The file changes while clients call: what changed changes, the rest is not touched, and no call is lost.

use crate::scene::{File, Scene};
use crate::support::gateway::Client;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn file(variable: &str) -> impl FnOnce(File) -> File {
    let keys = format!("model = \"shared\"\nenv = {{ VERSION = {variable:?} }}");
    move |file| {
        file.fixture("changing", &[], &keys)
            .fixture("own", &[], &format!("env = {{ VERSION = {variable:?} }}"))
            .fixture("same", &[], "model = \"shared\"")
            .fixture("also", &["--era", "modern"], "model = \"shared\"")
    }
}

fn version(client: &mut Client) -> String {
    client.text("environment", json!({ "name": "VERSION" }))
}

#[test]
fn a_changed_file_changes_what_changed_while_clients_call_and_loses_no_call() {
    let mut scene = Scene::start(file("one"));
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut callers = Vec::new();
    for number in 0..50 {
        let name = ["changing", "own", "same", "also"][number % 4];
        // Few with a process of their own: each costs one.
        let name = if name == "own" && number > 8 { "changing" } else { name };
        let mut client = scene.session(name);
        let (stop, calls) = (Arc::clone(&stop), Arc::clone(&calls));
        callers.push(std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let text = format!("{number} {}", calls.fetch_add(1, Ordering::Relaxed));
                assert_eq!(client.text("echo", json!({ "message": text })), text);
            }
            client
        }));
    }
    let untouched = [scene.pids("same", 1), scene.pids("also", 1)].concat();
    let before = scene.pids("changing", 1);
    for round in ["two", "three"] {
        scene.rewrite(file(round));
        let changed = json!(["changing", "own"]);
        let nth = if round == "two" { 1 } else { 2 };
        scene_reloads(&mut scene, &changed, nth);
        let so_far = calls.load(Ordering::Relaxed);
        assert!(crate::support::waiting::holds_soon(|| calls.load(Ordering::Relaxed) > so_far + 100), "calls go on");
    }
    stop.store(true, Ordering::Relaxed);
    let clients: Vec<Client> = callers.into_iter().map(|caller| caller.join().expect("no call is lost")).collect();
    for (number, mut client) in clients.into_iter().enumerate() {
        if client.path.contains("changing") || client.path.contains("own") {
            assert_eq!(version(&mut client), "three", "client {number} of {}", client.path);
        }
    }
    assert_eq!([scene.pids("same", 1), scene.pids("also", 1)].concat(), untouched, "others keep their processes");
    assert_ne!(scene.pids("changing", 1), before);
    assert!(!scene.said().contains("cut_off"), "{}", scene.said());
    scene.end(Signal::INT);
}

/// Waits until the file was read again for so many times with these changes.
fn scene_reloads(scene: &mut Scene, changed: &Value, times: usize) {
    let is_it = |event: &Value| event["changes"]["changed"] == *changed;
    let start = std::time::Instant::now();
    loop {
        let said = scene.said();
        let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        if events.filter(|event| event["event"] == "reloaded" && is_it(event)).count() >= times {
            return;
        }
        assert!(start.elapsed() < crate::support::waiting::PATIENCE, "not reloaded: {said}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn servers_come_go_and_are_shown_otherwise_without_a_new_process() {
    let scene = Scene::start(file("one"));
    let mut same = scene.session("same");
    same.text("echo", json!({ "message": "hi" }));
    let pids = scene.pids("same", 1);
    scene.rewrite(|file| {
        file.fixture("same", &[], "model = \"shared\"\ntags = [\"other\"]\ndescription = \"Another\"").fixture(
            "added",
            &[],
            "",
        )
    });
    let reloaded = scene.json(&["reload"]);
    assert_eq!(reloaded["added"], json!(["added"]));
    assert_eq!(reloaded["removed"], json!(["also", "changing", "own"]));
    assert_eq!(reloaded["shown_otherwise"], json!(["same"]));
    assert_eq!(scene.call("added", "echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    assert_eq!(same.text("echo", json!({ "message": "hi" })), "hi");
    assert_eq!(scene.pids("same", 1), pids);
    assert_eq!(scene.report("same")["description"], "Another");
    let gone = Client::open_at(&scene.address, "/servers/changing/mcp", json!({})).err().expect("it is gone");
    assert!(gone.to_string().contains("404"), "{gone}");
    let again = scene.kennel(&["reload"]).fine();
    assert_eq!(again, "unchanged: 2\n");
    scene.end(Signal::INT);
}

#[test]
fn a_broken_file_changes_nothing_and_says_what_is_wrong() {
    let mut scene = Scene::start(file("one"));
    let mut client = scene.session("changing");
    assert_eq!(version(&mut client), "one");
    let pids = scene.pids("changing", 1);
    scene.rewrite(|file| file.text("[servers.changing]\ncomand = \"x\"\n"));
    let said = scene.event("not_reloaded", |_| true);
    assert!(said["text"].as_str().unwrap().contains("kennel.toml:2:1: servers.changing.comand"), "{said}");
    let ran = scene.kennel(&["reload"]);
    assert!(ran.code == Some(1) && ran.err().contains("comand"), "{ran:?}");
    assert_eq!((version(&mut client).as_str(), scene.pids("changing", 1)), ("one", pids));
    scene.rewrite(file("two"));
    scene.kept.signal(Signal::HUP);
    scene_reloads(&mut scene, &json!(["changing", "own"]), 1);
    assert_eq!(version(&mut client), "two");
    scene.end(Signal::INT);
}

#[test]
fn a_server_that_is_changed_to_one_that_does_not_start_fails_alone() {
    let scene = Scene::start(file("one"));
    let mut client = scene.session("changing");
    scene.rewrite(|file| {
        file.fixture("changing", &["--exit-at-start", "3"], "model = \"shared\"").fixture(
            "same",
            &[],
            "model = \"shared\"",
        )
    });
    scene.kennel(&["reload"]).fine();
    let refused = client.call(1, "echo", json!({})).unwrap().pop().unwrap();
    assert_eq!(refused["error"]["code"], -31002, "{refused}");
    assert_eq!(scene.call("same", "echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    scene.rewrite(file("two"));
    scene.kennel(&["reload"]).fine();
    assert_eq!(version(&mut client), "two", "the session goes on when it can");
    scene.end(Signal::INT);
}
