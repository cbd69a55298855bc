//! Each server has doors of its own, whatever the others do.

use crate::scene::{File, Scene};
use crate::support::gateway::{Connection, HEADERS};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};

fn three(file: File) -> File {
    file.fixture("old", &[], "model = \"shared\"").fixture("new", &["--era", "modern"], "model = \"shared\"").fixture(
        "broken",
        &["--exit-at-start", "3"],
        "start = \"eager\"",
    )
}

/// One request over a WebSocket, and its answer.
fn over_websocket(address: &str, path: &str, request: &Value) -> Value {
    let mut connection = Connection::open(address).unwrap();
    let headers = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    connection.send("GET", path, &headers, b"").unwrap();
    assert_eq!(connection.response_head().unwrap().status, 101);
    let mut stream = connection.other_end().unwrap();
    let payload = request.to_string().into_bytes();
    let length = u16::try_from(payload.len()).unwrap();
    assert!(length > 125, "short frames are written otherwise");
    // Masked with zeros, which changes nothing.
    let mut frame = vec![0x81, 0x80 | 0x7e];
    frame.extend(length.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(payload);
    stream.write_all(&frame).unwrap();
    let mut head = [0; 2];
    stream.read_exact(&mut head).unwrap();
    let length = match head[1] {
        126 => {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            usize::from(u16::from_be_bytes(length))
        }
        short => usize::from(short),
    };
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn each_server_answers_at_its_own_address_by_all_doors_and_a_broken_one_disturbs_nobody() {
    let mut scene = Scene::start(three);
    scene.event("failed", |event| event["server"] == "broken");
    for name in ["old", "new"] {
        let mut session = scene.session(name);
        assert_eq!(session.text("echo", json!({ "message": "hi" })), "hi", "{name} over Streamable HTTP");
        let answer = scene.call(name, "echo", &json!({ "message": "hi" }));
        assert_eq!(answer["result"]["content"][0]["text"], "hi", "{name} over plain JSON-RPC");
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "echo", "arguments": { "message": "hi" }, "_meta": meta });
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        let answer = over_websocket(&scene.address, &format!("/servers/{name}/ws"), &request);
        assert_eq!(answer["result"]["content"][0]["text"], "hi", "{name} over WebSocket: {answer}");
    }
    let refused = scene.call("broken", "echo", &json!({}));
    assert_eq!((&refused["error"]["code"], &refused["error"]["data"]["phase"]), (&json!(-31002), &json!("connect")));
    assert_eq!(scene.report("old")["eras"], json!(["legacy"]));
    assert_eq!(scene.report("new")["eras"], json!(["modern"]));
    assert_eq!(scene.processes("old").len() + scene.processes("new").len(), 2, "one process for all sessions of each");
    scene.end(Signal::INT);
}

#[test]
fn addresses_of_nothing_say_where_to_look() {
    let scene = Scene::start(three);
    let mut connection = Connection::open(&scene.address).unwrap();
    let response = connection.request("POST", "/servers/nobody/rpc", &HEADERS, b"{}").unwrap();
    assert_eq!(response.status, 404);
    assert!(response.text().contains("nobody") && response.text().contains("kennel ps"), "{}", response.text());
    scene.end(Signal::INT);
}

#[test]
fn nothing_is_started_before_it_is_wanted_but_what_is_eager() {
    let mut scene = Scene::start(|file| {
        file.fixture("lazy", &[], "model = \"shared\"")
            .fixture("eager", &[], "model = \"shared\"\nstart = \"eager\"")
            .fixture("slow", &["--start-delay-ms", "60000"], "model = \"shared\"\nstart = \"eager\"")
    });
    scene.event("lifecycle", |event| event["server"] == "eager" && event["lifecycle"]["state"] == "ready");
    assert_eq!((scene.processes("eager").len(), scene.processes("lazy").len()), (1, 0));
    // One that never gets ready takes a turn, and others go on.
    assert_eq!(scene.call("lazy", "echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    assert_eq!(scene.report("slow")["state"], "starting");
    scene.end(Signal::INT);
}

#[test]
fn servers_that_hang_take_no_turn_from_those_that_start() {
    // More than there are turns, and before the good one in the order of the file.
    let hanging = std::thread::available_parallelism().map_or(2, usize::from).max(2) + 1;
    let mut scene = Scene::start(|file| {
        let hang = |file: File, number| {
            let keys = "model = \"shared\"\nstart = \"eager\"";
            file.fixture(&format!("a{number}"), &["--start-delay-ms", "600000"], keys)
        };
        (0..hanging).fold(file, hang).fixture("good", &[], "model = \"shared\"\nstart = \"eager\"")
    });
    scene.event("lifecycle", |event| event["server"] == "good" && event["lifecycle"]["state"] == "ready");
    assert_eq!(scene.report("a0")["state"], "starting", "and they are still given their time");
    scene.end(Signal::INT);
}

#[test]
fn the_json_of_other_clients_is_served_as_it_is() {
    let fixture = crate::support::programs::fixture().to_str().unwrap();
    let json = json!({ "mcpServers": { "time": { "command": fixture, "args": ["--era", "dual"] } } });
    let scene = Scene::start(|file| file.text(&json.to_string()));
    assert_eq!(scene.call("time", "echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    scene.end(Signal::INT);
}

#[test]
fn secrets_are_fetched_at_each_start_and_are_in_no_output() {
    let secrets = tempfile::tempdir().unwrap();
    let file = secrets.path().join("token");
    std::fs::write(&file, "first-secret-value\n").unwrap();
    let keys = format!("model = \"shared\"\nenv = {{ TOKEN = {{ from-file = {file:?} }} }}");
    let shell = "env = { TOKEN = \"told-to-everybody\" }\ncommand = \"sh\"\nargs = [\"-c\", \"echo I have $TOKEN >&2; exit 3\"]";
    let own = keys.replace("shared", "per-session");
    let mut scene = Scene::start(|text| {
        text.fixture("one", &[], &keys).fixture("own", &[], &own).text(&format!("[servers.loud]\n{shell}\n"))
    });
    let name = json!({ "name": "TOKEN" });
    assert_eq!(scene.session("own").text("environment", name.clone()), "first-secret-value");
    let token = |scene: &Scene| scene.call("one", "environment", &json!({ "name": "TOKEN" }));
    assert_eq!(token(&scene)["result"]["content"][0]["text"], "first-secret-value");
    std::fs::write(&file, "second-secret-value\n").unwrap();
    assert_eq!(scene.session("own").text("environment", name), "second-secret-value", "by the same launcher");
    scene.kennel(&["restart", "one"]).fine();
    assert_eq!(token(&scene)["result"]["content"][0]["text"], "second-secret-value");
    std::fs::remove_file(&file).unwrap();
    let refused = scene.kennel(&["restart", "one"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(token(&scene)["result"]["content"][0]["text"], "second-secret-value", "the old one goes on");
    let failed = scene.event("failed", |event| event["server"] == "one");
    let text = failed["text"].as_str().unwrap();
    assert!(text.contains("env.TOKEN") && text.contains("`one`") && text.contains("token"), "{text}");
    scene.call("loud", "echo", &json!({}));
    let heard = [
        scene.kennel(&["logs", "loud"]).fine(),
        scene.kennel(&["inspect", "loud", "--json"]).fine(),
        scene.kennel(&["events", "--json"]).fine(),
        scene.said(),
    ];
    for heard in heard {
        assert!(heard.contains("[redacted]") && !heard.contains("told-to-everybody"), "{heard}");
    }
    scene.end(Signal::INT);
}
