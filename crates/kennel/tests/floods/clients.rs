//! Clients that ask for more than they get, at each of the doors.

use crate::doors::{Socket, call, over_stdio, refused, stateless};
use crate::gateway::{Gateway, KIB, MIB};
use crate::support::gateway::{Client, Connection, HEADERS};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// Ends a session as clients do.
pub(crate) fn end(session: &mut Client) {
    let headers = [HEADERS[0], HEADERS[1], ("mcp-session-id", session.session.as_str())];
    session.connection.request("DELETE", &session.path, &headers, b"").unwrap();
}

/// Tasks with long names, all of them one client's.
pub(crate) fn tasks(gateway: &Gateway) -> Result<(), String> {
    let mut session = gateway.session("owned");
    let start = Instant::now();
    while start.elapsed() < SECOND {
        let params = json!({ "name": "go", "arguments": {}, "task": {} });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = session.post(&request).map_err(|error| error.to_string())?;
        refused(&answer, "taskId")?;
    }
    end(&mut session);
    Ok(())
}

/// Results that are too large to pass: each has a file, and there are so many of them at most.
pub(crate) fn kept_results(gateway: &Gateway) -> Result<(), String> {
    let mut session = gateway.session("kept");
    for number in 0..100 {
        let answer = session.post(&call(number, json!({ "bytes": 50_000 }))).map_err(|error| error.to_string())?;
        refused(&answer, "kennel://results/")?;
    }
    let files = gateway.nameless_files();
    end(&mut session);
    if (1..=64).contains(&files) { Ok(()) } else { Err(format!("{files} files are open for results")) }
}

/// A server that dies at once is not started for ever, however often it is wanted.
pub(crate) fn restarts(gateway: &Gateway) -> Result<(), String> {
    let before = gateway.events("failed").len();
    let start = Instant::now();
    let mut asked = 0;
    while start.elapsed() < 2 * SECOND {
        let answer = gateway.call("crash", &json!({})).map_err(|error| error.to_string())?;
        asked += 1;
        if !answer["error"].is_object() {
            return Err(format!("no error: {answer}"));
        }
    }
    let failed = gateway.events("failed").len() - before;
    if asked > failed && (1..=4).contains(&failed) {
        Ok(())
    } else {
        Err(format!("started {failed} times for {asked} calls"))
    }
}

/// An answer from elsewhere that never ends.
pub(crate) fn upstream_event(gateway: &Gateway) -> Result<(), String> {
    let answer = gateway.call("elsewhere", &json!({})).map_err(|error| error.to_string())?;
    if answer["error"].is_object() { Ok(()) } else { Err(format!("no error: {answer}")) }
}

/// More requests than a session may have unanswered, over a WebSocket.
pub(crate) fn requests(gateway: &Gateway) -> Result<(), String> {
    let mut socket = Socket::open(gateway, "calm");
    for id in 0..3000 {
        socket.send(&call(id, json!({ "never": true })));
    }
    socket.refusal("1024 unanswered requests in this session")
}

/// Requests with more bytes than a process may have in flight, over a WebSocket.
pub(crate) fn request_bytes(gateway: &Gateway) -> Result<(), String> {
    let mut socket = Socket::open(gateway, "calm");
    let padding = "x".repeat(200 * KIB);
    let start = Instant::now();
    let mut outcome = Err("nothing was refused".to_owned());
    while outcome.is_err() && start.elapsed() < 30 * SECOND {
        socket.send(&call(1, json!({ "never": true, "padding": padding })));
        // One that is not in flight yet but on its way is refused otherwise.
        while let Some(refusal) = socket.read(Duration::from_millis(50)) {
            let text = refusal["error"]["message"].to_string();
            outcome = if text.contains("bytes of requests in flight") { Ok(()) } else { Err(text) };
        }
    }
    outcome
}

/// Answers that are not read, over a WebSocket: what is beyond all mailboxes is refused, and every request is answered.
pub(crate) fn unread(gateway: &Gateway) -> Result<(), String> {
    let mut socket = Socket::open(gateway, "calm");
    for id in 1..=300 {
        socket.send(&call(id, json!({ "bytes": 200 * KIB })));
    }
    std::thread::sleep(2 * SECOND);
    let (mut answers, mut refusals) = (0, 0);
    while answers < 300
        && let Some(answer) = socket.read(30 * SECOND)
    {
        answers += 1;
        let text = answer["error"]["message"].as_str().unwrap_or_default();
        refusals += usize::from(text.contains("bytes of answers that clients have not read"));
    }
    if answers == 300 && (1..300).contains(&refusals) {
        return Ok(());
    }
    Err(format!("{answers} of 300 requests were answered, {refusals} with a refusal"))
}

