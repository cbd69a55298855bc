//! A gateway on a free port, with a server that does what the test tells it.

use crate::http::{Connection, Response};
use kennel_box::{Command, ExitReport};
use kennel_exec::{Executor, SessionId, StartRequest};
use kennel_gateway::{Gateway, Limits, Settings};
use kennel_hub::{Hub, ProcessModel, ServerSettings, Timeouts, Unobserved};
use kennel_state::Store;
use kennel_supervisor::BoxLauncher;
use kennel_testkit::fake::{Child, FakeEngine, plan};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

/// Long enough for anything that happens at all.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// What the scripted server waits for, and what it was told to give up.
#[derive(Clone)]
pub(crate) struct Gate {
    calls: Arc<Semaphore>,
    cancelled: Arc<Semaphore>,
    holds_start: Arc<AtomicBool>,
    /// What the server has asked, by the ids of the questions.
    asked: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    /// What all processes were told, line by line.
    heard: Arc<Mutex<Vec<String>>>,
}

impl Gate {
    /// Lets so many waiting calls go on.
    pub(crate) fn open(&self, calls: usize) {
        self.calls.add_permits(calls);
    }

    /// What processes were told.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("nobody panicked").clone()
    }

    /// Lets the server wait before it is ready, too.
    pub(crate) fn hold_start(&self) {
        self.holds_start.store(true, Ordering::Relaxed);
    }

    async fn pass(&self) {
        self.calls.acquire().await.expect("it is never closed").forget();
    }

    /// Waits until the server was told once more that an answer is no longer wanted.
    pub(crate) async fn cancelled(&self) {
        let told = tokio::time::timeout(SOON, self.cancelled.acquire()).await;
        told.expect("it is told soon").expect("it is never closed").forget();
    }

    /// Notes that the server asks under this id; the answer comes there.
    fn ask(&self, id: &str) -> oneshot::Receiver<Value> {
        let (answer, answered) = oneshot::channel();
        self.asked.lock().expect("nobody panicked").insert(id.to_owned(), answer);
        answered
    }

    /// Takes an answer to what the server has asked.
    fn answered(&self, message: &Value) {
        let asked = message["id"].as_str().and_then(|id| self.asked.lock().expect("nobody panicked").remove(id));
        if let Some(asked) = asked {
            let _ = asked.send(message["result"].clone());
        }
    }

    /// How often the server was told so, not counting what was waited for.
    pub(crate) fn cancellations(&self) -> usize {
        self.cancelled.available_permits()
    }
}

/// A gateway and everything behind it.
pub(crate) struct Scene {
    pub(crate) address: SocketAddr,
    pub(crate) hub: Hub,
    pub(crate) engine: FakeEngine,
    pub(crate) gate: Gate,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: JoinHandle<()>,
    _executor: Executor,
}

/// A hub over a scripted server.
pub(crate) fn hub() -> (Hub, FakeEngine, Gate, Executor) {
    hub_of(kennel_hub::Limits::default())
}

/// The same within bounds.
pub(crate) fn hub_of(limits: kennel_hub::Limits) -> (Hub, FakeEngine, Gate, Executor) {
    hub_named("scripted", limits)
}

