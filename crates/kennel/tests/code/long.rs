//! Cells that take long: they yield, are waited for, report progress, and end when nobody wants them.

use crate::scene::Scene;
use crate::support::gateway::Client;
use crate::support::waiting::{PATIENCE, settle};
use serde_json::{Value, json};

fn open(scene: &Scene) -> Client {
    let client = Client::open_at(&scene.address, "/servers/code/mcp", json!({})).unwrap();
    client.connection.set_timeout(PATIENCE);
    client
}

#[track_caller]
fn result(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let messages = client.call(json!(1), tool, arguments).unwrap();
    messages.last().unwrap()["result"]["structuredContent"].clone()
}

#[test]
fn a_cell_that_yields_is_waited_for_and_tells_only_what_is_new() {
    let scene = Scene::start(|file| file.text("[code]\nyield-after = 0.3\n"));
    let mut client = open(&scene);
    let code = "import time\nprint('one', flush=True)\ntime.sleep(3)\nprint('two')\nanswer = 42\nanswer";
    let begun = result(&mut client, "run_python", json!({ "code": code, "session": "long" }));
    assert_eq!((&begun["status"], &begun["session"]), (&json!("running"), &json!("long")), "{begun}");
    // Another session of the same user waits behind it.
    let mut other = open(&scene);
    let queued = result(&mut other, "run_python", json!({ "code": "answer + 1", "session": "long" }));
    let mut told = begun.clone();
    let mut printed = String::new();
    while told["status"] == "running" {
        printed.push_str(told["stdout"].as_str().unwrap_or_default());
        told = result(&mut client, "wait_python", json!({ "cell": begun["cell"], "timeout": 1 }));
    }
    printed.push_str(told["stdout"].as_str().unwrap_or_default());
    assert_eq!(printed, "one\ntwo\n", "all of it, and nothing twice");
    assert_eq!((&told["status"], &told["value"]), (&json!("success"), &json!("42")), "{told}");
    let ended = result(&mut other, "wait_python", json!({ "cell": queued["cell"], "timeout": 60 }));
    assert_eq!((&ended["status"], &ended["value"]), (&json!("success"), &json!("43")), "{ended}");
    let begun = result(&mut client, "run_python", json!({ "code": "while True: time.sleep(0.1)", "session": "long" }));
    let called_off = json!({ "cell": begun["cell"], "cancel": true, "timeout": 60 });
    assert_eq!(result(&mut client, "wait_python", called_off)["status"], "cancelled");
    assert_eq!(result(&mut client, "run_python", json!({ "code": "answer", "session": "long" }))["value"], "42");
    let unknown = result(&mut client, "wait_python", json!({ "cell": "c999" }));
    assert_eq!(unknown["status"], "validation_error", "{unknown}");
    let foreign = result(&mut client, "run_python", json!({ "code": "answer" }));
    assert_eq!(foreign["error"]["type"], "NameError", "what has no name is the session's own: {foreign}");
}

#[test]
fn a_client_that_wants_to_know_hears_that_its_cell_runs() {
    let scene = Scene::start(|file| file.text("[code]\nyield-after = 100\ntimeout = 100\n"));
    let mut client = open(&scene);
    let params = json!({
        "name": "run_python", "arguments": { "code": "import time; time.sleep(5)" }, "_meta": { "progressToken": "mine" }
    });
    let response =
        client.post(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params })).unwrap();
    let messages = response.messages();
    let (answer, told) = messages.split_last().unwrap();
    assert_eq!(answer["result"]["structuredContent"]["status"], "success");
    assert!(!told.is_empty(), "{messages:?}");
    for message in told {
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "mine");
    }
}

#[test]
fn a_client_that_gives_up_interrupts_its_cell_and_cancels_its_calls() {
    let held = tempfile::tempdir().unwrap();
    let place = held.path().to_str().unwrap().to_owned();
    let keys = format!("model = 'shared'\n[servers.one.box]\nwrite = ['{place}']");
    let scene = Scene::start(|file| file.fixture("one", &["--state-dir", &place], &keys));
    let mut client = open(&scene);
    assert_eq!(result(&mut client, "run_python", json!({ "code": "x = 5; x" }))["value"], "5");
    let mut second = Client {
        connection: crate::support::gateway::Connection::open(&scene.address).unwrap(),
        session: client.session.clone(),
        path: client.path.clone(),
    };
    let calling = std::thread::spawn(move || {
        let code = json!({ "code": "await mcp_one.hold(mark='held')", "timeout": 100 });
        let answered = client.call(json!(7), "run_python", code);
        (client, answered)
    });
    let file = held.path().join("held");
    settle(PATIENCE, || (!file.exists()).then(|| "the call does not begin".to_owned())).unwrap();
    let cancelled = json!({ "requestId": 7, "reason": "enough" });
    second.post(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).unwrap();
    // Its lock is free when the server has ended the call.
    let lock = std::fs::File::open(&file).unwrap();
    settle(PATIENCE, || lock.try_lock().is_err().then(|| "the call goes on".to_owned())).unwrap();
    let (mut client, _) = calling.join().unwrap();
    let after = result(&mut client, "run_python", json!({ "code": "x" }));
    assert_eq!((&after["status"], &after["value"]), (&json!("success"), &json!("5")), "{after}");
    drop(scene);
}

#[test]
fn a_session_goes_on_when_code_is_to_run_otherwise() {
    let patient = "[code]\nyield-after = 100\ntimeout = 100\n";
    let mut scene = Scene::start(|file| file.text(patient).fixture("one", &[], ""));
    let mut client = open(&scene);
    assert_eq!(result(&mut client, "run_python", json!({ "code": "x = 5; x" }))["value"], "5");
    scene.rewrite(|file| file.text(patient).text("calls = 1\n").fixture("one", &[], ""));
    scene.event("reloaded", |_| true);
    let twice = "[await mcp_one.echo(message='a'), await mcp_one.echo(message='b')]";
    let after = result(&mut client, "run_python", json!({ "code": twice }));
    assert!(after["error"]["message"].as_str().unwrap().contains("a cell may make 1 requests"), "{after}");
    let before = result(&mut client, "run_python", json!({ "code": "'x' in globals()" }));
    assert_eq!(before["value"], "False", "notebooks are new: {before}");
}
