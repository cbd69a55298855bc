//! The official clients of 2026-07-28, which find out by themselves what to speak, at both doors, with servers of both
//! eras behind Kennel: they find the era without sessions at the first try, and everything works in it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::process::Command;
use support::gateway::Gateway;
use support::processes::{processes_with, unique_mark};
use support::programs::{fixture, kennel, material};
use support::running::run_with_input;
use support::waiting::holds_soon;

const PYTHON: &str = include_str!("auto_clients/client.py");
const TYPESCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/auto_clients/client.mjs");

/// What a client has seen of a server and one call.
#[derive(Debug, Deserialize)]
struct Seen {
    version: String,
    /// Where the client has a word for it.
    era: Option<String>,
    server: String,
    tools: Vec<String>,
    result: Value,
    asked: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Client {
    Python,
    TypeScript,
}

impl Client {
    fn command(self) -> Command {
        let mut command = match self {
            Self::Python => Command::new(material("KENNEL_TEST_PYTHON_CLIENT_MODERN")),
            Self::TypeScript => Command::new(node()),
        };
        match self {
            Self::Python => command.args(["-c", PYTHON]),
            Self::TypeScript => command.arg(TYPESCRIPT).arg(material("KENNEL_TEST_TYPESCRIPT_CLIENT")),
        };
        // No proxy is needed to reach this machine.
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        command
    }

    /// Uses the server that is found there, and makes one call.
    #[track_caller]
    fn uses(self, place: &Value, call: &Call) -> Seen {
        let mut wish = place.clone();
        for (name, value) in
            [("tool", &json!(call.tool)), ("arguments", &call.arguments), ("answer", &json!(call.answer))]
        {
            wish[name] = value.clone();
        }
        let printed = run_with_input(self.command(), wish.to_string().as_bytes()).fine();
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{self:?}: {error}: {printed}"))
    }
}

fn node() -> OsString {
    material("KENNEL_TEST_NODE_BIN").join("node").into()
}

/// A call and what has to become of it.
struct Call {
    tool: &'static str,
    arguments: Value,
    /// What a form is filled in with.
    answer: Value,
    /// What is asked, if anything is.
    asks: Option<&'static str>,
    /// What the result has to contain.
    says: &'static str,
}

/// A server, by its command, and what it calls itself.
struct Server {
    name: &'static str,
    command: Vec<OsString>,
    /// Stands in the command lines of the Kennels that run it, by which nothing of them is missed.
    mark: String,
}

impl Server {
    fn new(name: &'static str, command: Vec<OsString>) -> Self {
        Self { name, command, mark: unique_mark() }
    }

    /// The fixture of an era, whose processes have the mark too.
    fn fixture(era: &str) -> Self {
        let mut server = Self::new("kennel-fixture", vec![fixture().into(), "--era".into(), era.into()]);
        server.command.extend(["--state-dir".into(), OsString::from(&server.mark)]);
        server
    }
}

/// Serves the server at both doors, and has each client make each of the calls there.
fn is_used_in_the_new_era(server: &Server, calls: &[Call]) {
    let flags = ["--name", &server.mark];
    let command: Vec<&OsStr> = server.command.iter().map(OsString::as_os_str).collect();
    let gateway = Gateway::start(&flags, &command);
    let data = tempfile::tempdir().unwrap();
    let mut words: Vec<OsString> = vec![kennel().into(), "run".into(), "--stdio".into(), "--data".into()];
    words.push(data.path().into());
    words.extend(flags.map(OsString::from));
    words.push("--".into());
    words.extend(server.command.iter().cloned());
    let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
    for place in [json!({ "url": gateway.url() }), json!({ "command": words })] {
        for client in [Client::Python, Client::TypeScript] {
            for call in calls {
                let seen = client.uses(&place, call);
                assert_eq!(seen.version, "2026-07-28", "{client:?} at {place}: {seen:?}");
                assert!(seen.era.as_ref().is_none_or(|era| era == "modern"), "{client:?} at {place}: {seen:?}");
                assert_eq!(seen.server, server.name);
                assert!(seen.tools.iter().any(|tool| tool == call.tool), "{client:?}: {seen:?}");
                assert!(seen.result["content"][0]["text"].as_str().unwrap().contains(call.says), "{seen:?}");
                assert_eq!(seen.asked, Vec::from_iter(call.asks), "{client:?} at {place}");
            }
        }
    }
    let (status, log) = gateway.stop();
    assert!(status.success(), "{status}: {log}");
    assert!(holds_soon(|| processes_with(&server.mark).is_empty()), "nothing remains");
}

/// A plain call, and one that asks.
fn calls() -> [Call; 2] {
    let plain = Call {
        tool: "echo",
        arguments: json!({ "message": "a plain call" }),
        answer: json!({}),
        asks: None,
        says: "a plain call",
    };
    let asking = Call {
        tool: "test_elicitation",
        arguments: json!({ "message": "Who are you?" }),
        answer: json!({ "username": "Ada of the test", "email": "ada@b.example" }),
        asks: Some("Who are you?"),
        says: "\"username\":\"Ada of the test\"",
    };
    [plain, asking]
}

#[test]
fn with_a_legacy_server() {
    is_used_in_the_new_era(&Server::fixture("legacy"), &calls());
}

#[test]
fn with_a_modern_server() {
    is_used_in_the_new_era(&Server::fixture("modern"), &calls());
}

#[test]
fn with_a_real_server_of_both_eras() {
    let server = Server::new("mcp-time", vec![material("KENNEL_TEST_SERVER_TIME").into()]);
    let call = Call {
        tool: "convert_time",
        arguments: json!({ "source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo" }),
        answer: json!({}),
        asks: None,
        says: "T21:30:00+09:00",
    };
    is_used_in_the_new_era(&server, &[call]);
}

#[test]
fn with_a_real_server_of_the_old_era() {
    let command = vec![node(), material("KENNEL_TEST_SERVER_EVERYTHING").into()];
    let plain = Call {
        tool: "get-sum",
        arguments: json!({ "a": 2, "b": 3.5 }),
        answer: json!({}),
        asks: None,
        says: "The sum of 2 and 3.5 is 5.5.",
    };
    let asking = Call {
        tool: "trigger-elicitation-request",
        arguments: json!({}),
        answer: json!({ "name": "Ada of the test" }),
        asks: Some("Please provide inputs for the following fields:"),
        says: "provided the requested information",
    };
    is_used_in_the_new_era(&Server::new("mcp-servers/everything", command), &[plain, asking]);
}
