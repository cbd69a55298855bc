//! Kennel behind Kennel: a gateway with a server of its own is the server that runs elsewhere.

use crate::modern::modern;
use crate::support::{SOON, Talk, initialize, initialized, launcher, request};
use kennel_box::Command;
use kennel_exec::{Executor, SessionId, StartRequest};
use kennel_gateway::{Gateway, Settings};
use kennel_hub::{Hub, ProcessModel, ServerSettings, Timeouts, Unobserved};
use kennel_supervisor::{BoxLauncher, Launcher};
use kennel_testkit::fake::{FakeEngine, McpServer, plan};
use kennel_upstream::Upstream;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A gateway over whatever a launcher starts.
struct Scene {
    address: SocketAddr,
    hub: Hub,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
}

impl Scene {
    async fn over(launcher: Arc<dyn Launcher>, model: ProcessModel) -> Self {
        let settings = ServerSettings {
            era: None,
            name: "tested".into(),
            model,
            limits: kennel_hub::Limits::default(),
            timeouts: Timeouts::default(),
            catalog: None,
            audit: None,
            results: None,
        };
        let hub = Hub::new(settings, kennel_supervisor::Settings::default(), launcher, Arc::new(Unobserved));
        let listen = "127.0.0.1:0".parse().expect("an address");
        let gateway = Gateway::bind(Settings { listen, ..Settings::default() }).await.expect("a free port");
        let (address, shutdown) = (gateway.address(), CancellationToken::new());
        let serving = tokio::spawn(gateway.serve(Arc::new(hub.clone()), shutdown.clone()));
        Self { address, hub, shutdown, serving }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    async fn end(self) {
        self.shutdown.cancel();
        timeout(SOON, self.serving).await.expect("it ends soon").expect("it does not panic");
        timeout(SOON, self.hub.shutdown()).await.expect("it ends soon");
    }
}

/// A gateway whose server is a fake one.
async fn far(server: McpServer) -> (Scene, FakeEngine, Executor) {
    let engine = FakeEngine::new(move |child| server.clone().run(child));
    let executor = Executor::new(Arc::new(engine.clone()), kennel_exec::Limits::default()).expect("limits that fit");
    let attachment = Arc::new(executor.open(SessionId::new("server")).expect("a session"));
    let request = StartRequest { plan: plan().expect("a plan"), command: Command::default() };
    let launcher = Arc::new(BoxLauncher::new(attachment, "server", request));
    (Scene::over(launcher, ProcessModel::PerSession).await, engine, executor)
}

fn call(tool: &str) -> serde_json::Value {
    json!({"name": tool, "arguments": {}})
}

async fn speak_legacy(talk: &mut Talk) {
    talk.send(&initialize());
    let opened = talk.heard().await;
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
    talk.send(&initialized());
    talk.send(&request("l", "tools/list", &json!({})));
    assert_eq!(talk.heard().await["result"]["tools"][0]["name"], "echo");
    for number in 1..=3 {
        talk.send(&request(number, "tools/call", &call("echo")));
        let answer = talk.heard().await;
        assert_eq!(answer["id"], number);
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
    }
}

async fn speak_modern(talk: &mut Talk) {
    talk.send(&modern("d", "server/discover", json!({})));
    let discovered = talk.heard().await;
    assert!(discovered["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
    for number in 1..=3 {
        talk.send(&modern(number, "tools/call", call("echo")));
        let answer = talk.heard().await;
        assert_eq!(answer["id"], number);
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
}

#[tokio::test]
async fn a_gateway_is_talked_to_in_both_eras() {
    for server in [McpServer::default().refusing(), McpServer::default().modern(), McpServer::default().dual()] {
        let (far, engine, _executor) = far(server).await;
        let mut talk = Talk::with(&far.url()).await;
        speak_legacy(&mut talk).await;
        assert_eq!(talk.stop().await.0, 0);
        let mut talk = Talk::with(&far.url()).await;
        speak_modern(&mut talk).await;
        assert_eq!(talk.stop().await.0, 0);
        far.end().await;
        assert_eq!(engine.live(), 0);
    }
}

#[tokio::test]
async fn a_hub_uses_a_server_elsewhere_as_one_of_its_own() {
    for model in [ProcessModel::PerSession, ProcessModel::Shared] {
        for server in [McpServer::default().refusing(), McpServer::default().modern(), McpServer::default().dual()] {
            let (far, engine, _executor) = far(server).await;
            let upstream = Upstream::new(&far.url()).expect("an address");
            let near = Scene::over(Arc::new(launcher(upstream)), model).await;
            let (mut legacy, mut modern) = (Talk::with(&near.url()).await, Talk::with(&near.url()).await);
            speak_legacy(&mut legacy).await;
            speak_modern(&mut modern).await;
            assert_eq!((legacy.stop().await.0, modern.stop().await.0), (0, 0));
            near.end().await;
            far.end().await;
            assert_eq!(engine.live(), 0);
        }
    }
}

#[tokio::test]
async fn a_session_that_is_lost_far_away_is_opened_anew_for_the_next_call() {
    let (far_end, _engine, _executor) = far(McpServer::default().refusing()).await;
    let upstream = Upstream::new(&far_end.url()).expect("an address");
    let near = Scene::over(Arc::new(launcher(upstream)), ProcessModel::PerSession).await;
    let mut talk = Talk::with(&near.url()).await;
    speak_legacy(&mut talk).await;
    // The far gateway comes again at the same address and knows nothing.
    let address = far_end.address;
    far_end.end().await;
    let engine = FakeEngine::new(move |child| McpServer::default().refusing().run(child));
    let executor = Executor::new(Arc::new(engine), kennel_exec::Limits::default()).expect("limits that fit");
    let attachment = Arc::new(executor.open(SessionId::new("server")).expect("a session"));
    let request = StartRequest { plan: plan().expect("a plan"), command: Command::default() };
    let launcher = Arc::new(BoxLauncher::new(attachment, "server", request));
    let settings = ServerSettings {
        era: None,
        name: "again".into(),
        model: ProcessModel::PerSession,
        limits: kennel_hub::Limits::default(),
        timeouts: Timeouts::default(),
        catalog: None,
        audit: None,
        results: None,
    };
    let hub = Hub::new(settings, kennel_supervisor::Settings::default(), launcher, Arc::new(Unobserved));
    let gateway = Gateway::bind(Settings { listen: address, ..Settings::default() }).await.expect("the same port");
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(gateway.serve(Arc::new(hub.clone()), shutdown.clone()));
    // The session near by goes on. What only looks is made again by the hub, if it was under way.
    talk.send(&crate::support::request("again", "tools/list", &json!({})));
    let listed = talk.heard().await;
    assert_eq!(listed["result"]["tools"][0]["name"], "echo", "{listed}");
    near.end().await;
    Scene { address, hub, shutdown, serving }.end().await;
}
