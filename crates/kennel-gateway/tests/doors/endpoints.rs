//! Many endpoints at one gateway: each has all doors, and what is one's is not another's.

use crate::http::{Connection, Response};
use crate::support::{SOON, echo, hub_named, initialize, mirrored, modern, request, text_of};
use crate::websocket::Socket;
use kennel_exec::Executor;
use kennel_gateway::{Address, Directory, Gateway, Settings};
use kennel_hub::{AsTheyAre, Endpoint, Hub, MemberSettings, Union, UnionSettings};
use kennel_testkit::fake::FakeEngine;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The servers `a` and `b`, both as one, and a view of `b`.
struct Town {
    a: Hub,
    b: Hub,
    all: Union,
    view: Union,
}

impl Directory for Town {
    fn endpoint(&self, address: Address<'_>) -> Option<Endpoint> {
        match address {
            Address::All => Some(Endpoint::Union(self.all.clone())),
            Address::Server("a") => Some(Endpoint::Server(self.a.clone())),
            Address::Server("b") => Some(Endpoint::Server(self.b.clone())),
            Address::View("v") => Some(Endpoint::Union(self.view.clone())),
            Address::Server(_) | Address::View(_) => None,
        }
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        let servers = [&self.a, &self.b].map(|hub| Endpoint::Server(hub.clone()));
        let unions = [&self.all, &self.view].map(|union| Endpoint::Union(union.clone()));
        servers.into_iter().chain(unions).collect()
    }
}

struct Scene {
    address: SocketAddr,
    a: (Hub, FakeEngine, Executor),
    b: (Hub, FakeEngine, Executor),
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
}

impl Scene {
    async fn new() -> Self {
        let server = |name| {
            let (hub, engine, _, executor) = hub_named(name, kennel_hub::Limits::default());
            (hub, engine, executor)
        };
        let (a, b) = (server("a"), server("b"));
        let member = |name: &str, hub: &Hub| MemberSettings {
            name: name.to_owned(),
            description: None,
            hub: hub.clone(),
            presentation: Arc::new(AsTheyAre),
        };
        let all = Union::new(UnionSettings::default(), vec![member("a", &a.0), member("b", &b.0)]);
        let view = Union::new(UnionSettings::default(), vec![member("b", &b.0)]);
        let gateway = Gateway::bind(Settings { listen: "127.0.0.1:0".parse().unwrap(), ..Settings::default() });
        let gateway = gateway.await.expect("a free port");
        let (address, shutdown) = (gateway.address(), CancellationToken::new());
        let town = Town { a: a.0.clone(), b: b.0.clone(), all, view };
        let serving = tokio::spawn(gateway.serve(Arc::new(town), shutdown.clone()));
        Self { address, a, b, shutdown, serving }
    }

    async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// How many processes each server has started.
    fn started(&self) -> (usize, usize) {
        (self.a.1.started(), self.b.1.started())
    }

    async fn end(self) {
        self.shutdown.cancel();
        timeout(SOON, self.serving).await.expect("it ends soon").expect("it does not panic");
        for (hub, engine, _executor) in [self.a, self.b] {
            timeout(SOON, hub.shutdown()).await.expect("it ends soon");
            assert_eq!(engine.live(), 0, "a process is left");
        }
    }
}

async fn post(connection: &mut Connection, path: &str, others: &[(&str, &str)], message: &Value) -> Response {
    let mut headers = vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    headers.extend(others);
    connection.ask("POST", path, &headers, &message.to_string()).await
}

/// Opens a session at a path and returns its id.
async fn session(connection: &mut Connection, path: &str) -> (String, Value) {
    let response = post(connection, path, &[], &initialize("2025-11-25")).await;
    assert_eq!(response.status, 200, "{response:?}");
    (response.header("mcp-session-id").expect("a session id").to_owned(), response.json())
}

