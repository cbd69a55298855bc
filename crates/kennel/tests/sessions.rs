//! Sessions over HTTP: streams that are taken up again, clients that do not read, and very many of them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use support::events::{Event, Events};
use support::gateway::{Client, Connection, Gateway, HEADERS};
use support::processes::proc_text;
use support::programs::fixture;
use support::waiting::{PATIENCE, settle};
use support::{alone, announce};

fn progress_of(events: &[Event]) -> Vec<f64> {
    let messages = events.iter().filter_map(|event| serde_json::from_str::<Value>(&event.data).ok());
    messages.filter_map(|message| message["params"]["progress"].as_f64()).collect()
}

#[test]
fn a_client_that_comes_back_gets_each_event_once() {
    let gateway = Gateway::start(&[], &[fixture().as_os_str()]);
    let mut client = gateway.session(json!({}));
    let call = json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {
        "name": "sleep", "arguments": { "ms": 1500, "progress_every_ms": 50 }, "_meta": { "progressToken": "t" } } });
    let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", client.session.as_str())];
    let mut seen = Vec::new();
    client.connection.send("POST", "/mcp", &headers, call.to_string().as_bytes()).unwrap();
    let mut stream = Events::of(&mut client.connection);
    while progress_of(&seen).len() < 3 {
        seen.push(stream.next().expect("the stream goes on"));
    }
    // Again and again, until the answer is there.
    let is_answer = |event: &Event| event.data.contains("\"id\":\"long\"");
    let mut rounds = 0;
    while !seen.iter().any(is_answer) {
        rounds += 1;
        let last = seen.last().unwrap().id.clone();
        let mut connection = Connection::open(&gateway.address).unwrap();
        let headers = [HEADERS[1], ("mcp-session-id", client.session.as_str()), ("last-event-id", last.as_str())];
        connection.send("GET", "/mcp", &headers, b"").unwrap();
        let mut stream = Events::of(&mut connection);
        for _ in 0..4 {
            match stream.next() {
                Some(event) if !event.data.is_empty() => seen.push(event),
                Some(_) => {}
                None => break,
            }
        }
    }
    assert!(rounds > 2, "the connection was lost often enough: {rounds}");
    let progress = progress_of(&seen);
    assert!(
        progress.len() > 20 && progress.windows(2).all(|pair| pair[0] < pair[1]),
        "each once, in order: {progress:?}"
    );
    assert_eq!(seen.iter().filter(|event| is_answer(event)).count(), 1);
    assert!(gateway.stop().0.success());
}

/// Resident memory in KiB.
fn memory_of(pid: u32) -> u64 {
    let status = proc_text(pid, "status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_client_that_does_not_read_slows_nobody_and_takes_bounded_memory() {
    let _alone = alone();
    let gateway = Gateway::start(&["--model", "shared"], &[fixture().as_os_str()]);
    let mut slow = gateway.session(json!({}));
    // It listens for whatever comes, and asks for much, but reads nothing.
    let mut listening = Connection::open(&gateway.address).unwrap();
    let session = slow.session.clone();
    let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", session.as_str())];
    listening.send("GET", "/mcp", &headers[1..], b"").unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "large", "arguments": { "bytes": 1 << 20 } } });
    let unread: Vec<_> = (0..50)
        .map(|_| {
            let mut connection = Connection::open(&gateway.address).unwrap();
            connection.send("POST", "/mcp", &headers, call.to_string().as_bytes()).unwrap();
            connection
        })
        .collect();
    let mut quick = gateway.session(json!({}));
    for number in 0..3000 {
        if number % 3 == 0 {
            quick.text("trigger_list_changed", json!({ "what": "tools" }));
        }
        let message = format!("message {number}");
        assert_eq!(quick.text("echo", json!({ "message": message })), message);
    }
    let memory = memory_of(gateway.kept.pid());
    announce(&format!("with a client that does not read: {} MiB", memory >> 10));
    assert!(memory < 250 << 10, "{memory} KiB");
    drop((unread, listening));
    // The session itself is as good as any.
    slow.connection = Connection::open(&gateway.address).unwrap();
    assert_eq!(slow.text("echo", json!({ "message": "hi" })), "hi");
    assert!(gateway.stop().0.success());
}

#[test]
fn ten_thousand_idle_sessions_fit() {
    const SESSIONS: u64 = 10_000;
    let _alone = alone();
    let gateway = Gateway::start(&["--model", "shared"], &[fixture().as_os_str()]);
    let mut first = gateway.session(json!({}));
    first.text("echo", json!({ "message": "hi" }));
    let before = memory_of(gateway.kept.pid());
    let mut last = None;
    for _ in 1..SESSIONS {
        let mut client = Client { connection: first.connection, session: String::new(), path: "/mcp".to_owned() };
        client.session = Client::initialize(&mut client.connection, json!({})).unwrap();
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
        last = Some(client.session);
        first.connection = client.connection;
    }
    let after = memory_of(gateway.kept.pid());
    let each = (after.saturating_sub(before) * 1024) / SESSIONS;
    announce(&format!("{SESSIONS} idle sessions: {} MiB, {each} bytes each", after >> 10));
    assert!(after < 200 << 10, "{after} KiB");
    assert_eq!(first.text("echo", json!({ "message": "first" })), "first");
    first.session = last.unwrap();
    assert_eq!(first.text("echo", json!({ "message": "last" })), "last");
    assert!(gateway.stop().0.success());
}

#[test]
fn a_deleted_session_is_gone_with_its_process() {
    let gateway = Gateway::start(&[], &[fixture().as_os_str()]);
    let mut client = gateway.session(json!({}));
    let pid: u32 = client.text("pid", json!({})).parse().unwrap();
    assert!(pid > 0);
    let headers = [("mcp-session-id", client.session.as_str())];
    let instances = || {
        let metrics = Connection::open(&gateway.address).unwrap().request("GET", "/metrics", &[], b"").unwrap().text();
        metrics.lines().any(|line| line.starts_with("kennel_instances") && line.ends_with(" 0"))
    };
    assert!(!instances());
    let deleted = client.connection.request("DELETE", "/mcp", &headers, b"").unwrap();
    assert!((200..300).contains(&deleted.status), "{deleted:?}");
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(client.post(&ping).unwrap().status, 404);
    settle(PATIENCE, || (!instances()).then(|| "its process is still there".to_owned())).unwrap();
    assert!(gateway.stop().0.success());
}
