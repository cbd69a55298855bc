//! Clients of every version, as plain as they can be: all their requests have the id 1.

use crate::support::events::Events;
use crate::support::gateway::{Client as Session, Connection, HEADERS, Response};
use serde_json::{Value, json};

pub(crate) const MODERN: &str = "2026-07-28";

/// A client that calls a tool which asks it something.
pub(crate) enum Client {
    WithSession(WithSession),
    Modern(Modern),
}

impl Client {
    /// A client of this version; the name tells apart those without sessions.
    pub(crate) fn open(address: &str, version: &'static str, name: &str) -> Self {
        match version {
            MODERN => Self::Modern(Modern::new(address, name)),
            _ => Self::WithSession(WithSession::open(address, version)),
        }
    }

    /// Calls the tool and waits until it asks for what belongs to this mark.
    pub(crate) fn begin(&mut self, mark: &str) {
        match self {
            Self::WithSession(client) => client.begin(mark),
            Self::Modern(client) => client.begin(mark),
        }
    }

    /// Answers with this mark and waits until it comes back in the tool's result.
    pub(crate) fn finish(&mut self, mark: &str) {
        let answer = match self {
            Self::WithSession(client) => client.finish(mark),
            Self::Modern(client) => client.finish(mark),
        };
        assert_eq!(answer["id"], 1, "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], expected(mark).as_str(), "{answer}");
    }
}

fn content(mark: &str) -> Value {
    json!({ "username": mark, "email": "a@b.example" })
}

/// What the tool says after it was answered with this mark.
pub(crate) fn expected(mark: &str) -> String {
    format!("User response: action=accept, content={}", content(mark))
}

/// What answers the question.
pub(crate) fn accepted(mark: &str) -> Value {
    json!({ "action": "accept", "content": content(mark) })
}

/// One of those that open a session.
pub(crate) struct WithSession {
    /// What the calls are made on, and their streams come.
    calling: Connection,
    /// What the answers go by.
    answering: Connection,
    session: String,
    version: &'static str,
    /// The id of the question, and what was read behind it.
    asked: Option<(Value, String)>,
}

impl WithSession {
    fn open(address: &str, version: &'static str) -> Self {
        let mut calling = Connection::open(address).unwrap();
        let (session, result) =
            Session::initialize_as(&mut calling, version, json!({ "elicitation": {} })).expect("the session opens");
        assert_eq!(result["protocolVersion"], version, "{result}");
        let answering = Connection::open(address).unwrap();
        let mut client = Self { calling, answering, session, version, asked: None };
        client.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn begin(&mut self, mark: &str) {
        let params = json!({ "name": "test_elicitation", "arguments": { "message": mark } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers = headers(&self.session, self.version);
        self.calling.send("POST", "/mcp", &headers, call.to_string().as_bytes()).unwrap();
        let mut events = Events::of(&mut self.calling);
        let question = next_message(&mut events);
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert_eq!(question["params"]["message"], mark, "the question of this call: {question}");
        self.asked = Some((question["id"].clone(), events.rest()));
    }

    fn finish(&mut self, mark: &str) -> Value {
        let (id, rest) = self.asked.take().expect("it was asked");
        self.tell(&json!({ "jsonrpc": "2.0", "id": id, "result": accepted(mark) }));
        let mut events = Events::resumed(&mut self.calling, rest);
        let answer = next_message(&mut events);
        assert_eq!(events.next(), None, "the answer is the last");
        answer
    }

    fn tell(&mut self, message: &Value) {
        let headers = headers(&self.session, self.version);
        let response = self.answering.request("POST", "/mcp", &headers, message.to_string().as_bytes()).unwrap();
        assert_eq!(response.status, 202, "{response:?}");
    }
}

/// Those of a request in a session; the version is said by clients that know of that header.
fn headers<'a>(session: &'a str, version: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![HEADERS[0], HEADERS[1], ("mcp-session-id", session)];
    if version >= "2025-06-18" {
        headers.push(("mcp-protocol-version", version));
    }
    headers
}

fn next_message(events: &mut Events<'_>) -> Value {
    loop {
        let event = events.next().expect("the stream goes on");
        // The first one may only say where to come back to.
        if !event.data.is_empty() {
            return serde_json::from_str(&event.data).expect("a message");
        }
    }
}

/// One of those whose requests stand for themselves.
pub(crate) struct Modern {
    connection: Connection,
    name: String,
    /// The name of the question, and the state to come back with.
    asked: Option<(String, Value)>,
}

impl Modern {
    pub(crate) fn new(address: &str, name: &str) -> Self {
        Self { connection: Connection::open(address).unwrap(), name: name.to_owned(), asked: None }
    }

    fn begin(&mut self, mark: &str) {
        let result = self.ask(mark);
        let (name, question) = only_question(&result);
        assert_eq!(question["params"]["message"], mark, "the question of this call: {result}");
        self.asked = Some((name, result["requestState"].clone()));
    }

    fn finish(&mut self, mark: &str) -> Value {
        let (name, state) = self.asked.take().expect("it was asked");
        self.come_back(mark, &state, &json!({ name: accepted(mark) }))
    }

    /// Makes the call and returns the result that asks.
    pub(crate) fn ask(&mut self, mark: &str) -> Value {
        let answer = self.call("test_elicitation", &json!({ "message": mark }), &json!({}));
        assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(1), &json!("input_required")), "{answer}");
        answer["result"].clone()
    }

    /// Makes the call once more with a state and answers, and returns the answer.
    pub(crate) fn come_back(&mut self, mark: &str, state: &Value, answers: &Value) -> Value {
        let further = json!({ "requestState": state, "inputResponses": answers });
        self.call("test_elicitation", &json!({ "message": mark }), &further)
    }

    /// Calls a tool, with further parameters, and returns the answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value, further: &Value) -> Value {
        let response = self.post(tool, arguments, further);
        let mut messages = response.messages();
        assert_eq!(messages.len(), 1, "{}: {}", response.status, response.text());
        messages.remove(0)
    }

    fn post(&mut self, tool: &str, arguments: &Value, further: &Value) -> Response {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": self.name, "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let mut params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        for (name, value) in further.as_object().expect("parameters") {
            params[name] = value.clone();
        }
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mirrored = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool)];
        let headers = [&HEADERS[..], &mirrored].concat();
        self.connection.request("POST", "/mcp", &headers, call.to_string().as_bytes()).unwrap()
    }
}

/// The one question of a result that asks, with its name.
pub(crate) fn only_question(result: &Value) -> (String, Value) {
    let questions = result["inputRequests"].as_object().unwrap_or_else(|| panic!("no questions: {result}"));
    assert_eq!(questions.len(), 1, "{result}");
    let (name, question) = questions.iter().next().unwrap();
    (name.clone(), question.clone())
}
