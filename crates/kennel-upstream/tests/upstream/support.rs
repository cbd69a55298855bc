//! A conversation as the supervisor holds it: lines in, lines out, remarks and an end.

use bytes::Bytes;
use kennel_box::ExitStatus;
use kennel_exec::{EventKind, Graces, Line, LineAssembler, Seq, Stop, Stream, Subscription};
use kennel_supervisor::{LaunchFailure, LaunchSteps, Launched, Launcher, Phase};
use kennel_upstream::{Limits, Upstream, UpstreamLauncher};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Long enough for anything that happens at all.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Limits under which nothing takes long.
pub(crate) fn hurried() -> Limits {
    Limits { retry: Duration::from_millis(5), longest_retry: Duration::from_millis(50), ..Limits::default() }
}

/// What a launcher is told by nobody.
#[derive(Default)]
pub(crate) struct Unwatched(pub(crate) CancellationToken);

impl LaunchSteps for Unwatched {
    fn entered(&self, _phase: Phase) {}

    fn progress(&self, _text: &str) {}

    fn cancelled(&self) -> &CancellationToken {
        &self.0
    }
}

/// Why a conversation with this server does not even begin.
pub(crate) async fn not_launched(upstream: Upstream) -> LaunchFailure {
    launcher(upstream).launch(&Unwatched::default()).await.err().expect("a failure")
}

pub(crate) fn launcher(upstream: Upstream) -> UpstreamLauncher {
    let source = move || {
        let upstream = upstream.clone();
        async move { Ok::<_, LaunchFailure>(upstream) }
    };
    UpstreamLauncher::new(kennel_exec::Limits::default(), source).expect("a launcher")
}

/// One conversation.
pub(crate) struct Talk {
    _owner: UpstreamLauncher,
    launched: Launched,
    subscription: Subscription,
    lines: LineAssembler,
    heard: std::collections::VecDeque<Value>,
    exit: Option<ExitStatus>,
    is_closed: bool,
}

impl Talk {
    pub(crate) async fn with(url: &str) -> Self {
        Self::to(Upstream::new(url).expect("an address").limits(hurried())).await
    }

    pub(crate) async fn to(upstream: Upstream) -> Self {
        let owner = launcher(upstream);
        let launched = owner.launch(&Unwatched::default()).await.unwrap_or_else(|failure| panic!("{failure:?}"));
        let subscription = launched.attachment.attend(&launched.process, Seq::START).expect("its output");
        Self {
            _owner: owner,
            launched,
            subscription,
            lines: LineAssembler::new(64 * 1024 * 1024),
            heard: std::collections::VecDeque::new(),
            exit: None,
            is_closed: false,
        }
    }

    /// Writes a message.
    pub(crate) fn send(&self, message: &Value) {
        let feed = self.launched.attachment.feed(&self.launched.process).expect("it runs");
        feed.send(Bytes::from(format!("{message}\n"))).expect("it is taken");
    }

    /// The next message, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        while self.heard.is_empty() && !self.is_closed {
            self.turn().await;
        }
        self.heard.pop_front()
    }

    pub(crate) async fn heard(&mut self) -> Value {
        match self.next().await {
            Some(message) => message,
            None => panic!("it ended: {:?}", self.remarks()),
        }
    }

    async fn turn(&mut self) {
        let event = timeout(SOON, self.subscription.next()).await.unwrap_or_else(|_| {
            panic!("nothing is heard; remarks: {:?}", self.remarks());
        });
        match event.expect("no gap").map(|event| event.kind) {
            Some(EventKind::Output { stream: Stream::Stdout, bytes }) => {
                for line in self.lines.push(bytes) {
                    let Line::Whole(line) = line else { panic!("a line that is too long") };
                    self.heard.push_back(serde_json::from_slice(&line).expect("JSON"));
                }
            }
            Some(EventKind::Output { stream: Stream::Stderr, .. }) => {}
            Some(EventKind::Exited { report }) => self.exit = Some(report.status),
            Some(EventKind::Closed) | None => self.is_closed = true,
        }
    }

    /// What an operator was told.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.launched.attachment.stderr(&self.launched.process, 100).expect("it is kept")
    }

    /// Waits for the end, before which nothing more is said; returns the exit code and the last remark.
    pub(crate) async fn ended(&mut self) -> (i32, String) {
        assert_eq!(self.next().await, None, "nothing more is said");
        let Some(ExitStatus::Code(code)) = self.exit else { panic!("no exit code: {:?}", self.exit) };
        (code, self.remarks().pop().unwrap_or_default())
    }

    /// Stops it politely, as the supervisor does.
    pub(crate) async fn stop(&mut self) -> (i32, String) {
        let stop = Stop::Gracefully(Graces { stdin: SOON, term: SOON });
        let stopping = self.launched.attachment.terminate(&self.launched.process, stop);
        timeout(SOON, stopping).await.expect("it stops soon").expect("nothing is left");
        self.ended().await
    }

    /// Ends it at once.
    pub(crate) async fn kill(&self) {
        self.launched.attachment.terminate(&self.launched.process, Stop::Now).await.expect("nothing is left");
    }
}

pub(crate) fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    request(0, "initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}))
}

pub(crate) fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

pub(crate) fn introduction() -> Value {
    let server = json!({"name": "peer", "version": "1"});
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server})
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(crate) fn call(id: impl Into<Value>) -> Value {
    request(id, "tools/call", &json!({"name": "echo", "arguments": {}}))
}

pub(crate) fn result(id: impl Into<Value>, result: impl Into<Value>) -> Value {
    let (id, result) = (id.into(), result.into());
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn note(number: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": number}})
}