/// The same under another name.
pub(crate) fn hub_named(name: &str, limits: kennel_hub::Limits) -> (Hub, FakeEngine, Gate, Executor) {
    let closed = || Arc::new(Semaphore::new(0));
    let gate = Gate {
        calls: closed(),
        cancelled: closed(),
        holds_start: Arc::default(),
        asked: Arc::default(),
        heard: Arc::default(),
    };
    let inner = gate.clone();
    let engine = FakeEngine::new(move |child| serve(child, inner.clone()));
    let executor = Executor::new(Arc::new(engine.clone()), kennel_exec::Limits::default()).expect("limits that fit");
    let attachment = Arc::new(executor.open(SessionId::new("server")).expect("a session"));
    let request = StartRequest { plan: plan().expect("a plan"), command: Command::default() };
    let settings = ServerSettings {
        era: Some(kennel_wire::Era::Legacy),
        name: name.to_owned(),
        model: ProcessModel::PerSession,
        limits,
        timeouts: Timeouts::default(),
        catalog: None,
        audit: None,
        results: None,
    };
    let launcher = Arc::new(BoxLauncher::new(attachment, "server", request));
    let hub = Hub::new(settings, kennel_supervisor::Settings::default(), launcher, Arc::new(Unobserved));
    (hub, engine, gate, executor)
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        Self::of(Settings { limits, ..Settings::default() }).await
    }

    pub(crate) async fn of(settings: Settings) -> Self {
        Self::bounded(settings, kennel_hub::Limits::default()).await
    }

    pub(crate) async fn bounded(settings: Settings, limits: kennel_hub::Limits) -> Self {
        Self::made(settings, limits, None).await
    }

    /// One whose sessions are kept in a store.
    pub(crate) async fn remembering(store: &Store, limits: Limits) -> Self {
        let settings = Settings { limits, ..Settings::default() };
        Self::made(settings, kennel_hub::Limits::default(), Some(store.clone())).await
    }

    async fn made(settings: Settings, limits: kennel_hub::Limits, store: Option<Store>) -> Self {
        let (hub, engine, gate, executor) = hub_of(limits);
        let listen = SocketAddr::new(settings.listen.ip(), 0);
        let mut gateway = Gateway::bind(Settings { listen, ..settings }).await.expect("a free port");
        if let Some(store) = store {
            gateway = gateway.remembering(store);
        }
        let (address, shutdown) = (gateway.address(), CancellationToken::new());
        let serving = tokio::spawn(gateway.serve(Arc::new(hub.clone()), shutdown.clone()));
        Self { address, hub, engine, gate, shutdown, serving, _executor: executor }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// A connection with a session of this version.
    pub(crate) async fn session(&self, version: &str) -> Client {
        let mut connection = self.connect().await;
        let response = connection.post(&[], &initialize(version)).await;
        assert_eq!(response.status, 200, "{response:?}");
        let id = response.header("mcp-session-id").expect("a session id").to_owned();
        assert!(id.len() >= 32 && id.bytes().all(|byte| (0x21..0x7f).contains(&byte)), "{id}");
        let mut client = Client { connection, id };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&initialized).await.status, 202);
        client
    }

    /// Shuts everything down and checks that nothing is left.
    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        tokio::time::timeout(SOON, self.serving).await.expect("it ends soon").expect("it does not panic");
        tokio::time::timeout(SOON, self.hub.shutdown()).await.expect("it ends soon");
        assert_eq!(self.engine.live(), 0, "a process is left");
    }
}

/// A connection that has a session.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) id: String,
}

impl Client {
    pub(crate) async fn post(&mut self, message: &Value) -> Response {
        let id = self.id.clone();
        self.connection.post(&[("mcp-session-id", &id)], message).await
    }

    /// Sends a message, and reads only the head of the answer.
    pub(crate) async fn begin(&mut self, message: &Value) -> Response {
        let id = self.id.clone();
        self.connection.send_post(&[("mcp-session-id", &id)], message).await;
        self.connection.head().await
    }

    /// Another connection of the same session, with the head of the answer to a GET.
    pub(crate) async fn get(&self, scene: &Scene, last: Option<&str>) -> (Connection, Response) {
        let mut connection = scene.connect().await;
        let mut headers = vec![("mcp-session-id", self.id.as_str()), ("accept", "text/event-stream")];
        headers.extend(last.map(|last| ("last-event-id", last)));
        connection.send("GET", "/mcp", &headers, "").await;
        let head = connection.head().await;
        (connection, head)
    }
}

pub(crate) fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    request(0, "initialize", &json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A call of a tool of the scripted server, with its id as progress token.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    let id = id.into();
    request(id.clone(), "tools/call", &json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}}))
}

/// The same request as one that stands for itself.
pub(crate) fn modern(mut request: Value) -> Value {
    request["params"]["_meta"][VERSION_FIELD] = json!("2026-07-28");
    request["params"]["_meta"][CAPABILITIES_FIELD] = json!({});
    request
}

pub(crate) const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES_FIELD: &str = "io.modelcontextprotocol/clientCapabilities";

/// The headers that belong to a request that stands for itself.
pub(crate) fn mirrored(request: &Value) -> Vec<(&str, &str)> {
    let params = &request["params"];
    let name = ["name", "uri", "taskId"].into_iter().find_map(|name| params[name].as_str());
    let mut headers = vec![
        ("mcp-protocol-version", params["_meta"][VERSION_FIELD].as_str().expect("a version")),
        ("mcp-method", request["method"].as_str().expect("a method")),
    ];
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
}

pub(crate) fn echo(id: impl Into<Value>, text: &str) -> Value {
    call(id, "echo", &json!({"text": text}))
}

