//! `kennel run` as people and programs meet it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use kennel_testkit::StdioClient;
use serde_json::json;
use std::ffi::OsStr;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Instant;
use support::gateway::{Connection, Gateway, HEADERS};
use support::processes::{processes_with, unique_mark};
use support::programs::{fixture, kennel};
use support::running::{Ran, run};
use support::waiting::holds_soon;

/// `kennel run` with output for people, in a data directory of its own.
fn kennel_run(flags: &[&str], command: &[&str]) -> (Command, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    let mut run = Command::new(kennel());
    run.arg("run").arg("--data").arg(data.path()).args(flags).arg("--").args(command).stdin(Stdio::null());
    (run, data)
}

#[track_caller]
fn fails(flags: &[&str], command: &[&str]) -> Ran {
    let (command, _data) = kennel_run(&[&["--listen", "127.0.0.1:0"], flags].concat(), command);
    let ran = run(command);
    assert!(matches!(ran.code, Some(1 | 125)), "{ran:?}");
    ran
}

fn fixture_text() -> &'static str {
    fixture().to_str().unwrap()
}

#[test]
fn a_server_that_does_not_start_is_reported_with_phase_cause_and_its_last_words() {
    let ran = fails(&[], &["sh", "-c", "echo the database is locked >&2; exit 3"]);
    assert_eq!(ran.code, Some(1));
    for words in ["phase connect", "exit code 3", "the database is locked"] {
        assert!(ran.err().contains(words), "no `{words}`: {}", ran.err());
    }
    let ran = fails(&[], &["no-such-program-anywhere"]);
    for words in ["phase start_process", "no-such-program-anywhere", "hint"] {
        assert!(ran.err().contains(words), "no `{words}`: {}", ran.err());
    }
    let ran = fails(&["--require-tool", "fly"], &[fixture_text()]);
    for words in ["phase preflight", "fly"] {
        assert!(ran.err().contains(words), "no `{words}`: {}", ran.err());
    }
}

#[test]
fn a_port_that_is_taken_is_named_with_the_way_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (command, _data) = kennel_run(&["--listen", &address], &[fixture_text()]);
    let ran = run(command);
    assert_eq!(ran.code, Some(125));
    assert!(ran.err().contains(&address) && ran.err().contains("--listen"), "{}", ran.err());
}

#[test]
fn secrets_that_the_server_prints_are_not_shown() {
    let ran = fails(&["--env", "TOKEN=hunter2-hunter2"], &["sh", "-c", "echo I have $TOKEN >&2; exit 1"]);
    assert!(ran.err().contains("I have [redacted]"), "{}", ran.err());
    assert!(!ran.err().contains("hunter2"), "{}", ran.err());
}

#[test]
fn people_are_told_the_endpoint_and_how_to_use_it() {
    let mark = unique_mark();
    let (mut command, _data) = kennel_run(&["--listen", "127.0.0.1:0"], &[fixture_text(), "--state-dir", &mark]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut kept = support::running::Kept::start(command);
    let mut said = support::running::Collected::from(kept.stderr());
    while !said.text().contains("mcp_servers") {
        said.take(support::waiting::PATIENCE).unwrap_or_else(|error| panic!("{error}: {}", said.text()));
    }
    let text = said.text();
    for words in
        ["kennel-fixture is served at http://127.0.0.1:", "claude mcp add", "code --add-mcp", "cursor", "ws://"]
    {
        assert!(text.contains(words), "no `{words}`: {text}");
    }
    assert!(text.contains(&format!("read {}", fixture_text())), "the grant by inference is said: {text}");
    kept.signal(rustix::process::Signal::INT);
    assert!(kept.end(&mut [&mut said]).success());
    assert!(holds_soon(|| processes_with(&mark).is_empty()));
}

#[test]
fn nothing_is_inferred_where_that_is_turned_off() {
    let ran = fails(&["--no-infer"], &[fixture_text()]);
    assert!(ran.err().contains("phase start_process"), "the program cannot be seen: {}", ran.err());
    assert!(!ran.err().contains("named in the command"), "{}", ran.err());
}

#[test]
fn beyond_this_machine_a_token_is_asked_for() {
    let data = tempfile::tempdir().unwrap();
    let mut gateway =
        Gateway::start_in(data, &["--listen", "0.0.0.0:0", "--allow-host", "127.0.0.1"], &[fixture().as_os_str()]);
    let token = gateway.wait_for_event("serving")["token"].as_str().unwrap().to_owned();
    assert!(token.len() >= 32);
    let address = gateway.address.replace("0.0.0.0", "127.0.0.1");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let ask = |headers: &[(&str, &str)]| {
        let headers = [&HEADERS[..], headers].concat();
        Connection::open(&address).unwrap().request("POST", "/rpc", &headers, body.as_bytes()).unwrap()
    };
    assert_eq!(ask(&[]).status, 401);
    assert_eq!(ask(&[("authorization", "Bearer wrong")]).status, 401);
    let bearer = format!("Bearer {token}");
    assert_eq!(ask(&[("authorization", &bearer)]).status, 200);
    assert!(gateway.stop().0.success());
}

#[test]
fn a_client_on_standard_input_and_output_gets_everything() {
    let mark = unique_mark();
    let (mut command, _data) = kennel_run(&["--stdio"], &[fixture_text(), "--state-dir", &mark]);
    let mut client = StdioClient::spawn(&mut command).unwrap();
    let result = client.initialize_as("2025-06-18", &json!({ "sampling": {}, "elicitation": {} })).unwrap();
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(client.tool_text("echo", &json!({ "message": "hi" })).unwrap(), "hi");
    let call = client.send_tool_call("test_sampling", &json!({ "prompt": "say something" })).unwrap();
    let asked = client.expect_method("sampling/createMessage").unwrap();
    let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "something" } });
    client.respond(&asked["id"], &said).unwrap();
    let answer = client.response(&json!(call)).unwrap();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("something"), "{answer}");
    drop(client);
    assert!(holds_soon(|| processes_with(&mark).is_empty()), "nothing remains");
}

