//! Many servers as one: at `/mcp` all of them, at `/views/<view>/mcp` a selection, at its own address one that is shown
//! otherwise.

use crate::scene::{File, Scene};
use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::waiting::PATIENCE;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn file(file: File) -> File {
    file.fixture("old", &[], "model = \"shared\"\ntags = [\"work\"]")
        .fixture(
            "new",
            &["--era", "modern"],
            "model = \"shared\"\ntools = { deny = [\"die\"], rename = { echo = \"say\" } }",
        )
        .fixture("broken", &["--exit-at-start", "3"], "tags = [\"work\"]")
        .text("[views.work]\ntags = [\"work\"]\ntools = { allow = [\"old__ec*\", \"pid\"] }\n")
        .text("[views.quiet]\nservers = [\"old\", \"new\"]\nsurface = \"search\"\n")
}

/// One request without a session, and its result.
fn asked(scene: &Scene, path: &str, method: &str, params: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut connection = Connection::open(&scene.address).unwrap();
    let response = connection.request("POST", path, &HEADERS, body.as_bytes()).unwrap();
    let answer = response.messages().pop().unwrap_or_else(|| panic!("{}: {}", response.status, response.text()));
    if answer["error"].is_null() { answer["result"].clone() } else { answer }
}

fn tools(scene: &Scene, path: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut params = json!({});
    loop {
        let page = asked(scene, path, "tools/list", &params);
        names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match page["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return names,
        }
    }
}

fn echoed(scene: &Scene, path: &str, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": { "message": "hi" } });
    asked(scene, path, "tools/call", &params)["content"][0]["text"].clone()
}

#[test]
fn all_servers_are_one_at_the_endpoint_for_all() {
    let scene = Scene::start(file);
    let names = tools(&scene, "/rpc");
    assert!(names.contains("old__echo") && names.contains("new__say") && names.contains("old__die"), "{names:?}");
    assert!(!names.contains("new__echo") && !names.contains("new__die"), "{names:?}");
    assert_eq!((echoed(&scene, "/rpc", "old__echo"), echoed(&scene, "/rpc", "new__say")), (json!("hi"), json!("hi")));
    assert!(asked(&scene, "/rpc", "tools/call", &json!({ "name": "new__die" }))["error"].is_object());
    scene.end(Signal::INT);
}

#[test]
fn a_view_shows_what_it_selects() {
    let scene = Scene::start(file);
    assert_eq!(tools(&scene, "/views/work/rpc"), ["old__echo", "old__pid"].map(str::to_owned).into());
    assert_eq!(echoed(&scene, "/views/work/rpc", "old__echo"), "hi");
    let listed = tools(&scene, "/views/quiet/rpc");
    assert!(listed.len() == 2 && listed.iter().any(|name| name.contains("search")), "{listed:?}");
    scene.end(Signal::INT);
}

#[test]
fn a_server_that_is_shown_otherwise_is_so_at_its_own_address_too() {
    let scene = Scene::start(file);
    let names = tools(&scene, "/servers/new/rpc");
    assert!(names.contains("say") && names.contains("pid"), "{names:?}");
    assert!(!names.contains("echo") && !names.contains("die"), "{names:?}");
    assert_eq!(echoed(&scene, "/servers/new/rpc", "say"), "hi");
    let mut session = scene.session("new");
    assert_eq!(session.text("say", json!({ "message": "hi" })), "hi");
    scene.end(Signal::INT);
}

#[test]
fn what_is_known_is_listed_after_a_restart_without_starting_anything() {
    let scene = Scene::start(file);
    let before = tools(&scene, "/rpc");
    let (_, place, mark) = scene.end(Signal::INT);
    let scene = Scene::start_in(place, mark, file);
    assert_eq!(tools(&scene, "/rpc"), before);
    assert_eq!((scene.processes("old").len(), scene.processes("new").len()), (0, 0), "nothing was started for that");
    scene.end(Signal::INT);
}

/// Where a client hears what nobody has asked for.
struct Listening(Connection, String);

impl Listening {
    fn open(scene: &Scene, path: &str) -> Self {
        let client = Client::open_at(&scene.address, path, json!({})).unwrap();
        let mut connection = Connection::open(&scene.address).unwrap();
        connection.set_timeout(PATIENCE);
        let headers = [("accept", "text/event-stream"), ("mcp-session-id", client.session.as_str())];
        connection.send("GET", path, &headers, b"").unwrap();
        assert_eq!(connection.response_head().unwrap().status, 200);
        Self(connection, String::new())
    }

    /// All that it has heard, and hears before a moment has passed without anything.
    fn at_hand(&mut self) -> &str {
        self.0.set_timeout(std::time::Duration::from_millis(200));
        while let Ok(Some(chunk)) = self.0.chunk() {
            self.1.push_str(&String::from_utf8(chunk).unwrap());
        }
        self.0.set_timeout(PATIENCE);
        &self.1
    }

    /// Waits until it has heard that the tools have changed.
    fn changes_of_tools(&mut self) {
        let start = std::time::Instant::now();
        while !self.1.contains("notifications/tools/list_changed") {
            // There are signs of life in between.
            assert!(start.elapsed() < PATIENCE, "nothing was heard: {}", self.1);
            self.1.push_str(&String::from_utf8(self.0.chunk().unwrap().expect("the stream goes on")).unwrap());
        }
    }
}

#[test]
fn clients_of_a_view_hear_of_no_changes_elsewhere() {
    let scene = Scene::start(file);
    scene.call("old", "echo", &json!({ "message": "hi" }));
    tools(&scene, "/rpc");
    // What is remembered is no news, and nothing is started that could have any.
    let (_, place, mark) = scene.end(Signal::INT);
    let scene = Scene::start_in(place, mark, file);
    let (mut all, mut view) = (Listening::open(&scene, "/mcp"), Listening::open(&scene, "/views/work/mcp"));
    scene.rewrite(|text| file(text).fixture("elsewhere", &[], ""));
    scene.kennel(&["reload"]).fine();
    all.changes_of_tools();
    assert!(!view.at_hand().contains("list_changed"), "{}", view.1);
    scene.rewrite(|text| file(text).fixture("elsewhere", &[], "tags = [\"work\"]"));
    scene.kennel(&["reload"]).fine();
    view.changes_of_tools();
    assert!(tools(&scene, "/views/work/rpc").contains("elsewhere__pid"));
    scene.end(Signal::INT);
}

#[test]
fn clients_of_all_hear_that_a_server_has_come() {
    let scene = Scene::start(file);
    let mut listening = Listening::open(&scene, "/mcp");
    scene.rewrite(|text| file(text).fixture("added", &[], "model = \"shared\""));
    scene.kennel(&["reload"]).fine();
    listening.changes_of_tools();
    assert!(tools(&scene, "/rpc").contains("added__echo"));
    scene.end(Signal::INT);
}
