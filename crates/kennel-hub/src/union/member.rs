//! One server among many: its hub, its name, and how it is shown.

use crate::catalog::{Introduced, List, Offer, Offering};
use crate::client::Introduction;
use crate::hub::Hub;
use crate::sync::lock;
use crate::union::lens::{Answer, ServerLens};
use crate::union::names;
use crate::union::presentation::Presentation;
use crate::union::shelf::Shelf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// How many kinds of clients a server's lists are kept ready for.
const MOST_SHELVES: usize = 8;
/// How much of what a server says of itself is told where it is one of many.
const LONGEST_ABOUT: usize = 400;

/// Whether names say which server they are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// They begin with the server's.
    Joined,
    /// They are the server's own; there is one server only.
    Own,
}

/// What makes a server one of many.
#[derive(Debug, Clone)]
pub struct MemberSettings {
    /// Its name in the names of its tools, prompts and resources.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its hub.
    pub hub: Hub,
    /// How its tools are shown.
    pub presentation: Arc<dyn Presentation>,
}

/// One server among many.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: Arc<str>,
    pub(crate) description: Option<String>,
    pub(crate) hub: Hub,
    pub(crate) presentation: Arc<dyn Presentation>,
    pub(crate) naming: Naming,
    shelves: Mutex<Vec<(Arc<Offer>, Arc<Shelf>)>>,
    /// Whether a list has waited for it in vain; it is not waited for again.
    is_late: AtomicBool,
}

impl Member {
    pub(crate) fn new(settings: MemberSettings, naming: Naming) -> Arc<Self> {
        let MemberSettings { name, description, hub, presentation } = settings;
        let (name, shelves, is_late) = (name.into(), Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { name, description, hub, presentation, naming, shelves, is_late })
    }

    /// Whether it is not worth waiting for: a list has done so in vain, or it could not be used when it was last tried.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed) || self.hub.core().book.was_in_vain()
    }

    /// Says that a list has waited for it in vain.
    pub(crate) fn came_late(&self) {
        self.is_late.store(true, Ordering::Relaxed);
        // Nor after a restart: what is known is listed at once then.
        self.hub.core().book.tried_in_vain();
    }

    /// Whether all is known that it has on a list for a kind of client.
    pub(crate) fn is_listed(&self, introduction: &Introduction, list: List) -> bool {
        let Some(offer) = self.hub.core().book.offer_to(introduction) else { return false };
        let has = |introduced: &Introduced| introduced.has_capability(list.capability());
        offer.lists.contains_key(&list) || !offer.introduction.as_ref().is_some_and(has)
    }

    /// What it is for: as it is described, or else as it says itself, as far as that is known.
    pub(crate) fn about(&self, introduction: &Introduction) -> Option<String> {
        if self.description.is_some() {
            return self.description.clone();
        }
        let offer = self.hub.core().book.offer_to(introduction)?;
        let said = offer.introduction.as_ref()?.initialized(&self.name).members();
        let (_, instructions) = said.into_iter().find(|(name, _)| name == "instructions")?;
        let instructions: String = serde_json::from_slice(instructions.as_bytes()).ok()?;
        let words: Vec<&str> = instructions.split_whitespace().collect();
        let mut about: String = words.join(" ").chars().take(LONGEST_ABOUT).collect();
        if about.len() < instructions.len() && about.chars().count() == LONGEST_ABOUT {
            about.push('…');
        }
        Some(about).filter(|about| !about.is_empty())
    }

    /// How clients call what the server calls so.
    pub(crate) fn name_of(&self, own: &str) -> String {
        match self.naming {
            Naming::Joined => names::joined(&self.name, own),
            Naming::Own => own.to_owned(),
        }
    }

    /// How clients call what the server calls so where another has the name that it would have; nothing where names are
    /// the server's own.
    pub(crate) fn name_apart(&self, own: &str) -> Option<String> {
        (self.naming == Naming::Joined).then(|| names::digested(&self.name, own))
    }

    /// How clients address what the server addresses so.
    pub(crate) fn address_of(&self, own: &str) -> String {
        match self.naming {
            Naming::Joined => names::joined_address(&self.name, own),
            Naming::Own => own.to_owned(),
        }
    }

    /// What the server offers to a kind of client, or to any other where that is not known; `None` while nothing is.
    pub(crate) fn shelf(&self, introduction: &Introduction) -> Option<Arc<Shelf>> {
        let offer = self.hub.core().book.offer_to(introduction)?;
        let mut known = lock(&self.shelves);
        if let Some((_, shelf)) = known.iter().find(|(known, _)| Arc::ptr_eq(known, &offer)) {
            return Some(Arc::clone(shelf));
        }
        let filled = Arc::new(Shelf::new(&offer, self));
        if known.len() >= MOST_SHELVES {
            known.remove(0);
        }
        known.push((offer, Arc::clone(&filled)));
        Some(filled)
    }

    /// What changes messages of the server on their way to clients.
    pub(crate) fn lens(self: &Arc<Self>, answer: Answer) -> Arc<ServerLens> {
        Arc::new(ServerLens { member: Arc::clone(self), answer })
    }
}
