//! What is remembered of one server: its offers to all kinds of clients, and the eras that it speaks; from one hub to the next, too.

use crate::catalog::{Catalog, Introduced, List, Offer};
use crate::client::Introduction;
use crate::mirrored::{self, HeaderParameter, Mirrored};
use crate::principal::hexadecimal;
use crate::settings::CatalogPlace;
use crate::sync::lock;
use kennel_state::{Answer, Store};
use kennel_wire::{Era, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How many kinds of clients a catalog is kept for.
const MOST_KINDS: usize = 32;
/// How long after it was opened a book may still be waited for. It is there within milliseconds, unless the disk is ill.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What is known of the eras that a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Eras {
    legacy: Knowledge,
    modern: Knowledge,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// How many bytes are remembered of all offers together.
    most_bytes: usize,
    catalogs: Mutex<HashMap<String, Arc<Catalog>>>,
    place: Option<Place>,
    memory: Mutex<Memory>,
    /// Eras that are not worth another try as long as this hub lives, although nobody has refused them.
    shunned: Mutex<Eras>,
    mirrored: Mutex<Mirrored>,
    /// Whether it is known that no tool has arguments with headers, as is usual.
    is_unmirrored: AtomicBool,
    /// Says that what is remembered has changed.
    changes: watch::Sender<u64>,
}

/// Where the book is kept.
#[derive(Debug)]
struct Place {
    store: Store,
    /// The key of the server.
    key: String,
}

/// What is kept, or will be known to be as soon as it is needed.
#[derive(Debug, Default)]
struct Memory {
    asked: Option<Asked>,
    kept: Kept,
    /// Whether somebody before this hub has tried the server, and learned nothing of what it offers.
    was_in_vain: bool,
    /// What is shown where nobody can be asked: what is kept, with each list that has changed as it was before, until
    /// the new one is there.
    shown: Shown,
}

/// What is shown, by the kind of client.
pub(crate) type Shown = BTreeMap<String, Arc<Offer>>;

/// A question to the store that nobody has waited for yet.
#[derive(Debug)]
struct Asked {
    answer: Answer<Option<kennel_state::Catalog>>,
    deadline: Instant,
}

/// What is kept.
#[derive(Debug, Clone, Default)]
struct Kept {
    eras: Eras,
    offers: BTreeMap<String, Arc<Offer>>,
}

impl Book {
    /// Opens the book of a server, without waiting for it.
    pub(crate) fn open(place: Option<&CatalogPlace>, most_bytes: usize) -> Arc<Self> {
        let place = place.map(|place| Place { store: place.store.clone(), key: digest(place.fingerprint.as_bytes()) });
        let asked = place
            .as_ref()
            .map(|place| Asked { answer: place.store.catalog(&place.key), deadline: Instant::now() + LONGEST_WAIT });
        Arc::new(Self {
            most_bytes,
            mirrored: Mutex::default(),
            is_unmirrored: AtomicBool::new(false),
            catalogs: Mutex::default(),
            place,
            memory: Mutex::new(Memory { asked, ..Memory::default() }),
            shunned: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    /// What is remembered; the first time that is wanted, it is waited for. A book that cannot be read is as good as
    /// empty: the server will say it again.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        let mut memory = lock(&self.memory);
        if let Some(Asked { answer, deadline }) = memory.asked.take() {
            let answer = answer.wait(deadline.saturating_duration_since(Instant::now()));
            let kept = answer.ok().flatten().map(Kept::from);
            memory.was_in_vain = kept.as_ref().is_some_and(|kept| kept.offers.is_empty());
            memory.kept = kept.unwrap_or_default();
            memory.shown = memory.kept.offers.clone();
            let mut mirrored = lock(&self.mirrored);
            for offer in memory.kept.offers.values() {
                let tools = offer.lists.get(&List::Tools).map(Vec::as_slice).unwrap_or_default();
                mirrored::note(&mut mirrored, tools);
            }
        }
        memory
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
            let offer = self.memory().kept.offers.get(&kind).cloned().unwrap_or_default();
            Arc::new(Catalog::new(kind, offer, Arc::clone(self)))
        });
        Arc::clone(catalog)
    }