fn tools(response: &Value) -> Vec<&str> {
    let tools = response["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools in {response}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// The call with another name of its tool.
fn renamed(mut call: Value, prefix: &str) -> Value {
    let name = format!("{prefix}{}", call["params"]["name"].as_str().expect("a name"));
    call["params"]["name"] = json!(name);
    call
}

/// The addresses, who they say they are, what they list, and how a tool of `b` or of the one server is called there.
const PLACES: [(&str, &str, &[&str], &str); 4] = [
    ("", "kennel", &["a__route", "b__route"], "b__"),
    ("/servers/a", "scripted", &["route"], ""),
    ("/servers/b", "scripted", &["route"], ""),
    ("/views/v", "kennel", &["b__route"], "b__"),
];

#[tokio::test]
async fn sessions_are_opened_at_each_address() {
    let scene = Scene::new().await;
    for (home, name, listed, prefix) in PLACES {
        let (mut connection, path) = (scene.connect().await, format!("{home}/mcp"));
        let (id, introduced) = session(&mut connection, &path).await;
        assert_eq!(introduced["result"]["serverInfo"]["name"], name, "{path}");
        let own = [("mcp-session-id", id.as_str())];
        let response = post(&mut connection, &path, &own, &request(1, "tools/list", &json!({}))).await;
        assert_eq!(tools(&response.json()), listed, "{path}");
        let response = post(&mut connection, &path, &own, &renamed(echo(2, home), prefix)).await;
        assert_eq!(text_of(&response.json()), home);
        assert_eq!(connection.ask("DELETE", &path, &own, "").await.status, 204, "{path}");
        assert_eq!(post(&mut connection, &path, &own, &echo(3, "late")).await.status, 404, "{path}");
    }
    scene.end().await;
}

#[tokio::test]
async fn the_other_doors_are_at_each_address() {
    let scene = Scene::new().await;
    for (home, name, listed, prefix) in PLACES {
        let mut connection = scene.connect().await;
        let rpc = format!("{home}/rpc");
        let response = post(&mut connection, &rpc, &[], &request(1, "tools/list", &json!({}))).await;
        assert_eq!(tools(&response.json()), listed, "{rpc}");
        let response = post(&mut connection, &rpc, &[], &renamed(echo(2, &rpc), prefix)).await;
        assert_eq!(text_of(&response.json()), rpc);
        let (mut socket, _) = Socket::at(scene.address, &format!("{home}/ws"), &[]).await.expect("a socket");
        assert_eq!(socket.ask(&initialize("2025-11-25")).await["result"]["serverInfo"]["name"], name);
        let mut answer = socket.ask(&renamed(echo(3, home), prefix)).await;
        // That lists have changed may be told at any time.
        while answer["method"] == "notifications/tools/list_changed" {
            answer = socket.read().await.expect("an answer");
        }
        assert_eq!(text_of(&answer), home);
    }
    scene.end().await;
}

#[tokio::test]
async fn requests_that_stand_for_themselves_are_served_at_each_address() {
    let scene = Scene::new().await;
    for (home, _, listed, prefix) in PLACES {
        let (mut connection, path) = (scene.connect().await, format!("{home}/mcp"));
        let list = modern(request(1, "tools/list", &json!({})));
        let response = post(&mut connection, &path, &mirrored(&list), &list).await;
        assert_eq!(tools(&response.json()), listed, "{path}");
        assert_eq!(response.json()["result"]["resultType"], "complete");
        // The argument of this tool is repeated in a header, under whichever name the tool is called.
        let arguments = json!({ "name": format!("{prefix}route"), "arguments": { "region": "here" } });
        let route = modern(request(2, "tools/call", &arguments));
        let refused = post(&mut connection, &path, &mirrored(&route), &route).await;
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32020)), "{path}");
        let mut headers = mirrored(&route);
        headers.push(("mcp-param-region", "here"));
        let response = post(&mut connection, &path, &headers, &route).await;
        assert_eq!(text_of(&response.json()), "here", "{path}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_request_starts_only_the_servers_that_it_is_for() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let (id, _) = session(&mut connection, "/mcp").await;
    assert_eq!(scene.started(), (0, 0));
    let own = [("mcp-session-id", id.as_str())];
    post(&mut connection, "/mcp", &own, &renamed(echo(1, "b"), "b__")).await;
    assert_eq!(scene.started(), (0, 1));
    let (id, _) = session(&mut connection, "/servers/a/mcp").await;
    let own = [("mcp-session-id", id.as_str())];
    assert_eq!(text_of(&post(&mut connection, "/servers/a/mcp", &own, &echo(1, "a")).await.json()), "a");
    assert_eq!(scene.started(), (1, 1));
    scene.end().await;
}

#[tokio::test]
async fn a_session_is_known_at_its_own_address_only() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for (home, _, _, prefix) in PLACES {
        let path = format!("{home}/mcp");
        let (id, _) = session(&mut connection, &path).await;
        let own = [("mcp-session-id", id.as_str())];
        for (other, ..) in PLACES.iter().filter(|(other, ..)| *other != home) {
            let other = format!("{other}/mcp");
            assert_eq!(post(&mut connection, &other, &own, &echo(1, "")).await.status, 404, "{path} {other}");
            let listening = [own[0], ("accept", "text/event-stream")];
            assert_eq!(connection.ask("GET", &other, &listening, "").await.status, 404, "{path} {other}");
            assert_eq!(connection.ask("DELETE", &other, &own, "").await.status, 404, "{path} {other}");
        }
        let response = post(&mut connection, &path, &own, &renamed(echo(2, "still"), prefix)).await;
        assert_eq!(text_of(&response.json()), "still", "nothing of that has harmed it");
    }
    scene.end().await;
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    for (home, named) in [("/servers/nope", "`nope`"), ("/views/nope", "`nope`"), ("/servers/a/b", "`a/b`")] {
        for door in ["mcp", "rpc", "ws"] {
            let response = post(&mut connection, &format!("{home}/{door}"), &[], &initialize("2025-11-25")).await;
            assert_eq!(response.status, 404, "{home}/{door}");
            assert!(response.text().contains(named), "{response:?}");
        }
    }
    for path in ["/servers/a", "/servers/a/", "/servers/a/sse", "/servers", "/views/v/healthz", "/other/a/mcp"] {
        let response = connection.ask("GET", path, &[], "").await;
        assert_eq!(response.status, 404, "{path}");
        assert!(response.text().contains("/servers/<name>"), "{path}: {response:?}");
    }
    assert_eq!(scene.started(), (0, 0));
    scene.end().await;
}

