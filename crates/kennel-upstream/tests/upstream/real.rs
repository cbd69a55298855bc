//! A real server over both transports, where it is installed.

use crate::support::{SOON, Talk, initialize, initialized, request};
use kennel_upstream::{Transport, Upstream};
use serde_json::json;
use std::net::TcpListener;
use std::process::Stdio;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// The server in one of its modes, on a free port; `None` where it is not installed.
async fn everything(mode: &str) -> Option<(Child, u16)> {
    let (Some(program), Some(node)) =
        (std::env::var_os("KENNEL_TEST_SERVER_EVERYTHING"), std::env::var_os("KENNEL_TEST_NODE_BIN"))
    else {
        eprintln!("skipped: the real server is not installed");
        return None;
    };
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let child = Command::new(std::path::Path::new(&node).join("node"))
        .arg(program)
        .arg(mode)
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("node");
    let listening = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, listening).await.expect("it listens soon");
    Some((child, port))
}

async fn speak(mut talk: Talk) {
    talk.send(&initialize());
    let opened = talk.heard().await;
    assert!(opened["result"]["serverInfo"]["name"].is_string(), "{opened}");
    talk.send(&initialized());
    talk.send(&request(1, "tools/list", &json!({})));
    let mut tools = json!(null);
    while tools.is_null() {
        let message = talk.heard().await;
        if message["id"] == 1 {
            tools = message["result"]["tools"].clone();
        }
    }
    assert!(tools.as_array().is_some_and(|tools| tools.len() > 5), "{tools}");
    let arguments = json!({"name": "echo", "arguments": {"message": "from afar"}});
    talk.send(&request(2, "tools/call", &arguments));
    let long = json!({
        "name": "trigger-long-running-operation",
        "arguments": {"duration": 0.2, "steps": 2},
        "_meta": {"progressToken": "p"},
    });
    talk.send(&request(3, "tools/call", &long));
    let (mut echoed, mut progress, mut done) = (false, 0, false);
    while !(echoed && done) {
        let message = talk.heard().await;
        progress += usize::from(message["method"] == "notifications/progress");
        if message["id"] == 2 {
            echoed = message["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("from afar"));
            assert!(echoed, "{message}");
        }
        if message["id"] == 3 {
            assert!(message["result"]["content"].is_array(), "{message}");
            done = true;
        }
    }
    assert!(progress >= 1, "progress is heard on the way");
    assert_eq!(talk.stop().await.0, 0);
}

#[tokio::test]
async fn a_real_server_over_streamable_http() {
    let Some((mut server, port)) = everything("streamableHttp").await else { return };
    speak(Talk::with(&format!("http://127.0.0.1:{port}/mcp")).await).await;
    server.kill().await.expect("it ends");
}

#[tokio::test]
async fn a_real_server_over_the_older_transport() {
    let Some((mut server, port)) = everything("sse").await else { return };
    for transport in [Transport::Sse, Transport::Auto] {
        let upstream = Upstream::new(&format!("http://127.0.0.1:{port}/sse")).expect("an address");
        speak(Talk::to(upstream.transport(transport)).await).await;
    }
    server.kill().await.expect("it ends");
}
