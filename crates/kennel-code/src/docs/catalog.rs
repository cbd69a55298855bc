//! All servers that code can call: their aliases, their tools as Python, and the search among them.

use super::arguments::{DescribeArguments, SearchArguments};
use super::manual;
use super::names::aliases;
use super::stub::{Shown, stub};
use super::tool::Tool;
use kennel_hub::search::{Document, Index};
use kennel_wire::RawJson;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

/// How many tools one `describe_tools` shows, or names.
const MOST_SHOWN: usize = 2_000;

/// A server and its tools, made once from its list and shared by all catalogs that have it.
#[derive(Debug)]
pub struct Server {
    name: String,
    description: String,
    tools: Vec<Tool>,
    definitions: Vec<RawJson>,
    /// The places of tools by their names at the server and in Python; the latter go first.
    places: HashMap<String, usize>,
}

impl Server {
    /// Reads the tools of a server as it lists them.
    #[must_use]
    pub fn read(name: &str, description: &str, definitions: Vec<RawJson>) -> Self {
        let tools = Tool::read_all(&definitions);
        let mut places = HashMap::new();
        for (place, tool) in tools.iter().enumerate() {
            places.entry(tool.name.clone()).or_insert(place);
        }
        places.extend(tools.iter().enumerate().map(|(place, tool)| (tool.python.clone(), place)));
        Self { name: name.to_owned(), description: description.to_owned(), tools, definitions, places }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it says of itself.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its tools.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// A tool by its name in Python or at the server.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }

    fn shown<'a>(&'a self, alias: &'a str, place: usize) -> Option<Shown<'a>> {
        Some(Shown { alias, tool: self.tools.get(place)?, definition: self.definitions.get(place)? })
    }
}

/// All servers that code can call. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    servers: BTreeMap<String, Arc<Server>>,
    /// By the names of servers.
    aliases: BTreeMap<String, String>,
    index: Index,
}

impl Catalog {
    /// Puts a server in the place of the one of that name.
    pub fn replace(&mut self, server: Arc<Server>) {
        let documents = server.tools.iter().zip(&server.definitions).filter_map(|(tool, definition)| {
            let document = Document::read(&server.name, definition)?;
            Some(Document { name: tool.python.as_str().into(), ..document })
        });
        self.index.replace(&server.name, documents);
        self.servers.insert(server.name.clone(), server);
        self.name();
    }

    /// Forgets a server.
    pub fn remove(&mut self, server: &str) {
        self.index.remove(server);
        self.servers.remove(server);
        self.name();
    }

    /// The catalog of some of the servers, with the aliases that they have here.
    #[must_use]
    pub fn only(&self, mut is_wanted: impl FnMut(&str) -> bool) -> Self {
        let mut only = self.clone();
        only.servers.retain(|name, _| is_wanted(name));
        only.index = self.index.only(|name| only.servers.contains_key(name));
        only
    }

