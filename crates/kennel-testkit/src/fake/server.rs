//! An MCP server as a script, which behaves as well or as badly as it is told.

use super::child::Child;
use super::era::{Era, Refusal, Tongue};
use kennel_box::ExitReport;
use serde_json::{Value, json};

/// An MCP server that answers `tools/list` and `tools/call`, in the legacy protocol also `initialize` and `ping`, in the
/// modern one also `server/discover`. It ends with its standard input. The defaults are those of a good legacy one.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// The version it chooses, or the only one that it speaks if it is modern.
    pub version: &'static str,
    /// Its tools, one list per page.
    pub pages: Vec<Vec<&'static str>>,
    /// How many calls of `ping` it answers; the ones after that it ignores. A modern server is asked by
    /// `server/discover` instead, whose first call, which is how it is met, does not count.
    pub pings: usize,
    /// After how many calls of tools it ends with code 3, without answering the last of them.
    pub dies_at_call: Option<usize>,
    /// Whether it goes on when its standard input is closed, until SIGTERM.
    pub needs_term: bool,
    /// Which protocol it speaks, and what it says to the other.
    pub era: Era,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            version: "2025-11-25",
            pages: vec![vec!["echo"]],
            pings: usize::MAX,
            dies_at_call: None,
            needs_term: false,
            era: Era::Legacy,
        }
    }
}

impl McpServer {
    /// The same server, but legacy and strict: before `initialize` it refuses every other request with -32601, and
    /// afterwards those that it does not know.
    #[must_use]
    pub fn refusing(self) -> Self {
        Self { era: Era::Refusing, ..self }
    }

    /// The same server, but modern: it speaks 2026-07-28 only, wants the `_meta` of that version in each request, and
    /// refuses `initialize` and everything that it does not know with -32601.
    #[must_use]
    pub fn modern(self) -> Self {
        Self { version: Era::MODERN_VERSION, era: Era::Modern, ..self }
    }

    /// The same server, but of both eras: the first request decides which one it speaks, and the other is refused from
    /// then on, as servers of today's SDKs do.
    #[must_use]
    pub fn dual(self) -> Self {
        Self { era: Era::Dual, ..self }
    }

    /// Plays the server until it ends. Tools answer with their number and the number of the process; the tool `hang`
    /// never answers.
    pub async fn run(self, mut child: Child) -> ExitReport {
        let mut tongue = Tongue::new(self.era, self.version);
        let (mut pings, mut calls) = (0, 0);
        while let Some(line) = child.line().await {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            let Some(id) = message.get("id").cloned() else { continue };
            if let Err(refusal) = tongue.hear(&message) {
                match refusal {
                    Refusal::Silence => {}
                    Refusal::Error(error) => {
                        child.say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()).await;
                    }
                }
                continue;
            }
            let result = match message.get("method").and_then(Value::as_str) {
                Some("initialize") => json!({
                    "protocolVersion": tongue.version(),
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "fake", "version": "1" },
                }),
                Some("server/discover") => {
                    if pings > self.pings {
                        continue;
                    }
                    pings += 1;
                    tongue.cacheable(json!({
                        "supportedVersions": [tongue.version()],
                        "capabilities": { "tools": {} },
                    }))
                }
                Some("tools/list") => tongue.cacheable(self.page(&message)),
                Some("ping") => {
                    pings += 1;
                    if pings > self.pings {
                        continue;
                    }
                    json!({})
                }
                Some("tools/call") => {
                    calls += 1;
                    if self.dies_at_call == Some(calls) {
                        child.complain("giving up").await;
                        return Child::exit(3);
                    }
                    if message.pointer("/params/name").and_then(Value::as_str) == Some("hang") {
                        continue;
                    }
                    let text = format!("{calls} of {}", child.number());
                    tongue.complete(json!({ "content": [{ "type": "text", "text": text }] }))
                }
                Some(_) | None => continue,
            };
            child.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()).await;
        }
        if self.needs_term {
            child.terminated().await;
        }
        Child::exit(0)
    }

    fn page(&self, request: &Value) -> Value {
        let cursor = request.pointer("/params/cursor").and_then(Value::as_str);
        let number = cursor.and_then(|cursor| cursor.parse::<usize>().ok()).unwrap_or_default();
        let names = self.pages.get(number).map(Vec::as_slice).unwrap_or_default();
        let tools: Vec<Value> =
            names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
        let mut page = json!({ "tools": tools });
        if number + 1 < self.pages.len()
            && let Some(page) = page.as_object_mut()
        {
            page.insert("nextCursor".to_owned(), json!((number + 1).to_string()));
        }
        page
    }
}
