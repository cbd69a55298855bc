//! The fake MCP server in each of its eras, spoken to over the pipes of a fake box.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use kennel_box::{BoxProcess, Command, Engine, RunningBox};
use kennel_testkit::fake::{FakeEngine, McpServer, plan};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};

/// A fake server that is asked one thing after the other.
struct Scene {
    process: BoxProcess,
    stdout: BufReader<Pin<Box<dyn AsyncRead + Send>>>,
    _box: Arc<dyn RunningBox>,
}

impl Scene {
    async fn of(server: McpServer) -> Self {
        let engine = FakeEngine::new(move |child| server.clone().run(child));
        let made = engine.create(&plan().unwrap()).await.unwrap();
        let command = Command { program: "fake".into(), ..Command::default() };
        let mut process = made.start(&command).await.unwrap();
        let stdout = BufReader::new(std::mem::replace(&mut process.stdout, Box::pin(tokio::io::empty())));
        Self { process, stdout, _box: made }
    }

    async fn send(&mut self, id: u64, method: &str, params: &Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.process.stdin.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(1, method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], 1);
        answer
    }
}

fn modern(version: &str) -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    } })
}

fn initialize() -> Value {
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } })
}

#[tokio::test]
async fn a_modern_server_answers_what_carries_its_meta_and_refuses_the_rest() {
    let mut scene = Scene::of(McpServer::default().modern()).await;
    let meta = modern("2026-07-28");

    let discovered = scene.ask("server/discover", &meta).await;
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {} }));
    for result in [&discovered["result"], &scene.ask("tools/list", &meta).await["result"]] {
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["cacheScope"], "public");
        assert!(result["ttlMs"].is_u64());
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fake");
    }
    let mut call = meta.clone();
    call["name"] = json!("echo");
    let called = scene.ask("tools/call", &call).await;
    assert_eq!(called["result"]["resultType"], "complete");
    assert_eq!(called["result"]["content"][0]["text"], "1 of 1");
    assert!(called["result"].get("ttlMs").is_none());

    assert_eq!(scene.ask("tools/list", &json!({})).await["error"]["code"], -32602);
    let mut incomplete = meta.clone();
    incomplete["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(scene.ask("server/discover", &incomplete).await["error"]["code"], -32602);
    let newer = scene.ask("server/discover", &modern("2099-01-01")).await;
    assert_eq!(newer["error"]["code"], -32022);
    assert_eq!(newer["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": "2099-01-01" }));
    let initialized = scene.ask("initialize", &initialize()).await;
    assert_eq!(initialized["error"]["code"], -32601);
    assert_eq!(initialized["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(scene.ask("ping", &meta).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_refusing_legacy_server_serves_nothing_before_initialize() {
    let mut scene = Scene::of(McpServer::default().refusing()).await;
    for method in ["server/discover", "tools/list", "ping"] {
        assert_eq!(scene.ask(method, &modern("2026-07-28")).await["error"]["code"], -32601, "{method}");
    }
    assert_eq!(scene.ask("initialize", &initialize()).await["result"]["protocolVersion"], "2025-11-25");
    let listed = scene.ask("tools/list", &json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    assert!(listed["result"].get("resultType").is_none());
    assert_eq!(scene.ask("server/discover", &modern("2026-07-28")).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_lenient_legacy_server_ignores_what_it_does_not_know() {
    let mut scene = Scene::of(McpServer::default()).await;
    scene.send(7, "server/discover", &modern("2026-07-28")).await;
    // The answer to the second request comes first, because there is none to the first.
    assert_eq!(scene.ask("tools/list", &json!({})).await["result"]["tools"][0]["name"], "echo");
}

#[tokio::test]
async fn a_server_of_both_eras_keeps_to_the_one_of_its_first_request() {
    let mut scene = Scene::of(McpServer::default().dual()).await;
    assert_eq!(scene.ask("server/discover", &modern("2026-07-28")).await["result"]["resultType"], "complete");
    assert_eq!(scene.ask("initialize", &initialize()).await["error"]["code"], -32601);

    let mut scene = Scene::of(McpServer::default().dual()).await;
    assert_eq!(scene.ask("initialize", &initialize()).await["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(scene.ask("server/discover", &modern("2026-07-28")).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_modern_server_stops_answering_discover_after_its_pings() {
    let mut scene = Scene::of(McpServer { pings: 1, ..McpServer::default().modern() }).await;
    let meta = modern("2026-07-28");
    assert!(scene.ask("server/discover", &meta).await.get("result").is_some());
    assert!(scene.ask("server/discover", &meta).await.get("result").is_some());
    scene.send(7, "server/discover", &meta).await;
    assert!(scene.ask("tools/list", &meta).await.get("result").is_some());
}
