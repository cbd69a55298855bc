//! A gateway that is killed and started again at the same address: clients go on with the sessions that they have.

use crate::scene::{File, Scene};
use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::processes::{processes_with, unique_mark};
use crate::support::waiting::holds_soon;
use rustix::process::Signal;
use serde_json::{Value, json};

fn servers(file: File) -> File {
    file.fixture("own", &[], "")
        .fixture("shared", &[], "model = \"shared\"")
        .fixture("modern", &["--era", "modern"], "model = \"shared\"")
        .fixture("shown", &[], "tools = { rename = { echo = \"say\" } }")
        .text("[views.some]\nservers = [\"own\"]\n")
}

/// Where clients have sessions, and what they call there.
const SEATS: [(&str, &[&str]); 5] = [
    ("/mcp", &["own__echo", "shared__echo", "modern__echo", "shown__say"]),
    ("/servers/own/mcp", &["echo"]),
    ("/servers/modern/mcp", &["echo"]),
    ("/servers/shown/mcp", &["say"]),
    ("/views/some/mcp", &["own__echo"]),
];

const CAPABILITIES: &str = r#"{"roots":{"listChanged":true}}"#;

fn open(scene: &Scene, path: &str) -> Client {
    let capabilities: Value = serde_json::from_str(CAPABILITIES).unwrap();
    Client::open_at(&scene.address, path, capabilities).unwrap()
}

/// Calls everything that a client can.
#[track_caller]
fn go_on(client: &mut Client, tools: &[&str], words: &str) {
    for tool in tools {
        assert_eq!(client.text(tool, json!({ "message": words })), words, "{tool} at {}", client.path);
    }
}

/// The status of a request of a session.
fn status(address: &str, path: &str, session: &str) -> (u16, String) {
    let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", session)];
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let response = Connection::open(address).unwrap().request("POST", path, &headers, body.as_bytes()).unwrap();
    (response.status, response.text())
}

#[test]
fn sessions_go_on_after_a_gateway_was_killed_and_those_of_others_do_not() {
    let scene = Scene::start(servers);
    let mut clients = SEATS.map(|(path, tools)| (open(&scene, path), tools));
    for (client, tools) in &mut clients {
        go_on(client, tools, "before");
    }
    let introduced = clients[1].0.text("client_info", json!({}));
    let ended = open(&scene, "/mcp");
    let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", ended.session.as_str())];
    let deleted = Connection::open(&scene.address).unwrap().request("DELETE", "/mcp", &headers, b"").unwrap();
    assert!(deleted.status < 300, "{}", deleted.status);

    let address = scene.address.clone();
    let (_, place, mark) = scene.end(Signal::KILL);
    assert!(holds_soon(|| processes_with(&mark).is_empty()), "{:?}", processes_with(&mark));
    let scene = Scene::start_at(&address, place, mark, servers);
    assert_eq!(scene.address, address);
    for (client, tools) in &mut clients {
        client.connection = Connection::open(&address).unwrap();
        go_on(client, tools, "after");
    }
    assert_eq!(clients[1].0.text("client_info", json!({})), introduced, "the new process hears who the client is");
    assert!(introduced.contains("roots") && introduced.contains("\"test\""), "{introduced}");
    let (gone, text) = status(&address, "/mcp", &ended.session);
    assert_eq!(gone, 404, "a session that has ended stays so: {text}");
    let (elsewhere, text) = status(&address, "/servers/shared/mcp", &clients[1].0.session);
    assert_eq!(elsewhere, 404, "a session of another server: {text}");

    let other = Scene::start_in(tempfile::tempdir().unwrap(), unique_mark(), servers);
    for (client, _) in &clients {
        let (foreign, text) = status(&other.address, &client.path, &client.session);
        assert_eq!(foreign, 404, "{} of another gateway: {text}", client.path);
    }
    go_on(&mut open(&other, "/mcp"), SEATS[0].1, "anew");
    other.end(Signal::INT);
    let (status, _place, mark) = scene.end(Signal::TERM);
    assert!(status.success() && processes_with(&mark).is_empty(), "{status}: {:?}", processes_with(&mark));
}
