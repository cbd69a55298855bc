//! An agent that does what a model would do, through one of the surfaces, and counts what a model would read and write.

use crate::footprint::Footprint;
use crate::http::Client;
use crate::task::Task;
use crate::world::World;
use serde_json::{Value, json};
use std::io;

/// What an agent is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// All tools.
    Direct,
    /// A tool that finds tools, and one that calls them.
    Search,
    /// A tool that finds tools, and one that runs Python.
    Code,
}

impl Surface {
    /// Where it is served.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Direct => "/mcp",
            Self::Search => "/views/found/mcp",
            Self::Code => "/servers/code/mcp",
        }
    }
}

/// An agent at work.
pub(crate) struct Agent {
    client: Client,
    surface: Surface,
    footprint: Footprint,
}

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) server: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

impl Agent {
    /// An agent that was given the tools and a question.
    pub(crate) fn new(world: &World, surface: Surface, question: &str) -> io::Result<Self> {
        let mut footprint = Footprint::default();
        let mut client = world.connect(surface.path())?;
        for tool in client.tools()? {
            // That is what clients give models.
            let (name, description, schema) = (&tool["name"], &tool["description"], &tool["inputSchema"]);
            footprint.define(&json!({"name": name, "description": description, "parameters": schema}).to_string());
        }
        footprint.show(question);
        Ok(Self { client, surface, footprint })
    }

    /// Searches as the task says, all at once, and makes sure that what is needed is found.
    pub(crate) fn search(&mut self, task: &Task) -> io::Result<()> {
        let calls = task.searches.iter().map(|(query, _)| ("search_tools".to_owned(), json!({ "query": query })));
        let found = self.make(calls.collect())?;
        for ((query, wanted), found) in task.searches.iter().zip(found) {
            if let Some(missing) = wanted.iter().find(|tool| !found.contains(*tool)) {
                return Err(io::Error::other(format!("{query:?} does not find {missing}, but:\n{found}")));
            }
        }
        Ok(())
    }

    /// Calls tools, all in one turn, and returns the texts of their results.
    pub(crate) fn call(&mut self, calls: impl IntoIterator<Item = Call>) -> io::Result<Vec<String>> {
        let calls = calls.into_iter().map(|Call { server, tool, arguments }| {
            let name = format!("{server}__{tool}");
            match self.surface {
                Surface::Search => ("call_tool".to_owned(), json!({"name": name, "arguments": arguments})),
                Surface::Direct | Surface::Code => (name, arguments),
            }
        });
        let calls = calls.collect();
        self.make(calls)
    }

    /// The same for one tool that answers with JSON.
    pub(crate) fn ask(&mut self, server: &'static str, tool: &'static str, arguments: Value) -> io::Result<Value> {
        let texts = self.call([Call { server, tool, arguments }])?;
        parsed(texts.first().map_or("", String::as_str))
    }

    /// Runs a cell and returns the text of its result.
    pub(crate) fn run(&mut self, code: &str) -> io::Result<String> {
        let texts = self.make(vec![("run_python".to_owned(), json!({ "code": code }))])?;
        Ok(texts.into_iter().next().unwrap_or_default())
    }

    /// Says the answer, and returns what all took.
    pub(crate) fn finish(mut self, answer: &str) -> Footprint {
        self.footprint.turn(answer);
        self.footprint
    }

    fn make(&mut self, calls: Vec<(String, Value)>) -> io::Result<Vec<String>> {
        let written: Vec<String> =
            calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments}).to_string()).collect();
        self.footprint.turn(&written.join("\n"));
        let mut texts = Vec::new();
        for (name, arguments) in calls {
            let params = json!({"name": name, "arguments": arguments});
            let result = self.client.request("tools/call", &params)?;
            let blocks = result["content"].as_array().cloned().unwrap_or_default();
            let text: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            let text = text.join("\n");
            if result["isError"] == true {
                return Err(io::Error::other(format!("{name} {arguments}: {text}")));
            }
            self.footprint.show(&text);
            texts.push(text);
        }
        Ok(texts)
    }
}

/// A text that is JSON.
pub(crate) fn parsed(text: &str) -> io::Result<Value> {
    serde_json::from_str(text).map_err(|error| io::Error::other(format!("{error}: {text}")))
}