    /// Whether it holds anything.
    pub(crate) fn is_written(&self) -> bool {
        !self.memory().kept.offers.is_empty()
    }

    /// Whether the server was tried before this hub was there, and nothing of what it offers is known even now.
    pub(crate) fn was_in_vain(&self) -> bool {
        let memory = self.memory();
        memory.was_in_vain && memory.kept.offers.is_empty()
    }

    /// The server was tried, and could not be used, or not in time; the next hub shall know.
    pub(crate) fn tried_in_vain(&self) {
        let memory = self.memory();
        if memory.kept.offers.is_empty() {
            self.keep(&memory.kept);
        }
    }

    /// What is known of the eras that the server speaks.
    pub(crate) fn eras(&self) -> Eras {
        let (mut eras, shunned) = (self.memory().kept.eras, *lock(&self.shunned));
        for era in [Era::Legacy, Era::Modern] {
            if shunned.is_refused(era) && !eras.is_spoken(era) {
                eras.note(era, Knowledge::Refused);
            }
        }
        eras
    }

    /// A process was opened in this era.
    pub(crate) fn spoke(&self, era: Era) {
        self.learn(era, Knowledge::Spoken);
    }

    /// The server has said that it does not speak this era.
    pub(crate) fn refused(&self, era: Era) {
        self.learn(era, Knowledge::Refused);
    }

    fn learn(&self, era: Era, knowledge: Knowledge) {
        let mut memory = self.memory();
        if memory.kept.eras.note(era, knowledge) {
            self.keep(&memory.kept);
        }
    }

    /// The server gave no sign in this era; perhaps it was only slow.
    pub(crate) fn shunned(&self, era: Era) {
        lock(&self.shunned).note(era, Knowledge::Refused);
    }

    /// Takes down what tools say of themselves, whoever it is told.
    pub(crate) fn note_tools(&self, pages: &[RawJson]) {
        let mut mirrored = lock(&self.mirrored);
        mirrored::note(&mut mirrored, pages);
        if !mirrored.is_empty() {
            self.is_unmirrored.store(false, Ordering::Release);
        }
    }

    /// The arguments of a tool that have headers, as far as the tool is known.
    pub(crate) fn mirrored(&self, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        if self.is_unmirrored.load(Ordering::Acquire) {
            return None;
        }
        drop(self.memory());
        let mirrored = lock(&self.mirrored);
        self.is_unmirrored.store(mirrored.is_empty(), Ordering::Release);
        mirrored.get(tool).cloned()
    }

    pub(crate) fn note(&self, kind: &str, offer: Arc<Offer>) {
        let mut memory = self.memory();
        let Memory { kept, shown, .. } = &mut *memory;
        let offers = &mut kept.offers;
        if offers.len() >= MOST_KINDS && !offers.contains_key(kind) {
            return;
        }
        if offer.bytes() > self.most_bytes {
            return;
        }
        offers.insert(kind.to_owned(), Arc::clone(&offer));
        // What was said last counts; what other kinds of clients are offered will be said again.
        while offers.values().map(|offer| offer.bytes()).sum::<usize>() > self.most_bytes
            && let Some(other) = offers.keys().find(|other| *other != kind).cloned()
        {
            offers.remove(&other);
            shown.remove(&other);
        }
        self.keep(kept);
        show(shown, kind, offer);
        drop(memory);
        self.changes.send_modify(|count| *count += 1);
    }

    /// How many bytes are remembered of all offers together.
    pub(crate) fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// Says when what is remembered changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What the server offers to those who introduce themselves so, or where that is not known, the most that it offers
    /// to anybody.
    pub(crate) fn offer_to(&self, introduction: &Introduction) -> Option<Arc<Offer>> {
        shown_to(&self.memory().shown, &kind_of(introduction.era, &introduction.params)).cloned()
    }

    /// What is shown to all kinds of clients.
    pub(crate) fn shown(&self) -> Shown {
        self.memory().shown.clone()
    }

