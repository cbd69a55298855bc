//! A client that only starts programs reaches a gateway, also one that comes later, and one that comes again.

use crate::support::caller::myself;
use crate::support::ground::Ground;
use crate::support::programs;
use crate::support::running::{Running, run, run_with_input};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{ChildStdin, ChildStdout, Stdio};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn serve(ground: &Ground, port: u16) -> Running {
    let server = ground.programs().join(programs::fixture().file_name().unwrap());
    let mut command = ground.command(["sh", "-c", "exec \"$@\" 2>&1", "sh"]);
    command.arg(ground.kennel_program()).args(["run", "--json", "--listen", &format!("127.0.0.1:{port}"), "--"]);
    command.arg(server).env("KENNEL_DATA", ground.path("work/data"));
    let mut running = Running::start(command);
    running.wait_for("\"event\":\"serving\"");
    running
}

fn stop(running: Running) {
    running.kept.signal(Signal::TERM);
    assert_eq!(running.finish().code, Some(0));
}

/// `kennel connect` as a client has it.
struct Bridge {
    running: crate::support::running::Kept,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Bridge {
    fn start(ground: &Ground, port: u16) -> Self {
        let mut command = ground.kennel(["connect", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = crate::support::running::Kept::start(command);
        let (input, output) = (running.stdin(), BufReader::new(running.stdout()));
        Self { running, input, output }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// The next answer; what is no answer is passed over.
    fn answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    fn ask(&mut self, id: u32, method: &str) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string());
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn end(mut self) {
        drop(self.input);
        assert_eq!(self.running.end(&mut []).code(), Some(0));
    }
}

#[test]
fn a_gateway_may_come_later_and_come_again() {
    let ground = Ground::new(myself());
    ground.add_program(programs::fixture());
    let port = port();
    let mut bridge = Bridge::start(&ground, port);
    bridge.say(INITIALIZE);
    let gateway = serve(&ground, port);
    assert_eq!(bridge.answer()["result"]["protocolVersion"], "2025-06-18");
    bridge.say(INITIALIZED);
    assert!(bridge.ask(1, "tools/list")["result"]["tools"].as_array().unwrap().len() > 3);
    stop(gateway);
    // What is asked meanwhile is answered by the next one, which has heard the handshake again.
    bridge.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    let gateway = serve(&ground, port);
    let answer = bridge.answer();
    assert_eq!(answer["id"], 2, "{answer}");
    assert!(answer["result"]["tools"].as_array().unwrap().len() > 3);
    assert_eq!(bridge.ask(0, "ping")["result"], json!({}));
    bridge.end();
    stop(gateway);
    ground.assert_clean();
}

#[test]
fn what_was_said_before_the_end_is_answered() {
    let ground = Ground::new(myself());
    ground.add_program(programs::fixture());
    let port = port();
    let gateway = serve(&ground, port);
    let url = format!("http://127.0.0.1:{port}");
    let list = r#"{"jsonrpc":"2.0","id":"last","method":"tools/list"}"#;
    let input = format!("{INITIALIZE}\n{INITIALIZED}\n{list}");
    let ran = run_with_input(ground.kennel(["connect", "--url", &url]), input.as_bytes());
    let ids: Vec<Value> =
        ran.fine().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [json!(0), json!("last")]);
    stop(gateway);
    ground.assert_clean();
}

#[test]
fn a_gateway_that_never_comes_is_not_waited_for_without_end() {
    let ground = Ground::new(myself());
    let url = format!("http://127.0.0.1:{}", port());
    let ran = run(ground.kennel(["connect", "--wait", "0.3", "--url", &url]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err().contains("cannot be reached") && ran.err().contains("is `kennel serve` running?"), "{ran:?}");
    let tls = run(ground.kennel(["connect", "--url", "https://example.com/mcp"]));
    assert_eq!(tls.code, Some(125), "{tls:?}");
    ground.assert_clean();
}
