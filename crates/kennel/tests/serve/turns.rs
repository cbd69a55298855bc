//! `concurrency` and `queue` of the file: how many calls a process gets at once, and how many wait for their turn.

use crate::scene::Scene;
use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::waiting::PATIENCE;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Begins a call that does not end by itself, and returns when the process works on it.
fn begun(client: &Client, address: &str) -> Connection {
    let params = json!({
        "name": "sleep", "arguments": { "ms": 3_600_000, "progress_every_ms": 10 }, "_meta": { "progressToken": 1 }
    });
    let call = json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params }).to_string();
    let mut connection = Connection::open(address).unwrap();
    connection.set_timeout(PATIENCE);
    let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", client.session.as_str())];
    connection.send("POST", &client.path, &headers, call.as_bytes()).unwrap();
    assert_eq!(connection.response_head().unwrap().status, 200);
    let mut heard = String::new();
    while !heard.contains("notifications/progress") {
        heard.push_str(&String::from_utf8(connection.chunk().unwrap().expect("the stream goes on")).unwrap());
    }
    connection
}

fn echo(client: &mut Client) -> Value {
    client.call(2, "echo", json!({ "message": "hi" })).unwrap().pop().unwrap()
}

#[test]
fn a_process_gets_as_many_calls_at_once_as_the_file_says() {
    let mut scene = Scene::start(|file| {
        let keys = "model = \"shared\"\nstart = \"eager\"\nqueue = 0\nconcurrency = ";
        file.fixture("one", &[], &format!("{keys}1")).fixture("two", &["--era", "modern"], &format!("{keys}2"))
    });
    for name in ["one", "two"] {
        scene.event("lifecycle", |event| event["server"] == name && event["lifecycle"]["state"] == "ready");
    }
    for (name, places) in [("one", 1), ("two", 2)] {
        let mut client = scene.session(name);
        let sessions: Vec<Client> = (0..places).map(|_| scene.session(name)).collect();
        let mut calls = Vec::new();
        for session in &sessions {
            assert_eq!(echo(&mut client)["result"]["content"][0]["text"], "hi", "{name} has a place");
            calls.push(begun(session, &scene.address));
        }
        let refused = echo(&mut client);
        assert_eq!(refused["error"]["code"], -31004, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("their turn"), "{refused}");
        // What is cancelled makes room.
        let mut sessions = sessions;
        let cancelled = json!({ "requestId": "long" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
        assert_eq!(sessions[0].post(&cancelled).unwrap().status, 202);
        assert_eq!(echo(&mut client)["result"]["content"][0]["text"], "hi");
    }
    assert!(!scene.said().contains("not in force"), "{}", scene.said());
    scene.end(Signal::INT);
}