#[tokio::test]
async fn one_server_that_is_gone_does_not_make_the_gateway_unready() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    assert_eq!(connection.ask("GET", "/readyz", &[], "").await.status, 200);
    scene.a.0.shutdown().await;
    assert_eq!(connection.ask("GET", "/readyz", &[], "").await.status, 200);
    scene.b.0.shutdown().await;
    assert_eq!(connection.ask("GET", "/readyz", &[], "").await.status, 503);
    scene.end().await;
}

#[tokio::test]
async fn measurements_are_of_all_servers_and_can_be_read() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let (id, _) = session(&mut connection, "/servers/b/mcp").await;
    post(&mut connection, "/servers/b/mcp", &[("mcp-session-id", &id)], &echo(1, "b")).await;
    let text = connection.ask("GET", "/metrics", &[], "").await.text();
    let value = |series: &str| {
        let line = text.lines().find(|line| line.starts_with(series)).unwrap_or_else(|| panic!("no {series}\n{text}"));
        line.rsplit_once(' ').expect("a value").1.to_owned()
    };
    assert_eq!(value("kennel_sessions{server=\"a\"}"), "0");
    assert_eq!(value("kennel_sessions{server=\"b\"}"), "1");
    // What is said of one measurement stands together and is said once, or nothing of it can be read.
    let mut families = Vec::new();
    for line in text.lines() {
        let family = match line.strip_prefix("# TYPE ") {
            Some(rest) => {
                let family = rest.split(' ').next().expect("a name");
                assert!(!families.contains(&family), "{family} is there twice in\n{text}");
                families.push(family);
                family
            }
            None if line.starts_with('#') => continue,
            None => line.split(['{', ' ']).next().expect("a name"),
        };
        assert_eq!(families.last(), Some(&family), "{family} is apart from its own in\n{text}");
    }
    scene.end().await;
}

#[tokio::test]
async fn streams_of_many_servers_end_in_order() {
    let scene = Scene::new().await;
    let mut connection = scene.connect().await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let listen = modern(request(5, "subscriptions/listen", &filter));
    let mut headers = mirrored(&listen);
    headers.extend([("content-type", "application/json"), ("accept", "application/json, text/event-stream")]);
    connection.send("POST", "/views/v/mcp", &headers, &listen.to_string()).await;
    assert_eq!(connection.head().await.header("content-type"), Some("text/event-stream"));
    assert_eq!(connection.message().await.json()["method"], "notifications/subscriptions/acknowledged");
    scene.shutdown.cancel();
    let last = connection.message().await.json();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(5), &json!("complete")));
    scene.end().await;
}
