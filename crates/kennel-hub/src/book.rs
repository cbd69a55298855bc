//! What is remembered of one server: its offers to all kinds of clients, and the eras that it speaks; on disk, too.

use crate::catalog::{Catalog, Introduced, List, Offer};
use crate::mirrored::{self, HeaderParameter, Mirrored};
use crate::principal::hexadecimal;
use crate::settings::CatalogPlace;
use crate::sync::lock;
use kennel_wire::{Era, RawJson};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How many kinds of clients a catalog is kept for.
const MOST_KINDS: usize = 32;

/// What is known of the eras that a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Eras {
    legacy: Knowledge,
    modern: Knowledge,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Knowledge {
    #[default]
    Unknown,
    Spoken,
    Refused,
}

impl Eras {
    pub(crate) fn is_spoken(self, era: Era) -> bool {
        self.of(era) == Knowledge::Spoken
    }

    pub(crate) fn is_refused(self, era: Era) -> bool {
        self.of(era) == Knowledge::Refused
    }

    fn of(self, era: Era) -> Knowledge {
        match era {
            Era::Legacy => self.legacy,
            Era::Modern => self.modern,
        }
    }

    fn note(&mut self, era: Era, knowledge: Knowledge) -> bool {
        let known = match era {
            Era::Legacy => &mut self.legacy,
            Era::Modern => &mut self.modern,
        };
        std::mem::replace(known, knowledge) != knowledge
    }
}

/// All that is remembered of one server.
#[derive(Debug)]
pub(crate) struct Book {
    catalogs: Mutex<HashMap<String, Arc<Catalog>>>,
    file: Option<PathBuf>,
    /// What the file holds, or will as soon as it is written.
    kept: Mutex<Kept>,
    /// Eras that are not worth another try as long as this hub lives, although nobody has refused them.
    shunned: Mutex<Eras>,
    mirrored: Mutex<Mirrored>,
    changed: Notify,
    /// Whether there is something that was not written.
    is_changed: AtomicBool,
}

/// What is kept.
#[derive(Debug, Clone, Default)]
struct Kept {
    eras: Eras,
    offers: BTreeMap<String, Arc<Offer>>,
}

/// What is kept, in the file.
#[derive(Serialize, Deserialize)]
struct Pages {
    eras: Eras,
    offers: BTreeMap<String, Entry>,
}

/// An offer in the file.
#[derive(Serialize, Deserialize)]
struct Entry {
    is_modern: bool,
    version: String,
    introduction: Box<RawValue>,
    lists: BTreeMap<List, Vec<Box<RawValue>>>,
}

impl Book {
    /// Opens the book of a server. One that cannot be read is as good as empty: the server will say it again.
    pub(crate) fn open(place: Option<&CatalogPlace>) -> Arc<Self> {
        let file = place.map(|place| place.directory.join(format!("{}.json", digest(place.fingerprint.as_bytes()))));
        let kept = file.as_deref().and_then(read).unwrap_or_default();
        let mut mirrored = Mirrored::default();
        for offer in kept.offers.values() {
            mirrored::note(&mut mirrored, offer.lists.get(&List::Tools).map(Vec::as_slice).unwrap_or_default());
        }
        Arc::new(Self {
            mirrored: Mutex::new(mirrored),
            catalogs: Mutex::default(),
            file,
            kept: Mutex::new(kept),
            shunned: Mutex::default(),
            changed: Notify::new(),
            is_changed: AtomicBool::new(false),
        })
    }

    /// The catalog for clients that introduce themselves so.
    pub(crate) fn catalog(self: &Arc<Self>, era: Era, params: &RawJson) -> Arc<Catalog> {
        let kind = kind_of(era, params);
        let mut catalogs = lock(&self.catalogs);
        // Kinds are few; a client that makes up new ones pays by starting cold.
        if catalogs.len() >= MOST_KINDS && !catalogs.contains_key(&kind) {
            catalogs.retain(|_, catalog| Arc::strong_count(catalog) > 1);
        }
        let catalog = catalogs.entry(kind.clone()).or_insert_with(|| {
            let offer = lock(&self.kept).offers.get(&kind).cloned().unwrap_or_default();
            Arc::new(Catalog::new(kind, offer, Arc::clone(self)))
        });
        Arc::clone(catalog)
    }

