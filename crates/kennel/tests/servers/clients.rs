//! The clients: the official Python one and the Inspector over HTTP, and `rmcp` over standard input and output.

use crate::scene::{Scene, Served, node};
use crate::support::programs::material;
use crate::support::running::{run, run_with_input};
use crate::support::waiting::PATIENCE;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::process::{Command, Stdio};

const PYTHON_CLIENT: &str = include_str!("client.py");

/// Whether a client lets a server ask it something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    Nothing,
    All,
}

/// What a client has seen of a server and one call.
#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    pub(crate) server: String,
    pub(crate) tools: Vec<String>,
    /// As it came, in JSON.
    pub(crate) result: Value,
    #[serde(default)]
    pub(crate) progress: Vec<(f64, f64)>,
    #[serde(default)]
    pub(crate) asked: Vec<Value>,
}

impl Seen {
    /// The texts of the result, one after the other.
    pub(crate) fn text(&self) -> String {
        let content = self.result["content"].as_array().expect("a result has content");
        content.iter().filter_map(|part| part["text"].as_str()).collect()
    }

    /// Expects that the tool succeeded, and returns its text.
    #[track_caller]
    pub(crate) fn fine(&self) -> String {
        assert!(!self.failed(), "the tool failed: {}", self.result);
        self.text()
    }

    pub(crate) fn failed(&self) -> bool {
        self.result["isError"] == true
    }
}

/// Calls a tool by the official Python client.
#[track_caller]
pub(crate) fn python(served: &Served, answers: Answers, tool: &str, arguments: &Value) -> Seen {
    python_with(&[], served, answers, tool, arguments)
}

/// The same by way of a wrapper that becomes the client.
#[track_caller]
pub(crate) fn python_with(wrapper: &[&str], served: &Served, answers: Answers, tool: &str, arguments: &Value) -> Seen {
    let mut all: Vec<OsString> = wrapper.iter().map(OsString::from).collect();
    all.extend([material("KENNEL_TEST_PYTHON_CLIENT").into(), "-c".into(), PYTHON_CLIENT.into()]);
    let mut command = Command::new(&all[0]);
    // No proxy is needed to reach this machine.
    command.args(&all[1..]).env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    let answers = answers == Answers::All;
    let wish = json!({ "url": served.url, "answers": answers, "tool": tool, "arguments": arguments });
    let printed = run_with_input(command, wish.to_string().as_bytes()).fine();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

/// Calls a tool by `rmcp`, whose process is `kennel run --stdio`.
#[track_caller]
pub(crate) fn rmcp(scene: &Scene, flags: &[&str], server: &[OsString], tool: &str, arguments: &Value) -> Seen {
    let mut command = scene.run(&[&["--stdio"], flags].concat(), server);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let parameters = CallToolRequestParams::new(tool.to_owned())
        .with_arguments(arguments.as_object().expect("arguments are an object").clone());
    let using = async { tokio::time::timeout(PATIENCE, use_by_rmcp(command, parameters)).await };
    runtime.block_on(using).expect("the client comes to an end")
}

async fn use_by_rmcp(command: Command, parameters: CallToolRequestParams) -> Seen {
    let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn().expect("Kennel starts");
    let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(transport).await.expect("the handshake succeeds");
    let server = serde_json::to_value(client.peer_info().expect("the server has a name")).unwrap();
    let tools = client.list_all_tools().await.expect("the tools are listed");
    let result = client.call_tool(parameters).await.expect("the call is answered");
    // Its end closes Kennel's standard input, which is how such a client says good-bye.
    client.cancel().await.expect("the client ends");
    assert!(child.wait().await.expect("Kennel is waited for").success());
    Seen {
        server: server["serverInfo"]["name"].as_str().expect("the server has a name").to_owned(),
        tools: tools.into_iter().map(|tool| tool.name.into_owned()).collect(),
        result: serde_json::to_value(result).unwrap(),
        progress: Vec::new(),
        asked: Vec::new(),
    }
}

/// Asks by the Inspector's command line, and returns what it prints.
#[track_caller]
pub(crate) fn inspector(scene: &Scene, served: &Served, words: &[&str]) -> Value {
    // It keeps a catalog in its home.
    let home = scene.ground.make_directory("work/inspector");
    let mut command = scene.ground.command([node(), material("KENNEL_TEST_INSPECTOR")]);
    command.args(["--cli", "--quiet", &served.url, "--transport", "http"]).args(words).env("HOME", home);
    let printed = run(command).fine();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}
