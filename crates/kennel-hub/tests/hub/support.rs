//! A hub over a fake engine, whose processes the test plays itself, and clients for it.

use kennel_box::{Command, ExitReport};
use kennel_exec::{Executor, SessionId, StartRequest};
use kennel_hub::{
    Attached, Endpoint, EndpointSession, Hub, Limits, Mailbox, MailboxLimits, Outgoing, OutgoingKind, Principal,
    ProcessModel, ServerSettings, Timeouts, Unobserved,
};
use kennel_supervisor::{BoxLauncher, Settings};
use kennel_testkit::fake::{Child, FakeEngine, plan};
use kennel_wire::{Era, Message};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};
use tokio::time::{sleep, timeout};

/// So long waits nothing that is to come, on a clock that jumps.
const LONG: Duration = Duration::from_hours(100);

/// How the processes of a scene behave without being told.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    pub(crate) version: &'static str,
    pub(crate) capabilities: Value,
    /// The results of `tools/list`, page by page.
    pub(crate) tools: Vec<Value>,
    /// Whether `initialize` is answered only when the test says so.
    pub(crate) held: bool,
    /// The era that it speaks.
    pub(crate) era: Era,
    /// Whether it says nothing where it is talked to in the other one, instead of refusing.
    pub(crate) is_shy: bool,
    /// Lists that it answers by itself, whoever asks, with their results by the method.
    pub(crate) lists: Vec<(&'static str, Value)>,
    /// What it says of itself.
    pub(crate) instructions: &'static str,
}

impl Profile {
    /// A process of the era without sessions.
    pub(crate) fn modern(capabilities: Value) -> Self {
        Self { era: Era::Modern, capabilities, ..Self::default() }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            version: "2025-11-25",
            capabilities: json!({ "tools": {}, "logging": {} }),
            tools: vec![tools(&["echo"])],
            held: false,
            era: Era::Legacy,
            is_shy: false,
            lists: Vec::new(),
            instructions: "",
        }
    }
}

/// A page of plain tools.
pub(crate) fn tools(names: &[&str]) -> Value {
    let tools: Vec<_> = names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    json!({ "tools": tools })
}

enum Order {
    Say(Vec<u8>),
    Exit,
    Open,
}

/// A process, in the test's hands. It has answered what the supervisor asks by itself.
pub(crate) struct Process {
    pub(crate) number: usize,
    lines: mpsc::Receiver<String>,
    orders: mpsc::Sender<Order>,
    introduced: mpsc::Receiver<Value>,
    all: Record,
}

/// The first lines that were written to a process, also those of the supervisor.
type Record = Arc<std::sync::Mutex<Vec<String>>>;

impl Process {
    /// The first of all messages that it has heard, also what it has answered by itself.
    pub(crate) fn all_heard(&self) -> Vec<Value> {
        let lines = self.all.lock().expect("nobody panicked");
        lines.iter().map(|line| serde_json::from_str(line).expect("a message")).collect()
    }

    /// What it was introduced with.
    pub(crate) async fn introduction(&mut self) -> Value {
        timeout(LONG, self.introduced.recv()).await.expect("it is introduced in time").expect("it is introduced")
    }

    /// The next line that the hub wrote to it; `None` when it was ended.
    pub(crate) async fn line(&mut self) -> Option<String> {
        timeout(LONG, self.lines.recv()).await.expect("a line for the process, in time")
    }

    /// The next line if there is one now.
    pub(crate) fn try_line(&mut self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    /// The next message, which must have this method.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let line = self.line().await.unwrap_or_else(|| panic!("the process ended instead of hearing {method}"));
        let message: Value = serde_json::from_str(&line).expect("a message");
        assert_eq!(message["method"], method, "{line}");
        message
    }

    /// The next message with this method; others, which are Kennel's own, are passed over.
    pub(crate) async fn hears(&mut self, method: &str) -> Value {
        loop {
            let line = self.line().await.unwrap_or_else(|| panic!("the process ended instead of hearing {method}"));
            let message: Value = serde_json::from_str(&line).expect("a message");
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Checks that nothing was written to it.
    pub(crate) async fn hears_nothing(&mut self) {
        settle().await;
        if let Some(line) = self.try_line() {
            panic!("the process heard {line}");
        }
    }

    /// Waits for its end.
    pub(crate) async fn ended(mut self) {
        while self.line().await.is_some() {}
    }

    pub(crate) async fn say(&self, line: impl Into<String>) {
        let mut line = line.into().into_bytes();
        line.push(b'\n');
        self.orders.send(Order::Say(line)).await.ok();
    }

    pub(crate) async fn answer(&self, request: &Value, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()).await;
    }

    pub(crate) async fn fail(&self, request: &Value, code: i64) {
        let error = json!({ "code": code, "message": "no" });
        self.say(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string()).await;
    }

    pub(crate) async fn notify(&self, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()).await;
    }