    /// Whether it holds anything.
    pub(crate) fn is_written(&self) -> bool {
        !lock(&self.kept).offers.is_empty()
    }

    /// What is known of the eras that the server speaks.
    pub(crate) fn eras(&self) -> Eras {
        let (mut eras, shunned) = (lock(&self.kept).eras, *lock(&self.shunned));
        for era in [Era::Legacy, Era::Modern] {
            if shunned.is_refused(era) && !eras.is_spoken(era) {
                eras.note(era, Knowledge::Refused);
            }
        }
        eras
    }

    /// A process was opened in this era.
    pub(crate) fn spoke(&self, era: Era) {
        let news = lock(&self.kept).eras.note(era, Knowledge::Spoken);
        if news {
            self.mark();
        }
    }

    /// The server has said that it does not speak this era.
    pub(crate) fn refused(&self, era: Era) {
        let news = lock(&self.kept).eras.note(era, Knowledge::Refused);
        if news {
            self.mark();
        }
    }

    /// The server gave no sign in this era; perhaps it was only slow.
    pub(crate) fn shunned(&self, era: Era) {
        lock(&self.shunned).note(era, Knowledge::Refused);
    }

    /// Takes down what tools say of themselves, whoever it is told.
    pub(crate) fn note_tools(&self, pages: &[RawJson]) {
        mirrored::note(&mut lock(&self.mirrored), pages);
    }

    /// The arguments of a tool that have headers, as far as the tool is known.
    pub(crate) fn mirrored(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        lock(&self.mirrored).get(tool).cloned()
    }

    pub(crate) fn note(&self, kind: &str, offer: Arc<Offer>) {
        let mut kept = lock(&self.kept);
        if kept.offers.len() >= MOST_KINDS && !kept.offers.contains_key(kind) {
            return;
        }
        kept.offers.insert(kind.to_owned(), offer);
        drop(kept);
        self.mark();
    }

    /// Has the file written.
    fn mark(&self) {
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
fn kind_of(era: Era, params: &RawJson) -> String {
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
    let era = match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    };
    digest(format!("{era} {text}").as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}

fn read(file: &Path) -> Option<Kept> {
    let Pages { eras, offers } = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    let raw = |value: Box<RawValue>| RawJson::parse(value.get().to_owned()).ok();
    let offers = offers.into_iter().filter_map(|(kind, entry)| {
        let era = if entry.is_modern { Era::Modern } else { Era::Legacy };
        let introduction = Some(Introduced { era, version: entry.version, result: raw(entry.introduction)? });
        let lists = entry.lists.into_iter().map(|(list, pages)| (list, pages.into_iter().filter_map(raw).collect()));
        Some((kind, Arc::new(Offer { introduction, lists: lists.collect() })))
    });
    Some(Kept { eras, offers: offers.collect() })
}

fn write(file: &Path, kept: &Kept) -> std::io::Result<()> {
    let raw = |value: &RawJson| RawValue::from_string(String::from_utf8_lossy(value.as_bytes()).into_owned()).ok();
    let offers = kept.offers.iter().filter_map(|(kind, offer)| {
        let Introduced { era, version, result } = offer.introduction.as_ref()?;
        let lists = offer.lists.iter().map(|(list, pages)| (*list, pages.iter().filter_map(raw).collect()));
        let (is_modern, version, introduction) = (*era == Era::Modern, version.clone(), raw(result)?);
        Some((kind.clone(), Entry { is_modern, version, introduction, lists: lists.collect() }))
    });
    let pages = Pages { eras: kept.eras, offers: offers.collect() };
    let directory = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut whole = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer(&mut whole, &pages)?;
    whole.flush()?;
    whole.persist(file)?;
    Ok(())
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
