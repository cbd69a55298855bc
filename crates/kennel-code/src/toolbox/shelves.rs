//! What servers offer, made ready for code once and shared by all who see the same.

use crate::cell::Versioned;
use crate::docs::{Catalog, Server};
use crate::notebook::{AskError, AskErrorKind};
use crate::sync::lock;
use kennel_hub::OfferedServer;
use kennel_wire::RawJson;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// All servers at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    offered: Vec<OfferedServer>,
    catalog: Catalog,
    shelves: HashMap<String, Arc<Shelf>>,
    message: Versioned,
}

/// One server.
#[derive(Debug)]
struct Shelf {
    offered: OfferedServer,
    docs: Arc<Server>,
    /// By which name each tool is called.
    called: HashMap<String, String>,
}

/// A tool that can be called.
#[derive(Debug)]
pub(super) struct Callable {
    pub(super) called: String,
    pub(super) read_only: bool,
}

/// What was made ready last.
#[derive(Debug, Default)]
pub(crate) struct Shelves(Mutex<Option<Arc<Snapshot>>>);

impl Shelves {
    /// These servers, made ready unless they are.
    pub(crate) async fn snapshot(&self, offered: Vec<OfferedServer>) -> Arc<Snapshot> {
        let last = lock(&self.0).clone();
        if let Some(last) = last.as_ref().filter(|last| last.is_of(&offered)) {
            return Arc::clone(last);
        }
        // Many schemas take a while to read.
        let made = tokio::task::spawn_blocking(move || Arc::new(Snapshot::new(offered, last.as_deref()))).await;
        let made = made.unwrap_or_else(|_| Arc::new(Snapshot::new(Vec::new(), None)));
        *lock(&self.0) = Some(Arc::clone(&made));
        made
    }
}

impl Snapshot {
    fn new(offered: Vec<OfferedServer>, last: Option<&Self>) -> Self {
        static VERSIONS: AtomicU64 = AtomicU64::new(0);
        let mut catalog = last.map(|last| last.catalog.clone()).unwrap_or_default();
        let mut shelves = HashMap::new();
        for server in &offered {
            let name = server.name.to_string();
            let known = last.and_then(|last| last.shelves.get(&name)).filter(|known| known.offered.is_same(server));
            let shelf = known.cloned().unwrap_or_else(|| {
                let shelf = Arc::new(Shelf::new(server));
                catalog.replace(Arc::clone(&shelf.docs));
                shelf
            });
            shelves.insert(name, shelf);
        }
        let gone: Vec<String> = catalog.servers().map(|(_, server)| server.name().to_owned()).collect();
        for name in gone.iter().filter(|name| !shelves.contains_key(*name)) {
            catalog.remove(name);
        }
        let servers = catalog.for_box();
        let message = RawJson::object([("t", &RawJson::string("servers")), ("servers", &servers)]).into_bytes();
        let message = Versioned { version: VERSIONS.fetch_add(1, Ordering::Relaxed) + 1, message };
        Self { offered, catalog, shelves, message }
    }

    fn is_of(&self, offered: &[OfferedServer]) -> bool {
        self.offered.len() == offered.len() && self.offered.iter().zip(offered).all(|(one, other)| one.is_same(other))
    }

    /// All servers as code sees them.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The message that tells a notebook of them.
    pub(crate) fn message(&self) -> &Versioned {
        &self.message
    }

    /// A tool by the alias of its server and its name there.
    pub(super) fn tool(&self, alias: &str, tool: &str) -> Result<Callable, AskError> {
        let refused = |text: String| AskError::new(AskErrorKind::Protocol, text);
        let (_, server) = self.catalog.server(alias).ok_or_else(|| refused(format!("there is no server `{alias}`")))?;
        let kept = self.shelves.get(server.name()).ok_or_else(|| refused(format!("there is no server `{alias}`")))?;
        let known = server.tool(tool);
        let called = known.and_then(|known| kept.called.get(&known.name));
        match (known, called) {
            (Some(known), Some(called)) => Ok(Callable { called: called.clone(), read_only: known.read_only }),
            _ if !kept.offered.is_known() => {
                Err(refused(format!("the server `{alias}` has not started, so its tools are not known")))
            }
            _ => Err(refused(format!("the server `{alias}` has no tool `{tool}`"))),
        }
    }
}

impl Shelf {
    fn new(server: &OfferedServer) -> Self {
        let own_name = |tool: &kennel_hub::OfferedTool<'_>| {
            let mut members = tool.definition.members();
            for (name, value) in &mut members {
                if name == "name" {
                    *value = RawJson::string(tool.name);
                }
            }
            RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value)))
        };
        let definitions = server.tools().map(|tool| own_name(&tool)).collect();
        let description = server.description.as_deref().unwrap_or_default();
        Self {
            docs: Arc::new(Server::read(&server.name, description, definitions)),
            called: server.tools().map(|tool| (tool.name.to_owned(), tool.called.to_owned())).collect(),
            offered: server.clone(),
        }
    }
}
