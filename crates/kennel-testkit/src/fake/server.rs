//! An MCP server as a script, which behaves as well or as badly as it is told.

use super::child::Child;
use kennel_box::ExitReport;
use serde_json::{Value, json};

/// A legacy MCP server that answers `initialize`, `tools/list`, `ping` and `tools/call`, ends with its standard input,
/// and ignores everything else. The defaults are those of a good one.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// The version it chooses.
    pub version: &'static str,
    /// Its tools, one list per page.
    pub pages: Vec<Vec<&'static str>>,
    /// How many calls of `ping` it answers; the ones after that it ignores.
    pub pings: usize,
    /// After how many calls of tools it ends with code 3, without answering the last of them.
    pub dies_at_call: Option<usize>,
    /// Whether it goes on when its standard input is closed, until SIGTERM.
    pub needs_term: bool,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            version: "2025-11-25",
            pages: vec![vec!["echo"]],
            pings: usize::MAX,
            dies_at_call: None,
            needs_term: false,
        }
    }
}

impl McpServer {
    /// Plays the server until it ends. Tools answer with their number and the number of the process; the tool `hang`
    /// never answers.
    pub async fn run(self, mut child: Child) -> ExitReport {
        let (mut pings, mut calls) = (0, 0);
        while let Some(line) = child.line().await {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            let Some(id) = message.get("id").cloned() else { continue };
            let result = match message.get("method").and_then(Value::as_str) {
                Some("initialize") => json!({
                    "protocolVersion": self.version,
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "fake", "version": "1" },
                }),
                Some("tools/list") => self.page(&message),
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
                    json!({ "content": [{ "type": "text", "text": format!("{calls} of {}", child.number()) }] })
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