    /// Has it written, soon and by others. Under the lock, so that what was learned last is written last.
    fn keep(&self, kept: &Kept) {
        if let Some(Place { store, key }) = &self.place {
            store.put_catalog(key, kept.into());
        }
    }
}

/// Notes what is shown to a kind of client.
fn show(shown: &mut Shown, kind: &str, mut offer: Arc<Offer>) {
    let before = shown.get(kind).into_iter().flat_map(|before| &before.lists);
    let missing: Vec<_> = before.filter(|(list, _)| !offer.lists.contains_key(list)).collect();
    if !missing.is_empty() {
        let missing = missing.into_iter().map(|(list, pages)| (*list, pages.clone()));
        let mut whole = Offer::clone(&offer);
        whole.lists.extend(missing);
        offer = Arc::new(whole);
    }
    if shown.get(kind) != Some(&offer) {
        shown.insert(kind.to_owned(), offer);
    }
}

/// What is shown to a kind of client, or where that is not known, the most that is shown to anybody.
pub(crate) fn shown_to<'a>(shown: &'a Shown, kind: &str) -> Option<&'a Arc<Offer>> {
    let is_known = |offer: &&Arc<Offer>| offer.introduction.is_some() && offer.lists.contains_key(&List::Tools);
    let most = || {
        let size =
            |offer: &&Arc<Offer>| offer.lists.values().flatten().map(|page| page.as_bytes().len()).sum::<usize>();
        shown.values().filter(is_known).max_by_key(size)
    };
    shown.get(kind).filter(is_known).or_else(most)
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
    digest(format!("{} {text}", name(era)).as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}

/// What an era is called in the store.
fn name(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

const SPOKEN: &str = "spoken";
const REFUSED: &str = "refused";

/// What cannot be read is left out.
impl From<kennel_state::Catalog> for Kept {
    fn from(catalog: kennel_state::Catalog) -> Self {
        let mut eras = Eras::default();
        for era in [Era::Legacy, Era::Modern] {
            let knowledge = match catalog.eras.get(name(era)).map(String::as_str) {
                Some(SPOKEN) => Knowledge::Spoken,
                Some(REFUSED) => Knowledge::Refused,
                _ => Knowledge::Unknown,
            };
            eras.note(era, knowledge);
        }
        let offers = catalog.offers.into_iter().filter_map(|(kind, offer)| {
            let era = [Era::Legacy, Era::Modern].into_iter().find(|era| name(*era) == offer.era)?;
            let result = RawJson::parse(offer.introduction).ok()?;
            let introduction = Some(Introduced { era, version: offer.version, result });
            let list = |(method, pages): (String, Vec<_>)| {
                let pages = pages.into_iter().map(|page| RawJson::parse(page).ok()).collect::<Option<_>>();
                Some((List::of_method(&method)?, pages?))
            };
            let lists = offer.lists.into_iter().filter_map(list).collect();
            Some((kind, Arc::new(Offer { introduction, lists })))
        });
        Self { eras, offers: offers.collect() }
    }
}

impl From<&Kept> for kennel_state::Catalog {
    fn from(kept: &Kept) -> Self {
        let knowledge = |era| match kept.eras.of(era) {
            Knowledge::Unknown => None,
            Knowledge::Spoken => Some((name(era).to_owned(), SPOKEN.to_owned())),
            Knowledge::Refused => Some((name(era).to_owned(), REFUSED.to_owned())),
        };
        let bytes = |json: &RawJson| json.clone().into_bytes();
        let list = |(list, pages): (&List, &Vec<_>)| (list.method().to_owned(), pages.iter().map(bytes).collect());
        let offers = kept.offers.iter().filter_map(|(kind, offer)| {
            let Introduced { era, version, result } = offer.introduction.as_ref()?;
            let offer = kennel_state::Offer {
                era: name(*era).to_owned(),
                version: version.clone(),
                introduction: bytes(result),
                lists: offer.lists.iter().map(list).collect(),
            };
            Some((kind.clone(), offer))
        });
        Self { eras: [Era::Legacy, Era::Modern].into_iter().filter_map(knowledge).collect(), offers: offers.collect() }
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
