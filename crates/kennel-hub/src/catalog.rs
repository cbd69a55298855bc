//! What a server offers, remembered: so that clients see it while no process is ready, and hear when it has changed.

use crate::book::Book;
use crate::sync::lock;
use kennel_supervisor::Handshake;
use kennel_wire::{Era, Message, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

/// The lists that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub(crate) const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method asks for.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.method() == method)
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The capabilities of servers that have lists.
    pub(crate) const CAPABILITIES: [&str; 3] = ["tools", "prompts", "resources"];

    /// The capability of a server that has it.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }

    /// What clients are told when it has changed.
    pub(crate) fn changed(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources | Self::Templates => "notifications/resources/list_changed",
        }
    }
}

/// What a server offers to one kind of client, as it spelled it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offer {
    /// How it introduced itself.
    pub(crate) introduction: Option<Introduced>,
    /// The pages of its lists.
    pub(crate) lists: BTreeMap<List, Vec<RawJson>>,
}

/// How a server introduced itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduced {
    pub(crate) era: Era,
    /// The version that it chose.
    pub(crate) version: String,
    /// Its answer to `initialize` or `server/discover`.
    pub(crate) result: RawJson,
}

impl From<&Handshake> for Introduced {
    fn from(handshake: &Handshake) -> Self {
        Self { era: handshake.era, version: handshake.version.clone(), result: handshake.result.clone() }
    }
}

/// What a server says that it can do.
pub(crate) trait Offering {
    /// What the server says of a capability, if it has it.
    fn capability(&self, name: &str) -> Option<RawJson>;

    fn has_capability(&self, name: &str) -> bool {
        self.capability(name).is_some()
    }

    /// Whether a capability comes with something more.
    fn has_capability_flag(&self, name: &str, flag: &str) -> bool {
        let flags = self.capability(name).map(|capability| capability.members()).unwrap_or_default();
        flags.iter().any(|(member, value)| member == flag && value.as_bytes() == b"true")
    }
}

impl Offering for Handshake {
    fn capability(&self, name: &str) -> Option<RawJson> {
        capability(&self.result, name)
    }
}

impl Offering for Introduced {
    fn capability(&self, name: &str) -> Option<RawJson> {
        capability(&self.result, name)
    }
}

fn capability(introduction: &RawJson, name: &str) -> Option<RawJson> {
    let member = |object: &RawJson, name: &str| {
        object.members().into_iter().find(|(member, _)| member == name).map(|(_, value)| value)
    };
    member(&member(introduction, "capabilities")?, name)
}

impl Offer {
    /// The page that a request for a list asks for.
    pub(crate) fn page(&self, list: List, request: &Message) -> Option<RawJson> {
        let pages = self.lists.get(&list)?;
        let Ok(cursor) = request.field(&["params", "cursor"]) else { return None };
        let index = match cursor {
            None => 0,
            Some(cursor) => pages.iter().position(|page| next_cursor(page).as_ref() == Some(&cursor))? + 1,
        };
        pages.get(index).cloned()
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        let introduction = self.introduction.as_ref().map_or(0, |introduced| introduced.result.as_bytes().len());
        introduction + self.lists.values().map(|pages| bytes_of(pages)).sum::<usize>()
    }

    /// The tools that may be called again without harm, by what the server says of them.
    pub(crate) fn repeatable_tools(&self) -> HashSet<String> {
        #[derive(Deserialize)]
        struct Page {
            #[serde(default)]
            tools: Vec<Tool>,
        }
        #[derive(Deserialize)]
        struct Tool {
            name: String,
            #[serde(default)]
            annotations: Option<Annotations>,
        }
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Annotations {
            read_only_hint: bool,
            idempotent_hint: bool,
        }
        let pages = self.lists.get(&List::Tools).map(Vec::as_slice).unwrap_or_default();
        let pages = pages.iter().filter_map(|page| serde_json::from_slice::<Page>(page.as_bytes()).ok());
        let tools = pages.flat_map(|page| page.tools);
        let repeatable = tools.filter(|tool| {
            tool.annotations.as_ref().is_some_and(|hints| hints.read_only_hint || hints.idempotent_hint)
        });
        repeatable.map(|tool| tool.name).collect()
    }
}

/// How many bytes these pages have.
fn bytes_of(pages: &[RawJson]) -> usize {
    pages.iter().map(|page| page.as_bytes().len()).sum()
}

/// Where a page says that another one follows.
pub(crate) fn next_cursor(page: &RawJson) -> Option<RawJson> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page<'a> {
        #[serde(borrow)]
        next_cursor: Option<&'a RawValue>,
    }
    let page: Page<'_> = serde_json::from_slice(page.as_bytes()).ok()?;
    // Servers that cannot leave a member out write `null` or `""`.
    let cursor = page.next_cursor.filter(|cursor| !matches!(cursor.get(), "null" | "\"\""))?;
    RawJson::parse(cursor.get().to_owned()).ok()
}

/// The offer to one kind of client, shared by the exchanges that serve such clients.
#[derive(Debug)]
pub(crate) struct Catalog {
    kind: String,
    offer: Mutex<Arc<Offer>>,
    book: Arc<Book>,
}

impl Catalog {
    pub(crate) fn new(kind: String, offer: Arc<Offer>, book: Arc<Book>) -> Self {
        Self { kind, offer: Mutex::new(offer), book }
    }

    pub(crate) fn offer(&self) -> Arc<Offer> {
        Arc::clone(&lock(&self.offer))
    }

    /// Takes down what a process said when it became ready, and returns whether its tools are other than before.
    pub(crate) fn opened(&self, handshake: &Handshake) -> bool {
        let introduction = Some(handshake.into());
        let tools = handshake.tools.clone();
        self.book.note_tools(&tools);
        let (mut changed, mut tools_changed) = (false, false);
        self.change(|offer| {
            tools_changed = offer.lists.get(&List::Tools).is_some_and(|known| *known != tools);
            changed = offer.introduction != introduction || offer.lists.get(&List::Tools) != Some(&tools);
            offer.introduction = introduction;
            offer.lists.insert(List::Tools, tools);
            changed
        });
        tools_changed
    }

    /// Takes down all pages of a list, and returns whether it is other than before.
    pub(crate) fn listed(&self, list: List, pages: &[RawJson]) -> bool {
        if list == List::Tools {
            self.book.note_tools(pages);
        }
        let (mut known, mut changed) = (false, false);
        let most = self.book.most_bytes();
        self.change(|offer| {
            let others = offer.bytes() - offer.lists.get(&list).map_or(0, |known| bytes_of(known));
            if others.saturating_add(bytes_of(pages)) > most {
                // Too much to remember: clients ask the process.
                changed = offer.lists.remove(&list).is_some();
                return changed;
            }
            let before = offer.lists.insert(list, pages.to_vec());
            known = before.is_some();
            changed = before.as_deref() != Some(pages);
            changed
        });
        known && changed
    }

    /// Forgets a list that the server says has changed.
    pub(crate) fn forget(&self, list: List) {
        // As often as the server says so, and mostly there is nothing to forget.
        if !self.offer().lists.contains_key(&list) {
            return;
        }
        self.change(|offer| offer.lists.remove(&list).is_some());
    }

    fn change(&self, change: impl FnOnce(&mut Offer) -> bool) {
        let mut held = lock(&self.offer);
        let mut offer = Offer::clone(&held);
        if change(&mut offer) {
            *held = Arc::new(offer);
            drop(held);
            self.book.note(&self.kind, self.offer());
        }
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