#[test]
fn large_messages_pass_and_larger_ones_are_refused_without_harm() {
    let gateway = Gateway::start(&["--memory", "2G"], &[fixture().as_os_str()]);
    let mut client = gateway.session(json!({}));
    // With its envelope just below the limit, both ways.
    let message = "x".repeat((64 << 20) - 500);
    assert_eq!(client.text("echo", json!({ "message": message })).len(), message.len());
    let too_large = vec![b' '; (64 << 20) + 1];
    let refused = client.post_bytes(&too_large);
    // Whoever is refused while it sends may see the answer or the end of the connection.
    assert!(refused.is_err() || refused.is_ok_and(|response| response.status == 413));
    client.connection = Connection::open(&gateway.address).unwrap();
    assert_eq!(client.text("echo", json!({ "message": "still there" })), "still there");
    let answers = client.call(json!("big"), "large", json!({ "bytes": 140 << 20 })).unwrap();
    assert_eq!((answers[0]["error"]["code"].as_i64(), answers[0]["id"].as_str()), (Some(-31005), Some("big")));
    assert_eq!(client.text("echo", json!({ "message": "still there" })), "still there");
    assert!(gateway.stop().0.success());
}

#[test]
fn results_over_the_limit_are_kept_and_read_in_parts() {
    let gateway = Gateway::start(&["--max-result", "1M"], &[fixture().as_os_str()]);
    let mut client = gateway.session(json!({}));
    let answers = client.call(json!(1), "large", json!({ "bytes": 3 << 20 })).unwrap();
    let content = answers[0]["result"]["content"].as_array().unwrap();
    let link = content.iter().find(|item| item["type"] == "resource_link").expect("a link to the result");
    let mut next = link["uri"].as_str().unwrap().to_owned();
    let mut whole = String::new();
    loop {
        let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": next } });
        let answer = client.post(&read).unwrap().messages().remove(0);
        let part = &answer["result"]["contents"][0];
        whole.push_str(part["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")));
        match part["_meta"]["kennel/next"].as_str() {
            Some(following) => next = following.to_owned(),
            None => break,
        }
    }
    let result: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(result["content"][0]["text"].as_str().unwrap().len(), 3 << 20);
    assert!(gateway.stop().0.success());
}

#[test]
fn a_server_that_is_known_is_introduced_before_it_is_ready() {
    let data = tempfile::tempdir().unwrap();
    let slow = [fixture().as_os_str(), OsStr::new("--start-delay-ms"), OsStr::new("3000")];
    let first = Gateway::start_in(data, &[], &slow);
    // The kind of client that the gateway will see again.
    let mut client = first.session(json!({}));
    client.text("echo", json!({ "message": "hi" }));
    drop(client);
    let (_, _, data) = first.stop_and_keep();
    let second = Gateway::start_in(data, &[], &slow);
    let start = Instant::now();
    let mut client = second.session(json!({}));
    let listed = client.post(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" })).unwrap().messages();
    let known = start.elapsed();
    assert!(listed[0]["result"]["tools"].as_array().unwrap().len() > 10);
    client.text("echo", json!({ "message": "hi" }));
    let ready = start.elapsed();
    assert!(ready > known * 3, "the list came after {known:?}, the process after {ready:?}");
    assert!(second.stop().0.success());
}

#[test]
fn a_state_that_is_damaged_is_moved_aside_and_the_operator_hears_of_it() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("state/kennel.db");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "this is no state").unwrap();
    let mut gateway = Gateway::start_in(data, &[], &[fixture().as_os_str()]);
    let text = gateway.wait_for_event("state")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("is damaged") && text.contains(file.to_str().unwrap()), "{text}");
    gateway.session(json!({})).text("echo", json!({ "message": "hi" }));
    let (status, _, data) = gateway.stop_and_keep();
    assert!(status.success());
    let mut names: Vec<_> =
        std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(names[0], "kennel.db");
    let aside = std::fs::read(file.with_file_name(&names[1])).unwrap();
    assert_eq!(aside, b"this is no state");
    assert!(std::fs::read(&file).unwrap().starts_with(b"SQLite format 3"));
    drop(data);
}
