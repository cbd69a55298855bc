//! The real tools that searches are tried on, and the questions. Tests and benches use different parts of it.
#![allow(dead_code)]

use kennel_hub::search::{Document, Hit};
use kennel_wire::RawJson;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const REGISTRY: &str = include_str!("../../../kennel-testkit/data/tools.jsonl");
const INSTALLED: &str = include_str!("../../../kennel-testkit/data/installed-servers.jsonl");
const QUESTIONS: &str = include_str!("queries.jsonl");

/// A tool as its server lists it.
pub(crate) struct Tool {
    pub(crate) server: String,
    pub(crate) definition: RawJson,
}

impl Tool {
    pub(crate) fn document(&self) -> Document<'_> {
        Document::read(&self.server, &self.definition).expect("a tool")
    }
}

/// A question, and the tools that answer it as `server/name`.
#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) query: String,
    pub(crate) set: String,
    pub(crate) answers: Vec<String>,
}

/// The tools of the registry and of the servers that the tests install.
pub(crate) fn tools() -> Vec<Tool> {
    let lines = REGISTRY.lines().chain(INSTALLED.lines());
    lines.map(|line| tool(serde_json::from_str(line).expect("a line of tools"))).collect()
}

pub(crate) fn questions() -> Vec<Question> {
    QUESTIONS.lines().map(|line| serde_json::from_str(line).expect("a line of questions")).collect()
}

/// How a tool is named in the questions.
pub(crate) fn path(hit: &Hit<'_>) -> String {
    format!("{}/{}", hit.server, hit.name)
}

fn tool(mut line: BTreeMap<String, Value>) -> Tool {
    let Some(Value::String(server)) = line.remove("server") else { panic!("no server in {line:?}") };
    // The registry lists arguments; servers send a schema.
    if let Some(Value::Array(arguments)) = line.remove("arguments") {
        let property = |argument: &Value| {
            let name = argument["name"].as_str().expect("a name").to_owned();
            (name, json!({"type": argument["type"], "description": argument["description"]}))
        };
        let properties: Map<String, Value> = arguments.iter().map(property).collect();
        line.insert("inputSchema".to_owned(), json!({"type": "object", "properties": properties}));
    }
    let definition = RawJson::parse(serde_json::to_vec(&line).expect("JSON")).expect("JSON");
    Tool { server, definition }
}