    pub(crate) async fn ask(&self, id: Value, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()).await;
    }

    /// Ends with a code of its own.
    pub(crate) async fn die(self) {
        self.orders.send(Order::Exit).await.ok();
    }

    /// Answers `initialize`, where that was held.
    pub(crate) async fn open(&self) {
        self.orders.send(Order::Open).await.ok();
    }
}

/// Plays a process: answers the supervisor, and leaves the rest to the test.
async fn play(profile: Profile, mut child: Child, stage: mpsc::Sender<Process>) -> ExitReport {
    let (heard, lines) = mpsc::channel(1 << 14);
    let (orders, mut inbox) = mpsc::channel(1 << 14);
    let (introduce, introduced) = mpsc::channel(1);
    let all = Record::default();
    stage.send(Process { number: child.number(), lines, orders, introduced, all: Arc::clone(&all) }).await.ok();
    let (mut is_open, mut held) = (!profile.held, Vec::<String>::new());
    loop {
        tokio::select! {
            biased;
            Some(order) = inbox.recv() => match order {
                Order::Say(line) => child.print(&line).await,
                Order::Exit => return Child::exit(3),
                Order::Open => {
                    is_open = true;
                    for line in held.drain(..) {
                        reply(&profile, &mut child, &line).await;
                    }
                }
            },
            line = child.line() => {
                let Some(line) = line else { return Child::exit(0) };
                note(&all, &line);
                if !line.contains("\"id\":\"kennel:") && !line.contains("notifications/initialized") {
                    match listed(&profile, &line) {
                        Some(answer) => child.say(&answer).await,
                        None => drop(heard.send(line).await),
                    }
                    continue;
                }
                if let Ok(message) = serde_json::from_str::<Value>(&line)
                    && (message["method"] == "initialize" || message["method"] == "server/discover")
                {
                    introduce.try_send(message["params"].clone()).ok();
                }
                if is_open {
                    reply(&profile, &mut child, &line).await;
                } else {
                    held.push(line);
                }
            }
        }
    }
}

fn note(all: &Record, line: &str) {
    let mut all = all.lock().expect("nobody panicked");
    if all.len() < 1000 {
        all.push(line.to_owned());
    }
}

/// The answer to a request for a list that the process answers by itself.
fn listed(profile: &Profile, line: &str) -> Option<String> {
    let (_, result) = profile.lists.iter().find(|(method, _)| line.contains(&format!("\"method\":\"{method}\"")))?;
    let message: Value = serde_json::from_str(line).expect("a message");
    Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
}

/// Answers what the supervisor asks.
async fn reply(profile: &Profile, child: &mut Child, line: &str) {
    let message: Value = serde_json::from_str(line).expect("a message");
    let is_other = match message["method"].as_str() {
        Some("initialize" | "ping") => profile.era == Era::Modern,
        Some("server/discover") => profile.era == Era::Legacy,
        _ => false,
    };
    if is_other && profile.is_shy {
        return;
    }
    if is_other {
        let error = json!({ "code": -32601, "message": "no such method" });
        child.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string()).await;
        return;
    }
    let result = match message["method"].as_str() {
        Some("server/discover") => json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": profile.capabilities,
            "ttlMs": 1000,
            "cacheScope": "public",
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "fake", "version": "1" } },
        }),
        Some("initialize") => json!({
            "protocolVersion": profile.version,
            "capabilities": profile.capabilities,
            "serverInfo": { "name": "fake", "version": "1" },
            "instructions": profile.instructions,
        }),
        Some("tools/list") => {
            let page = message["params"]["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0_usize);
            profile.tools[page].clone()
        }
        Some("ping") => json!({}),
        _ => return,
    };
    child.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()).await;
}

/// What a scene is made with.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) model: ProcessModel,
    pub(crate) era: Option<Era>,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) supervision: Settings,
    pub(crate) catalog: Option<kennel_hub::CatalogPlace>,
    pub(crate) audit: Option<kennel_hub::Audit>,
}