/// The text that a tool answered with.
pub(crate) fn text_of(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {response}"))
}

/// The scripted server. Its tools:
/// `echo{text}`; `hold` answers when the gate opens; `steps{count}` sends so many notes of progress, waits for the gate
/// and answers; `pace{count}` waits for the gate before each note and before the answer; `announce` says that the list
/// of tools has changed; `refuse` sends a note of progress and answers with an error; `fail{code}` answers with that
/// error; `large{bytes}` answers with so much text when the gate opens; `ask` asks the user, and answers with what the
/// client says to that; `route{region}` is the one that is listed, and its argument has a header. What is sent to it should
/// be short: a line that does not come whole may
/// be lost.
async fn serve(mut child: Child, gate: Gate) -> ExitReport {
    // What one process has asked, no other hears.
    let gate = Gate { asked: Arc::default(), ..gate };
    let (say, mut said) = mpsc::channel::<String>(64);
    let mut calls = JoinSet::new();
    loop {
        let line = tokio::select! {
            Some(line) = said.recv() => {
                child.say(&line).await;
                continue;
            }
            line = child.line() => line,
        };
        let Some(line) = line else { return Child::exit(0) };
        gate.heard.lock().expect("nobody panicked").push(line.clone());
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id").cloned() else {
            gate.cancelled.add_permits(usize::from(message["method"] == "notifications/cancelled"));
            continue;
        };
        if message.get("method").is_none() {
            gate.answered(&message);
            continue;
        }
        let (say, gate) = (say.clone(), gate.clone());
        calls.spawn(async move {
            let answer = match message["method"].as_str() {
                Some("initialize") => {
                    if gate.holds_start.load(Ordering::Relaxed) {
                        gate.pass().await;
                    }
                    Ok(json!({
                        "protocolVersion": message["params"]["protocolVersion"],
                        "capabilities": {"tools": {"listChanged": true}},
                        "serverInfo": {"name": "scripted", "version": "1"},
                    }))
                }
                Some("tools/list") => {
                    let region = json!({"type": "string", "x-mcp-header": "Region"});
                    let schema = json!({"type": "object", "properties": {"region": region}});
                    Ok(json!({"tools": [{"name": "route", "inputSchema": schema}]}))
                }
                Some("ping") => Ok(json!({})),
                Some("tools/call") => tool(&message["params"], &say, &gate).await,
                _ => Err("unknown"),
            };
            let code = message["params"]["arguments"]["code"].as_i64().unwrap_or(-32601);
            let answer = match answer {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err(text) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}),
            };
            let _ = say.send(answer.to_string()).await;
        });
    }
}

async fn tool(params: &Value, say: &mpsc::Sender<String>, gate: &Gate) -> Result<Value, &'static str> {
    let arguments = &params["arguments"];
    let text = |text: &str| Ok(json!({"content": [{"type": "text", "text": text}]}));
    let tell = async |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let _ = say.send(message.to_string()).await;
    };
    let progress = async |number: u64| {
        let token = &params["_meta"]["progressToken"];
        tell("notifications/progress", json!({"progressToken": token, "progress": number})).await;
    };
    let count = arguments["count"].as_u64().unwrap_or_default();
    match params["name"].as_str() {
        Some("echo") => text(arguments["text"].as_str().unwrap_or_default()),
        Some("hold") => {
            gate.pass().await;
            text("held")
        }
        Some("steps") => {
            for number in 1..=count {
                progress(number).await;
            }
            gate.pass().await;
            text("stepped")
        }
        Some("pace") => {
            for number in 1..=count {
                gate.pass().await;
                progress(number).await;
            }
            gate.pass().await;
            text("paced")
        }
        Some("announce") => {
            tell("notifications/tools/list_changed", json!({})).await;
            text("announced")
        }
        Some("refuse") => {
            progress(1).await;
            Err("refused")
        }
        Some("fail") => Err("failed"),
        Some("route") => text(arguments["region"].as_str().unwrap_or("nowhere")),
        Some("ask") => {
            let id = format!("q{}", params["_meta"]["progressToken"]);
            let answered = gate.ask(&id);
            let question = request(id, "elicitation/create", &json!({"message": "Who are you?"}));
            let _ = say.send(question.to_string()).await;
            text(&answered.await.map_err(|_| "nobody answers")?.to_string())
        }
        Some("large") => {
            gate.pass().await;
            text(&"x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap_or_default()).unwrap()))
        }
        _ => Err("unknown tool"),
    }
}