/// Ids and progress tokens without measure, in a session over Streamable HTTP.
pub(crate) fn names(gateway: &Gateway) -> Result<(), String> {
    let mut session = gateway.session("calm");
    let long = "x".repeat(100 * KIB);
    let start = Instant::now();
    while start.elapsed() < SECOND {
        let answer = session.post(&call(long.as_str(), json!({}))).map_err(|error| error.to_string())?;
        refused(&answer, "at most 16384 pass")?;
        let mut request = call(1, json!({}));
        request["params"]["_meta"] = json!({ "progressToken": long });
        refused(&session.post(&request).map_err(|error| error.to_string())?, "at most 16384 pass")?;
    }
    end(&mut session);
    Ok(())
}

/// Subscriptions without end: in a session, and in stateless requests for streams.
pub(crate) fn subscriptions(gateway: &Gateway) -> Result<(), String> {
    let mut session = gateway.session("calm");
    let mut outcome = Err("nothing was refused".to_owned());
    for number in 0..100 {
        let params = json!({ "uri": format!("flood://{number}/{}", "x".repeat(4 * KIB)) });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params });
        outcome = refused(&session.post(&request).map_err(|error| error.to_string())?, "bytes of addresses");
    }
    end(&mut session);
    let many: Vec<String> = (0..2000).map(|number| format!("flood://{number}")).collect();
    let start = Instant::now();
    while start.elapsed() < SECOND && outcome.is_ok() {
        let params = json!({ "notifications": { "resourceSubscriptions": many } });
        outcome =
            refused(&stateless(gateway, "control", "subscriptions/listen", params), "1024 subscriptions of one stream");
    }
    outcome
}

/// Clients that say much about themselves, and more sessions than there may be processes.
pub(crate) fn introductions(gateway: &Gateway) -> Result<(), String> {
    let long = json!({ "experimental": { "x": "x".repeat(200 * KIB) } });
    for _ in 0..20 {
        match Client::open_at(&gateway.address, "/servers/calm/mcp", long.clone()) {
            Err(error) if error.to_string().contains("at most 262144 pass") => {}
            Err(error) => return Err(format!("refused otherwise: {error}")),
            Ok(_) => return Err("a session was opened".to_owned()),
        }
    }
    let mut sessions: Vec<Client> = (0..4).map(|_| gateway.session("calm")).collect();
    let outcome = match Client::open_at(&gateway.address, "/servers/calm/mcp", json!({})) {
        Err(error) if error.to_string().contains("4 processes of this server") => Ok(()),
        Err(error) => Err(format!("refused otherwise: {error}")),
        Ok(_) => Err("a fifth process was started".to_owned()),
    };
    sessions.iter_mut().for_each(end);
    outcome
}

/// Calls by `/rpc` in batches, of tools with long names and with long arguments: what is written of them is cut.
pub(crate) fn audit(gateway: &Gateway) -> Result<(), String> {
    let before = gateway.disk();
    let mut connection = Connection::open(&gateway.address).unwrap();
    let mut made = 0;
    let start = Instant::now();
    while start.elapsed() < 2 * SECOND {
        let calls: Vec<Value> = (0..100)
            .map(|id| {
                let params = json!({ "name": "n".repeat(2 * KIB), "arguments": {} });
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            })
            .collect();
        let body = json!(calls).to_string();
        let response = connection.request("POST", "/servers/control/rpc", &HEADERS, body.as_bytes()).unwrap();
        assert_eq!(response.status, 200, "{}", response.text());
        made += calls.len();
    }
    // More than a batch may hold is refused as a whole.
    let many = json!(vec![call(1, json!({})); 101]).to_string();
    let response = connection.request("POST", "/servers/control/rpc", &HEADERS, many.as_bytes()).unwrap();
    refused(&response, "100")?;
    std::thread::sleep(SECOND);
    let grown = gateway.disk().saturating_sub(before);
    // A row has its name, cut, in the table and in an index, and there is the log of changes.
    let most = made * 4 * KIB + 16 * MIB;
    if grown <= most { Ok(()) } else { Err(format!("{made} calls took {grown} bytes on disk")) }
}

/// The same as over a WebSocket, by standard input and output: requests without answers, and answers that are not read.
pub(crate) fn stdio(gateway: &Gateway) -> Result<(), String> {
    let requests: Vec<Value> = (1..3000).map(|id| call(id, json!({ "never": true }))).collect();
    let expected = "1024 unanswered requests in this session";
    let (grown, said) = over_stdio(gateway, &requests, expected);
    if grown > 24 * MIB {
        return Err(format!("it has grown by {grown} bytes"));
    }
    if said.contains(expected) { Ok(()) } else { Err(format!("said: {said:.500}")) }
}