/// Settings with which nothing but what is tested happens by itself.
pub(crate) fn calm(model: ProcessModel) -> Plan {
    Plan {
        model,
        era: Some(Era::Legacy),
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        supervision: Settings { probe_interval: Duration::from_hours(1000), idle_stop: None, ..Settings::default() },
        catalog: None,
        audit: None,
    }
}

/// A hub, its engine, and the processes that the engine has started.
pub(crate) struct Scene {
    pub(crate) engine: FakeEngine,
    pub(crate) hub: Hub,
    executor: Executor,
    processes: Mutex<mpsc::Receiver<Process>>,
    /// Processes that run on without being listened to.
    others: Mutex<Vec<Process>>,
}

impl Scene {
    pub(crate) fn new(plan: Plan) -> Self {
        Self::with(plan, |_| Profile::default())
    }

    /// A scene whose processes behave as `profile` says for each of them.
    pub(crate) fn with(plan: Plan, profile: impl Fn(usize) -> Profile + Send + Sync + 'static) -> Self {
        let (stage, processes) = mpsc::channel(1024);
        let engine = FakeEngine::new(move |child| play(profile(child.number()), child, stage.clone()));
        Self::on(engine, plan, processes)
    }

    /// A scene whose processes run a script of the test's own.
    pub(crate) fn scripted<F>(plan: Plan, script: impl Fn(Child) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ExitReport> + Send + 'static,
    {
        let (_, processes) = mpsc::channel(1);
        Self::on(FakeEngine::new(script), plan, processes)
    }

    fn on(engine: FakeEngine, plan_of_hub: Plan, processes: mpsc::Receiver<Process>) -> Self {
        let executor = Executor::new(Arc::new(engine.clone()), kennel_exec::Limits::default()).expect("an executor");
        let attachment = Arc::new(executor.open(SessionId::new("hub")).expect("a session"));
        let request = StartRequest { plan: plan().expect("a plan"), command: Command::default() };
        let launcher = Arc::new(BoxLauncher::new(attachment, "server", request));
        let Plan { model, era, limits, timeouts, supervision, catalog, audit } = plan_of_hub;
        let settings =
            ServerSettings { name: "weather".to_owned(), model, era, limits, timeouts, catalog, audit, results: None };
        let hub = Hub::new(settings, supervision, launcher, Arc::new(Unobserved));
        Self { engine, hub, executor, processes: Mutex::new(processes), others: Mutex::default() }
    }

    /// The next process that was started.
    pub(crate) async fn process(&self) -> Process {
        let mut processes = self.processes.lock().await;
        timeout(LONG, processes.recv()).await.expect("a process, in time").expect("a process")
    }

    /// The one of the processes that hears this method, and the message. The others are let go of.
    pub(crate) async fn process_that_hears(&self, method: &str) -> (Process, Value) {
        loop {
            let mut process = self.process().await;
            settle().await;
            while let Some(line) = process.try_line() {
                let message: Value = serde_json::from_str(&line).expect("a message");
                if message["method"] == method {
                    return (process, message);
                }
            }
            self.others.lock().await.push(process);
        }
    }

    /// Checks that no further process was started.
    pub(crate) async fn starts_nothing(&self) {
        settle().await;
        assert!(self.processes.lock().await.try_recv().is_err(), "a process was started");
    }

    /// A client with a session of its own.
    pub(crate) async fn client(&self) -> Guest {
        self.guest("local", json!({})).await
    }

    pub(crate) async fn guest(&self, principal: &str, capabilities: Value) -> Guest {
        self.introduce(principal, "2025-11-25", capabilities).await
    }

    pub(crate) async fn introduce(&self, principal: &str, version: &str, capabilities: Value) -> Guest {
        self.try_introduce(principal, version, capabilities).await.unwrap_or_else(|refused| panic!("{refused:?}"))
    }

    pub(crate) async fn try_introduce(
        &self,
        principal: &str,
        version: &str,
        capabilities: Value,
    ) -> Result<Guest, kennel_hub::Refused> {
        introduce(&Endpoint::Server(self.hub.clone()), principal, version, capabilities).await
    }

    pub(crate) fn metric(&self, name: &str) -> u64 {
        let metrics = self.hub.metrics();
        metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
    }

    /// Ends the hub and checks that nothing is left.
    pub(crate) async fn end(self) {
        timeout(LONG, self.hub.shutdown()).await.expect("the hub ends in time");
        assert_eq!(self.engine.live(), 0, "a box is left");
        assert!(self.hub.status().instances.is_empty(), "an instance is left");
        self.executor.shutdown(kennel_exec::Stop::Now).await;
    }
}

/// A client with a session at an endpoint.
pub(crate) async fn introduce(
    endpoint: &Endpoint,
    principal: &str,
    version: &str,
    capabilities: Value,
) -> Result<Guest, kennel_hub::Refused> {
    let params = json!({
        "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" }
    });
    let request = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    let unsolicited = Mailbox::new(MailboxLimits::default());
    let principal = Principal::new(principal);
    let opening = endpoint.initialize(&principal, parse(&request.to_string()), Arc::clone(&unsolicited));
    let (session, answer) = timeout(LONG, opening).await.expect("an answer to initialize, in time")?;
    let introduction: Value = serde_json::from_slice(&answer).expect("a message");
    assert_eq!(introduction["id"], "hello");
    session.receive(parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), &unsolicited);
    Ok(Guest { session, unsolicited: Stream::attached(unsolicited), introduction })
}