    /// The servers in the order of their names, each with its alias.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &Arc<Server>)> {
        self.servers.iter().filter_map(|(name, server)| Some((self.aliases.get(name)?.as_str(), server)))
    }

    /// A server by its alias or name, and its alias; also with the `mcp_` that Python has before it.
    #[must_use]
    pub fn server(&self, called: &str) -> Option<(&str, &Arc<Server>)> {
        let aliased = |called: &str| self.servers().find(|(alias, _)| *alias == called);
        let named = || self.servers.get_key_value(called);
        aliased(called)
            .or_else(|| named().and_then(|(name, server)| Some((self.aliases.get(name)?.as_str(), server))))
            .or_else(|| called.strip_prefix("mcp_").and_then(aliased))
    }

    /// What the box is told: the member `servers` of the message of that name.
    #[must_use]
    pub fn for_box(&self) -> RawJson {
        let mut written = String::from("[");
        for (place, (alias, server)) in self.servers().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            let text = |text: &str| String::from_utf8_lossy(RawJson::string(text).as_bytes()).into_owned();
            let _ = write!(
                written,
                "{separator}{{\"name\":{},\"alias\":{},\"description\":{},\"tools\":[",
                text(&server.name),
                text(alias),
                text(&manual::described(server)),
            );
            for (place, tool) in server.tools.iter().enumerate() {
                written.push_str(if place == 0 { "" } else { "," });
                written.push_str(&String::from_utf8_lossy(tool.for_box().as_bytes()));
            }
            written.push_str("]}");
        }
        written.push(']');
        RawJson::parse(written).unwrap_or_else(|_| RawJson::empty_object())
    }

    /// What `search_tools` returns.
    #[must_use]
    pub fn search(&self, arguments: &SearchArguments) -> String {
        let mut wanted = Vec::new();
        for called in arguments.servers.iter().flatten() {
            match self.server(called) {
                Some((_, server)) => wanted.push(server.name.as_str()),
                None => return self.no_server(called),
            }
        }
        let is_wanted = |server: &str, _: &str| arguments.servers.is_none() || wanted.contains(&server);
        let hits = self.index.search_where(&arguments.query, arguments.limit, is_wanted);
        let shown = hits.iter().filter_map(|hit| {
            let server = self.servers.get(hit.server)?;
            server.shown(self.aliases.get(hit.server)?, *server.places.get(hit.name)?)
        });
        let shown: Vec<Shown<'_>> = shown.collect();
        if shown.is_empty() {
            return "No tool matches. Say it in other or fewer words, or search all servers.".to_owned();
        }
        stub(&shown, arguments.detail)
    }

    /// What `describe_tools` returns.
    #[must_use]
    pub fn describe(&self, arguments: &DescribeArguments) -> String {
        let mut shown = Vec::new();
        let mut wrong = String::new();
        for called in &arguments.tools {
            match self.described(called) {
                Ok(more) => shown.extend(more),
                Err(sentence) => {
                    let _ = writeln!(wrong, "# {sentence}");
                }
            }
            if shown.len() > MOST_SHOWN {
                shown.truncate(MOST_SHOWN);
                let _ = writeln!(wrong, "# only the first {MOST_SHOWN} tools are shown");
                break;
            }
        }
        let text = stub(&shown, arguments.detail);
        let separator = if wrong.is_empty() || text.is_empty() { "" } else { "\n" };
        format!("{text}{separator}{}", wrong.trim_end())
    }

    /// The manual of code mode, with these servers.
    #[must_use]
    pub fn manual(&self) -> String {
        manual::manual(self)
    }

    /// The tools that are meant by `server.tool`, `server.*` or `server`.
    fn described(&self, called: &str) -> Result<Vec<Shown<'_>>, String> {
        let all = |(alias, server)| {
            let server: &Arc<Server> = server;
            (0..server.tools.len()).filter_map(|place| server.shown(alias, place)).collect()
        };
        if let Some(server) = self.server(called.strip_suffix(".*").unwrap_or(called)) {
            return Ok(all(server));
        }
        // Names of servers and of tools may have dots.
        let splits = called.match_indices('.').filter_map(|(dot, _)| called.split_at_checked(dot));
        let mut nearest = None;
        for (server, tool) in splits.map(|(server, tool)| (server, tool.strip_prefix('.').unwrap_or(tool))) {
            let Some((alias, server)) = self.server(server) else { continue };
            if let Some(shown) = server.places.get(tool).and_then(|place| server.shown(alias, *place)) {
                return Ok(vec![shown]);
            }
            nearest = Some((alias, tool));
        }
        Err(match nearest {
            Some((alias, tool)) => {
                let tool = super::text::one_line(tool, 80);
                format!(
                    "{alias} has no tool {tool:?}; describe_tools {{\"tools\":[\"{alias}.*\"],\"detail\":\"names\"}} names those it has"
                )
            }
            None => self.no_server(called),
        })
    }

    /// What is said of a server that there is not.
    pub(crate) fn no_server(&self, called: &str) -> String {
        let aliases: Vec<&str> = self.servers().map(|(alias, _)| alias).take(manual::MOST_SERVERS).collect();
        format!("there is no server in {:?}; there are: {}", super::text::one_line(called, 80), aliases.join(", "))
    }

    fn name(&mut self) {
        let named = aliases(self.servers.keys().map(String::as_str));
        self.aliases = named.into_iter().map(|(name, alias)| (name.to_owned(), alias)).collect();
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
