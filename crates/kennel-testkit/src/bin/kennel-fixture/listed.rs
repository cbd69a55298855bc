//! Owns the reading of tools from a JSONL file.
//!
//! A line is an object with `name`, `description` and either `inputSchema` or `arguments`: a list of objects with
//! `name`, `type` and `description`. It can have a `server`; if none is asked for, a tool of such a line is called
//! `server.name`, because servers have tools of the same name.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One tool of a file.
pub(crate) struct ListedTool {
    pub(crate) name: String,
    /// As it appears in `tools/list`.
    pub(crate) json: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    server: Option<String>,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    arguments: Vec<Argument>,
    input_schema: Option<Value>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    description: Option<String>,
}

/// Reads the tools of a file; with a server, only of that one.
pub(crate) fn read(path: &Path, server: Option<&str>) -> io::Result<Vec<ListedTool>> {
    let text = fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{} cannot be read: {error}", path.display())))?;
    let mut tools = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line).map_err(|error| {
            io::Error::other(format!("{}, line {}, is not a tool: {error}", path.display(), number + 1))
        })?;
        if server.is_none() || server == line.server.as_deref() {
            tools.push(line.into_tool(server.is_none()));
        }
    }
    Ok(tools)
}

impl Line {
    fn into_tool(self, qualified: bool) -> ListedTool {
        let name = match self.server {
            Some(server) if qualified => format!("{server}.{}", self.name),
            _ => self.name,
        };
        let schema = self.input_schema.unwrap_or_else(|| schema(&self.arguments));
        let json = json!({"name": name, "description": self.description, "inputSchema": schema}).to_string();
        ListedTool { name, json }
    }
}

fn schema(arguments: &[Argument]) -> Value {
    let mut properties = Map::new();
    for argument in arguments {
        let mut property = Map::new();
        if let Some(kind) = &argument.kind {
            property.insert("type".to_owned(), json!(kind));
        }
        if let Some(description) = &argument.description {
            property.insert("description".to_owned(), json!(description));
        }
        properties.insert(argument.name.clone(), Value::Object(property));
    }
    json!({"type": "object", "properties": properties})
}