/// A client session.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) session: EndpointSession,
    pub(crate) unsolicited: Stream,
    pub(crate) introduction: Value,
}

impl Guest {
    /// Makes a request, whose messages come on a stream of their own.
    pub(crate) fn ask(&self, request: &str) -> Stream {
        self.ask_into(request, MailboxLimits::default())
    }

    pub(crate) fn ask_into(&self, request: &str, limits: MailboxLimits) -> Stream {
        let mailbox = Mailbox::new(limits);
        self.session.receive(parse(request), &mailbox);
        Stream::attached(mailbox)
    }

    /// Makes a request with this id, method and parameters.
    #[expect(clippy::needless_pass_by_value, reason = "so that callers can write it where it stands")]
    pub(crate) fn request(&self, id: i64, method: &str, params: Value) -> Stream {
        self.ask(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())
    }

    /// Calls a tool.
    pub(crate) fn call(&self, id: i64, tool: &str) -> Stream {
        self.request(id, "tools/call", json!({ "name": tool }))
    }

    /// Sends what wants no answer.
    pub(crate) fn tell(&self, message: &str) {
        self.session.receive(parse(message), &Mailbox::new(MailboxLimits::default()));
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that callers can write it where it stands")]
    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.tell(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }
}

/// The reading end of a mailbox, which a client reads.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) mailbox: Arc<Mailbox>,
    #[expect(dead_code, reason = "says that somebody reads, as long as it lives")]
    attached: Attached,
}

impl Stream {
    pub(crate) fn attached(mailbox: Arc<Mailbox>) -> Self {
        let attached = mailbox.attach();
        Self { mailbox, attached }
    }

    pub(crate) async fn outgoing(&self) -> Outgoing {
        timeout(LONG, self.mailbox.next()).await.expect("a message, in time").expect("a message")
    }

    /// The next message as it is spelled, which must be of this kind.
    pub(crate) async fn spelled(&self, kind: OutgoingKind) -> String {
        let outgoing = self.outgoing().await;
        let message = String::from_utf8(outgoing.message.to_vec()).expect("text");
        assert_eq!(outgoing.kind, kind, "{message}");
        message
    }

    pub(crate) async fn response(&self) -> Value {
        serde_json::from_str(&self.spelled(OutgoingKind::Response).await).expect("a message")
    }

    pub(crate) async fn notification(&self) -> Value {
        serde_json::from_str(&self.spelled(OutgoingKind::Notification).await).expect("a message")
    }

    pub(crate) async fn request(&self) -> Value {
        serde_json::from_str(&self.spelled(OutgoingKind::Request).await).expect("a message")
    }

    /// The answer, which must be an error with this code.
    pub(crate) async fn error(&self, code: i64) -> Value {
        let response = self.response().await;
        assert_eq!(response["error"]["code"], code, "{response}");
        response
    }

    /// Checks that nothing has come.
    pub(crate) async fn is_quiet(&self) {
        settle().await;
        if let Some(outgoing) = self.mailbox.try_next() {
            panic!("there is {:?}: {}", outgoing.kind, String::from_utf8_lossy(&outgoing.message));
        }
    }
}

pub(crate) fn parse(message: &str) -> Message {
    Message::parse(message.to_owned().into()).unwrap_or_else(|error| panic!("{error}: {message}"))
}

/// Lets everything happen that is about to. On a clock that jumps, this goes on only when nothing else does.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(20)).await;
}
