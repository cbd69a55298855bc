//! Results that are too large to be shown, kept in memory to be read in pages by whom they belong to.

mod address;

pub use address::PREFIX;

use crate::output::{Kept, grouped};
use crate::owner::{Holder, Owner, unguessable};
use crate::settings::ResultLimits;
use crate::sync::lock;
use address::Address;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The results that are kept.
#[derive(Debug)]
pub struct Results {
    limits: ResultLimits,
    archive: Mutex<Archive>,
}

#[derive(Debug, Default)]
struct Archive {
    /// Oldest first.
    kept: VecDeque<Entry>,
    bytes: usize,
    gone: VecDeque<Gone>,
}

#[derive(Debug)]
struct Entry {
    id: String,
    holder: Holder,
    content: Arc<Kept>,
    /// What stands between the head and the tail.
    gap: Bytes,
}

#[derive(Debug)]
struct Gone {
    id: String,
    holder: Holder,
    why: GoneWhy,
}

/// Why a result is not kept any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GoneWhy {
    /// Newer results of its owner needed the room.
    #[error("newer results needed its room: {} bytes are kept for one owner", grouped(*limit as u64))]
    OwnerFull {
        /// How many bytes are kept for one owner.
        limit: usize,
    },
    /// Newer results of its owner took its place.
    #[error("newer results took its place: {limit} are kept for one owner")]
    TooMany {
        /// How many are kept for one owner.
        limit: usize,
    },
    /// Newer results of others needed the room.
    #[error("newer results needed its room: {} bytes are kept for all owners together", grouped(*limit as u64))]
    Full {
        /// How many bytes are kept for all owners.
        limit: usize,
    },
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It has not the form of an address of a result.
    #[error("{uri} is no address of a result: {problem}; the form is {PREFIX}<id>?offset=<bytes>&limit=<bytes>")]
    Malformed {
        /// The address.
        uri: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no such result, or it belongs to another holder.
    #[error("there is no result {uri}")]
    Unknown {
        /// The address.
        uri: String,
    },
    /// It was kept and is not any more.
    #[error("the result {uri} is gone: {why}; run the code again, and print or return less of it")]
    Gone {
        /// The address.
        uri: String,
        /// Why it is gone.
        why: GoneWhy,
    },
    /// It ends before the offset.
    #[error("the result {uri} has {} bytes, and the offset is {}", grouped(*length as u64), grouped(*offset))]
    PastEnd {
        /// The address.
        uri: String,
        /// The offset that was asked for.
        offset: u64,
        /// How many bytes the result has.
        length: usize,
    },
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The text of the part; what is no UTF-8 is replaced.
    pub text: String,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// How many bytes the result has.
    pub length: usize,
    /// The address of the part that follows.
    pub next: Option<String>,
}

impl Results {
    /// Keeps nothing yet.
    #[must_use]
    pub fn new(limits: ResultLimits) -> Self {
        Self { limits, archive: Mutex::default() }
    }

    /// Keeps a result for a holder, drops older ones that have no room any more, and returns its address; nothing
    /// where it is larger than all that is kept for an owner, or where no name can be made for it.
    pub fn keep(&self, holder: &Holder, content: &Arc<Kept>) -> Option<String> {
        let gap = match content.total - (content.head.len() + content.tail.len()) as u64 {
            0 => Bytes::new(),
            missing => format!("\n… {} bytes not kept …\n", grouped(missing)).into(),
        };
        let id = unguessable('r').ok()?;
        let mut archive = lock(&self.archive);
        let entry = Entry { id, holder: holder.clone(), content: Arc::clone(content), gap };
        if entry.length() > self.limits.owner_bytes.min(self.limits.total_bytes) {
            return None;
        }
        let uri = format!("{PREFIX}{}", entry.id);
        archive.bytes += entry.length();
        archive.kept.push_back(entry);
        archive.make_room(holder.owner(), &self.limits);
        Some(uri)
    }

    /// Whether an address is one of a result.
    #[must_use]
    pub fn is_result(uri: &str) -> bool {
        uri.starts_with(PREFIX)
    }

