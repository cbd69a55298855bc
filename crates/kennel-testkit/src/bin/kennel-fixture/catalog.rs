//! Owns which tools there are: this program's, those of a file, and those added while it runs.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::answers::Answers;
use crate::era::Era;
use crate::incoming::Failure;
use crate::listed::{self, ListedTool};
use crate::options::{Options, TasksOffer, ToolsOffer};
use crate::tools::{self, Tool};

/// The most tools that `add_tool` adds.
const MOST_ADDED: usize = 1000;

/// How cursors begin; to a client they are opaque.
const CURSOR: &str = "tools-from-";

/// The tools of the server.
pub(crate) struct Catalog {
    offer: Offer,
    tasks: TasksOffer,
    added: Mutex<Vec<String>>,
    answers: Answers,
    page_size: Option<usize>,
}

enum Offer {
    Nothing,
    Own,
    Listed(Vec<ListedTool>),
}

/// A tool by its name.
pub(crate) enum Found {
    /// One with code.
    Own(&'static Tool),
    /// One of a file or an added one: [`Catalog::answer`] has its result.
    Plain,
}

impl Catalog {
    pub(crate) fn new(options: &Options) -> io::Result<Self> {
        let offer = match &options.tools {
            ToolsOffer::Own => Offer::Own,
            ToolsOffer::Nothing => Offer::Nothing,
            ToolsOffer::File { path, server } => Offer::Listed(listed::read(path, server.as_deref())?),
        };
        let answers = options.answers.as_deref().map(Answers::read).transpose()?.unwrap_or_default();
        Ok(Self { offer, tasks: options.tasks, added: Mutex::default(), answers, page_size: options.page_size })
    }

    /// Whether the server has the capability of tools.
    pub(crate) fn has_tools(&self) -> bool {
        !matches!(self.offer, Offer::Nothing)
    }

    pub(crate) fn find(&self, name: &str) -> Option<Found> {
        let found = match &self.offer {
            Offer::Nothing => return None,
            Offer::Own => {
                (tools::find(name)).or_else(|| self.of_tasks().iter().find(|tool| tool.name == name)).map(Found::Own)
            }
            Offer::Listed(listed) => listed.iter().any(|tool| tool.name == name).then_some(Found::Plain),
        };
        found.or_else(|| self.added().iter().any(|added| added == name).then_some(Found::Plain))
    }

    /// The result of a call of a plain tool.
    pub(crate) fn answer(&self, tool: &str, arguments: &str) -> String {
        self.answers.result(tool, arguments)
    }

    /// Adds a tool; false if there are too many.
    pub(crate) fn add(&self, name: &str) -> bool {
        let mut added = self.added();
        if added.len() >= MOST_ADDED {
            return false;
        }
        added.push(name.to_owned());
        true
    }

    /// Adds a tool under a name that no other has, unless there are too many.
    pub(crate) fn add_another(&self) {
        let number = self.added().len() + 1;
        self.add(&format!("test_added_tool_{number}"));
    }

    /// One page of the list, as the result of `tools/list`.
    pub(crate) fn page(&self, era: Era, cursor: Option<&str>) -> Result<String, Failure> {
        let all = self.all(era);
        let begin = match cursor {
            None => 0,
            Some(cursor) => (cursor.strip_prefix(CURSOR).and_then(|place| place.parse().ok()))
                .filter(|place| *place < all.len())
                .ok_or_else(|| Failure::invalid_params(format_args!("there is no page `{cursor}`")))?,
        };
        let end = self.page_size.map_or(all.len(), |size| all.len().min(begin + size));
        let page = all.get(begin..end).unwrap_or_default().join(",");
        let next = if end < all.len() { format!(r#","nextCursor":"{CURSOR}{end}""#) } else { String::new() };
        Ok(format!(r#"{{"tools":[{page}]{next}}}"#))
    }

    /// The tools that run as tasks.
    fn of_tasks(&self) -> &'static [Tool] {
        match self.tasks {
            TasksOffer::Nothing => &[],
            TasksOffer::Extension => tools::of_tasks(),
        }
    }

    /// Every tool as JSON.
    fn all(&self, era: Era) -> Vec<String> {
        let mut all = match &self.offer {
            Offer::Nothing => Vec::new(),
            Offer::Own => tools::all().chain(self.of_tasks()).map(|tool| tool.to_json(era)).collect(),
            Offer::Listed(listed) => listed.iter().map(|tool| tool.json.clone()).collect(),
        };
        all.extend(self.added().iter().map(|name| {
            let description = "Says what it was called with; added while the server runs";
            let tool: Value = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            tool.to_string()
        }));
        all
    }

    fn added(&self) -> MutexGuard<'_, Vec<String>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
