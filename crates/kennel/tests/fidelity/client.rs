//! Owns a client of either era: what it says of itself, how it answers questions, and what it hears.

use crate::support::waiting::PATIENCE;
use crate::wire::{Door, Era, Heard, Wire};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// What comes of looking: what is there, or a sentence about what is not as it should be.
pub(crate) type Looked<T> = Result<T, String>;

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// One client.
pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) door: Door,
    /// What the server says that it can do; nothing where there is no way to ask.
    pub(crate) offered: Option<Value>,
    name: String,
    /// Goes before the wire, so that nothing waits to be heard when that ends.
    heard: Receiver<Heard>,
    wire: Box<dyn Wire>,
    /// What came while something else was waited for.
    unread: VecDeque<Heard>,
    last: u64,
}

/// What happened between a request and its answer.
pub(crate) struct Told {
    pub(crate) answer: Heard,
    /// Notifications that came before the answer.
    pub(crate) notes: Vec<Heard>,
    /// What the server asked, as method and params.
    pub(crate) asked: Vec<(String, Value)>,
}

impl Told {
    /// The first text of the result.
    pub(crate) fn text(&self) -> &str {
        text_of(&self.answer.json["result"])
    }
}

/// The first text of a tool's result.
pub(crate) fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

impl Client {
    /// A client that can be asked everything; one with a session opens it.
    pub(crate) fn new(name: String, era: Era, door: Door, (wire, heard): (Box<dyn Wire>, Receiver<Heard>)) -> Self {
        let mut client = Self { era, door, offered: None, name, wire, heard, unread: VecDeque::new(), last: 0 };
        let offered = match era {
            Era::Legacy => {
                let params = json!({
                    "protocolVersion": era.version(), "capabilities": client.capabilities(),
                    "clientInfo": {"name": client.name, "version": "1"}
                });
                let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
                client.wire.initialize(&request, &client.heard)
            }
            Era::Modern => client.request("server/discover", json!({})).ok().map(|answer| answer.json),
        };
        client.offered = offered.map(|answer| answer["result"]["capabilities"].clone());
        client
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = json!({
            "roots": {"listChanged": true}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}
        });
        if self.era == Era::Modern {
            capabilities["extensions"] = json!({TASKS: {}});
        }
        capabilities
    }

    /// Whether the server offers tasks, as this era has them.
    pub(crate) fn is_offered_tasks(&self) -> bool {
        let Some(offered) = &self.offered else { return false };
        match self.era {
            Era::Legacy => offered.get("tasks").is_some(),
            Era::Modern => offered["extensions"].get(TASKS).is_some(),
        }
    }

    /// Sends a request, and returns its id.
    pub(crate) fn start(&mut self, method: &str, mut params: Value) -> Value {
        self.last += 1;
        // Both kinds of ids there are.
        let id = if self.last.is_multiple_of(2) { json!(self.last) } else { json!(format!("request {}", self.last)) };
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.era.version());
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": self.name, "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities();
        }
        self.wire.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Makes a request of which only the answer matters; what else comes stays unread.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Looked<Heard> {
        let id = self.start(method, params);
        self.expect(&format!("the answer to {method}"), |heard| heard.answers(&id))
    }

    /// Calls a tool of which only the answer matters.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Looked<Heard> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, and answers what it asks in the way of the era.
    pub(crate) fn converse(
        &mut self,
        tool: &str,
        arguments: &Value,
        meta: &Value,
        mut answer: impl FnMut(&str, &Value) -> Value,
    ) -> Looked<Told> {
        let mut params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let (mut notes, mut asked) = (Vec::new(), Vec::new());
        let mut id = self.start("tools/call", params.clone());
        loop {
            let heard = self.next(&format!("the answer to a call of {tool}"))?;
            let method = heard.json["method"].as_str().map(str::to_owned);
            match method {
                Some(method) if heard.json.get("id").is_some() => {
                    if self.era == Era::Modern {
                        return Err(format!("a modern client is never sent a request: {}", heard.text));
                    }
                    let params = heard.json["params"].clone();
                    let result = answer(&method, &params);
                    asked.push((method, params));
                    self.wire.send(&json!({"jsonrpc": "2.0", "id": heard.json["id"], "result": result}));
                }
                Some(_) => notes.push(heard),
                None if heard.json["id"] != id => return Err(format!("an answer to nothing: {}", heard.text)),
                None if heard.json["result"]["resultType"] == "input_required" => {
                    if self.era == Era::Legacy {
                        return Err(format!("a legacy client is never answered by questions: {}", heard.text));
                    }
                    let result = &heard.json["result"];
                    params["inputResponses"] = json!({});
                    for (name, request) in result["inputRequests"].as_object().into_iter().flatten() {
                        let method = request["method"].as_str().unwrap_or_default().to_owned();
                        params["inputResponses"][name] = answer(&method, &request["params"]);
                        asked.push((method, request["params"].clone()));
                    }
                    match result.get("requestState") {
                        Some(state) => params["requestState"] = state.clone(),
                        None => drop(params.as_object_mut().and_then(|params| params.remove("requestState"))),
                    }
                    id = self.start("tools/call", params.clone());
                }
                None => {
                    let is_plain = self.era == Era::Modern && heard.json["result"].get("resultType").is_none();
                    if is_plain && heard.json.get("error").is_none() {
                        return Err(format!("a modern result says what it is: {}", heard.text));
                    }
                    return Ok(Told { answer: heard, notes, asked });
                }
            }
        }
    }

    /// Calls a request off.
    pub(crate) fn call_off(&mut self, id: &Value) {
        self.wire.call_off(id);
    }

    /// Waits for the first message that fits, and takes it; what comes before stays unread.
    pub(crate) fn expect(&mut self, what: &str, fits: impl Fn(&Heard) -> bool) -> Looked<Heard> {
        if let Some(place) = self.unread.iter().position(&fits) {
            return self.unread.remove(place).ok_or_else(String::new);
        }
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed()) / 4;
            let Ok(heard) = self.heard.recv_timeout(left) else {
                let unread: Vec<&str> = self.unread.iter().map(|heard| heard.text.as_str()).collect();
                return Err(format!("{what} did not come, but {unread:?}"));
            };
            if fits(&heard) {
                return Ok(heard);
            }
            self.unread.push_back(heard);
        }
    }

    /// What came and nobody has waited for.
    pub(crate) fn unread(&mut self) -> Vec<Heard> {
        self.unread.extend(self.heard.try_iter());
        self.unread.drain(..).collect()
    }

    fn next(&mut self, what: &str) -> Looked<Heard> {
        self.expect(what, |_| true)
    }
}