    /// Reads the part that an address names.
    pub fn read(&self, holder: &Holder, uri: &str) -> Result<Page, ReadError> {
        let address = Address::parse(uri)
            .map_err(|problem| ReadError::Malformed { uri: address::bounded(uri), problem: problem.to_owned() })?;
        let archive = lock(&self.archive);
        let Some(entry) = archive.kept.iter().find(|entry| entry.id == address.id && entry.holder == *holder) else {
            let uri = address::bounded(uri);
            let gone = archive.gone.iter().find(|gone| gone.id == address.id && gone.holder == *holder);
            return Err(match gone {
                Some(gone) => ReadError::Gone { uri, why: gone.why },
                None => ReadError::Unknown { uri },
            });
        };
        let length = entry.length();
        let limit = address.limit.unwrap_or(self.limits.page_bytes as u64).clamp(4, self.limits.most_page_bytes as u64);
        let past_end = || ReadError::PastEnd { uri: address::bounded(uri), offset: address.offset, length };
        let offset = usize::try_from(address.offset).ok().filter(|offset| *offset <= length).ok_or_else(past_end)?;
        let bytes = entry.part(offset, usize::try_from(limit).unwrap_or(usize::MAX));
        let end = offset + bytes.len();
        // A part ends between characters, unless it is the last.
        let partial = if end < length { partial_end(&bytes) } else { 0 };
        let end = end - partial;
        let text = String::from_utf8_lossy(bytes.get(..bytes.len() - partial).unwrap_or_default()).into_owned();
        let limit = address.limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        let next = (end < length).then(|| format!("{PREFIX}{}?offset={end}{limit}", entry.id));
        Ok(Page { text, offset, length, next })
    }

    /// Drops all results of an owner.
    pub fn forget(&self, owner: &Owner) {
        let mut archive = lock(&self.archive);
        archive.kept.retain(|entry| entry.holder.owner() != owner);
        archive.bytes = archive.kept.iter().map(Entry::length).sum();
        archive.gone.retain(|gone| gone.holder.owner() != owner);
    }
}

impl Archive {
    fn make_room(&mut self, owner: &Owner, limits: &ResultLimits) {
        let own = |entry: &&Entry| entry.holder.owner() == owner;
        let mut own_bytes: usize = self.kept.iter().filter(own).map(Entry::length).sum();
        while own_bytes > limits.owner_bytes {
            let Some(oldest) = self.kept.iter().position(|entry| entry.holder.owner() == owner) else { break };
            own_bytes -= self.drop_at(oldest, GoneWhy::OwnerFull { limit: limits.owner_bytes }, limits.remembered);
        }
        if self.kept.iter().filter(own).count() > limits.owner_results {
            // One was added, so one is too many.
            if let Some(oldest) = self.kept.iter().position(|entry| entry.holder.owner() == owner) {
                self.drop_at(oldest, GoneWhy::TooMany { limit: limits.owner_results }, limits.remembered);
            }
        }
        while self.bytes > limits.total_bytes && self.kept.len() > 1 {
            self.drop_at(0, GoneWhy::Full { limit: limits.total_bytes }, limits.remembered);
        }
    }

    fn drop_at(&mut self, index: usize, why: GoneWhy, remembered: usize) -> usize {
        let Some(entry) = self.kept.remove(index) else { return 0 };
        let length = entry.length();
        self.bytes -= length;
        self.gone.push_back(Gone { id: entry.id, holder: entry.holder, why });
        while self.gone.len() > remembered {
            self.gone.pop_front();
        }
        length
    }
}

impl Entry {
    fn length(&self) -> usize {
        self.content.head.len() + self.gap.len() + self.content.tail.len()
    }

    /// At most so many bytes from an offset on.
    fn part(&self, offset: usize, limit: usize) -> Vec<u8> {
        let mut skip = offset;
        let mut part = Vec::new();
        for piece in [&self.content.head, &self.gap, &self.content.tail] {
            let rest = piece.get(skip.min(piece.len())..).unwrap_or_default();
            skip = skip.saturating_sub(piece.len());
            part.extend(rest.iter().take(limit - part.len()));
        }
        part
    }
}

/// How many bytes at the end begin a character and do not end it.
fn partial_end(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(last) if (1..4).contains(&last.invalid().len()) => {
            let incomplete = std::str::from_utf8(last.invalid()).is_err_and(|error| error.error_len().is_none());
            if incomplete { last.invalid().len() } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
