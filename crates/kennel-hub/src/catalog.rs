//! What a server offers, remembered: so that clients see it while no process is ready, and hear when it has changed.

use crate::principal::hexadecimal;
use crate::settings::CatalogPlace;
use crate::sync::lock;
use kennel_supervisor::Handshake;
use kennel_wire::{Message, RawJson};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How many kinds of clients a catalog is kept for.
const MOST_KINDS: usize = 32;

/// The lists that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Its answer to `initialize`, and the version it chose.
    pub(crate) introduction: Option<(String, RawJson)>,
    /// The pages of its lists.
    pub(crate) lists: BTreeMap<List, Vec<RawJson>>,
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
    pub(crate) fn offer(&self) -> Arc<Offer> {
        Arc::clone(&lock(&self.offer))
    }

    /// Takes down what a process said when it became ready, and returns whether its tools are other than before.
    pub(crate) fn opened(&self, handshake: &Handshake) -> bool {
        let introduction = Some((handshake.version.clone(), handshake.result.clone()));
        let tools = handshake.tools.clone();
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
        let (mut known, mut changed) = (false, false);
        self.change(|offer| {
            let before = offer.lists.insert(list, pages.to_vec());
            known = before.is_some();
            changed = before.as_deref() != Some(pages);
            changed
        });
        known && changed
    }

    /// Forgets a list that the server says has changed.
    pub(crate) fn forget(&self, list: List) {
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

/// All that is remembered of one server.
#[derive(Debug)]
pub(crate) struct Book {
    catalogs: Mutex<HashMap<String, Arc<Catalog>>>,
    file: Option<PathBuf>,
    /// What the file holds, or will as soon as it is written.
    kept: Mutex<BTreeMap<String, Arc<Offer>>>,
    changed: Notify,
    /// Whether there is something that was not written.
    is_changed: AtomicBool,
}

/// An offer in the file.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: String,
    initialize: Box<RawValue>,
    lists: BTreeMap<List, Vec<Box<RawValue>>>,
}

impl Book {
    /// Opens the book of a server. One that cannot be read is as good as empty: the server will say it again.
    pub(crate) fn open(place: Option<&CatalogPlace>) -> Arc<Self> {
        let file = place.map(|place| place.directory.join(format!("{}.json", digest(place.fingerprint.as_bytes()))));
        let kept = file.as_deref().and_then(read).unwrap_or_default();
        Arc::new(Self {
            catalogs: Mutex::default(),
            file,
            kept: Mutex::new(kept),
            changed: Notify::new(),
            is_changed: AtomicBool::new(false),
        })
    }

    /// The catalog for clients that introduce themselves so.
    pub(crate) fn catalog(self: &Arc<Self>, params: &RawJson) -> Arc<Catalog> {
        let kind = kind_of(params);
        let mut catalogs = lock(&self.catalogs);
        // Kinds are few; a client that makes up new ones pays by starting cold.
        if catalogs.len() >= MOST_KINDS && !catalogs.contains_key(&kind) {
            catalogs.retain(|_, catalog| Arc::strong_count(catalog) > 1);
        }
        let catalog = catalogs.entry(kind.clone()).or_insert_with(|| {
            let offer = lock(&self.kept).get(&kind).cloned().unwrap_or_default();
            Arc::new(Catalog { kind, offer: Mutex::new(offer), book: Arc::clone(self) })
        });
        Arc::clone(catalog)
    }

    /// Whether it holds anything.
    pub(crate) fn is_written(&self) -> bool {
        !lock(&self.kept).is_empty()
    }

    fn note(&self, kind: &str, offer: Arc<Offer>) {
        let mut kept = lock(&self.kept);
        if kept.len() >= MOST_KINDS && !kept.contains_key(kind) {
            return;
        }
        kept.insert(kind.to_owned(), offer);
        drop(kept);
        self.is_changed.store(true, Ordering::SeqCst);
        self.changed.notify_one();
    }

    /// Writes what is new to the file until `closing`, and then a last time.
    pub(crate) async fn keep(&self, closing: CancellationToken) {
        let Some(file) = &self.file else { return };
        let mut is_open = true;
        while is_open {
            is_open = closing.run_until_cancelled(self.changed.notified()).await.is_some();
            if !is_open && !self.is_changed.load(Ordering::SeqCst) {
                break;
            }
            self.is_changed.store(false, Ordering::SeqCst);
            let kept = lock(&self.kept).clone();
            let file = file.clone();
            // A catalog that cannot be written is made anew next time; that is no reason to bother anybody.
            let _ = tokio::task::spawn_blocking(move || write(&file, &kept)).await;
        }
    }
}

/// Tells kinds of clients apart by what a server may tell them apart by: version and capabilities, not their names.
fn kind_of(params: &RawJson) -> String {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        protocol_version: String,
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
    }
    let text = match serde_json::from_slice::<Params<'_>>(params.as_bytes()) {
        Ok(params) => format!("{} {}", params.protocol_version, params.capabilities.map_or("", RawValue::get)),
        Err(_) => String::from_utf8_lossy(params.as_bytes()).into_owned(),
    };
    digest(text.as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}

fn read(file: &Path) -> Option<BTreeMap<String, Arc<Offer>>> {
    let entries: BTreeMap<String, Entry> = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    let raw = |value: Box<RawValue>| RawJson::parse(value.get().to_owned()).ok();
    let offers = entries.into_iter().filter_map(|(kind, entry)| {
        let introduction = Some((entry.version, raw(entry.initialize)?));
        let lists = entry.lists.into_iter().map(|(list, pages)| (list, pages.into_iter().filter_map(raw).collect()));
        Some((kind, Arc::new(Offer { introduction, lists: lists.collect() })))
    });
    Some(offers.collect())
}

fn write(file: &Path, kept: &BTreeMap<String, Arc<Offer>>) -> std::io::Result<()> {
    let raw = |value: &RawJson| RawValue::from_string(String::from_utf8_lossy(value.as_bytes()).into_owned()).ok();
    let entries = kept.iter().filter_map(|(kind, offer)| {
        let (version, initialize) = offer.introduction.as_ref()?;
        let lists = offer.lists.iter().map(|(list, pages)| (*list, pages.iter().filter_map(raw).collect()));
        Some((kind, Entry { version: version.clone(), initialize: raw(initialize)?, lists: lists.collect() }))
    });
    let entries: BTreeMap<_, _> = entries.collect();
    let directory = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut whole = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer(&mut whole, &entries)?;
    whole.flush()?;
    whole.persist(file)?;
    Ok(())
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
