//! The part of an index that holds one server's tools: which words they have, and how much each word says of each.
//!
//! It is made once and never changed. Lengths are held against typical ones instead of against the other tools of the
//! index, so that a part does not depend on which others it is searched with.

use super::document::Document;
use super::stem::stem;
use super::text::first_sentence;
use super::words::{is_stop_word, words};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How soon a word that is said again says nothing new.
const SATURATION: f32 = 1.2;
/// How many tools of one server are indexed.
const MOST_DOCUMENTS: usize = 50_000;
/// Words of a server's name that all servers have.
const SERVER_NOISE: [&str; 4] = ["mcp", "server", "remote", "api"];

/// What a word is worth by where it stands, and how many words usually stand there.
struct Field {
    weight: f32,
    typical_words: f32,
    /// How much of the weight shrinks as there are more words than usual.
    shrinks: f32,
}

const NAME: Field = Field { weight: 3.0, typical_words: 3.0, shrinks: 0.4 };
const TITLE: Field = Field { weight: 1.5, typical_words: 3.0, shrinks: 0.4 };
const SERVER: Field = Field { weight: 2.0, typical_words: 1.5, shrinks: 0.3 };
const SUMMARY: Field = Field { weight: 1.5, typical_words: 8.0, shrinks: 0.5 };
const DETAILS: Field = Field { weight: 0.5, typical_words: 20.0, shrinks: 0.7 };
const ARGUMENTS: Field = Field { weight: 0.3, typical_words: 20.0, shrinks: 0.7 };

/// One server's tools.
#[derive(Debug)]
pub(crate) struct Segment {
    names: Vec<Box<str>>,
    /// The words in their order, end to end.
    text: Box<str>,
    /// Where each word ends in the text.
    ends: Vec<u32>,
    /// Where the postings of each word end.
    posting_ends: Vec<u32>,
    postings: Vec<Posting>,
    /// A bit for each word, so that most words that are not here cost one look. Its length is a power of two.
    filter: Vec<u64>,
}

/// A word that is looked for in many parts of an index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought<'a> {
    word: &'a str,
    hash: u64,
}

impl<'a> Sought<'a> {
    pub(crate) fn new(word: &'a str) -> Self {
        // FNV-1a: short words, no adversary; who makes words collide slows searches for them by one look.
        let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
        Self { word, hash: hash ^ (hash >> 32) }
    }

    /// Its place in a filter of so many numbers: which of them, and which bit.
    fn bit(self, length: usize) -> (usize, u64) {
        let places = u64::try_from(length).unwrap_or(1).saturating_mul(64);
        let place = self.hash & places.saturating_sub(1);
        (usize::try_from(place / 64).unwrap_or_default(), 1 << (place % 64))
    }
}

/// That a tool has a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    /// Which of the server's tools.
    pub(crate) document: u32,
    /// How much the word says of it: more than 0, less than 1.
    pub(crate) gain: f32,
    /// How much of its name the word is.
    pub(crate) share: f32,
}

impl Segment {
    pub(crate) fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut names = Vec::new();
        let mut found: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        for (document, number) in documents.into_iter().take(MOST_DOCUMENTS).zip(0_u32..) {
            let name = BTreeSet::from_iter(stems(document.counted_name(), &[]));
            let share = 1.0 / count(name.len().max(1));
            for (word, weight) in weights(&document) {
                let share = if name.contains(&word) { share } else { 0.0 };
                let gain = weight / (SATURATION + weight);
                found.entry(word).or_default().push(Posting { document: number, gain, share });
            }
            names.push(document.name.into());
        }
        let mut segment = Self {
            names,
            text: Box::default(),
            ends: Vec::new(),
            posting_ends: Vec::new(),
            postings: Vec::new(),
            filter: vec![0; (found.len() / 8).next_power_of_two()],
        };
        let mut text = String::new();
        for (word, postings) in found {
            text.push_str(&word);
            segment.postings.extend(postings);
            let (place, bit) = Sought::new(&word).bit(segment.filter.len());
            segment.filter.get_mut(place).into_iter().for_each(|bits| *bits |= bit);
            segment.ends.push(number(text.len()));
            segment.posting_ends.push(number(segment.postings.len()));
        }
        segment.text = text.into();
        segment.names.shrink_to_fit();
        segment.ends.shrink_to_fit();
        segment.posting_ends.shrink_to_fit();
        segment.postings.shrink_to_fit();
        segment
    }

    /// How many tools it has.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| size_of::<Box<str>>() + name.len()).sum();
        let places = (self.ends.capacity() + self.posting_ends.capacity()) * size_of::<u32>();
        let postings = self.postings.capacity() * size_of::<Posting>();
        size_of::<Self>() + names + self.text.len() + places + postings + self.filter.capacity() * size_of::<u64>()
    }

    /// The name of a tool.
    pub(crate) fn name(&self, document: usize) -> &str {
        self.names.get(document).map(AsRef::as_ref).unwrap_or_default()
    }

    /// The tools that have a word.
    pub(crate) fn postings(&self, sought: Sought<'_>) -> &[Posting] {
        let (place, bit) = sought.bit(self.filter.len());
        if self.filter.get(place).is_none_or(|bits| bits & bit == 0) {
            return &[];
        }
        let place = self.place(sought.word);
        if self.word(place) != Some(sought.word) {
            return &[];
        }
        self.postings.get(range(&self.posting_ends, place)).unwrap_or_default()
    }

    /// The words that begin like this, in their order.
    pub(crate) fn words_from<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let words = (self.place(prefix)..).map_while(|place| self.word(place));
        words.take_while(move |word| word.starts_with(prefix))
    }

    /// Where a word is, or would be.
    fn place(&self, word: &str) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.word(middle).unwrap_or_default() < word { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn word(&self, place: usize) -> Option<&str> {
        if place >= self.ends.len() {
            return None;
        }
        self.text.get(range(&self.ends, place))
    }
}

/// What lies between the end before a place and the one at it.
fn range(ends: &[u32], place: usize) -> Range<usize> {
    let end = |place: usize| ends.get(place).map_or(0, |end| *end as usize);
    place.checked_sub(1).map_or(0, end)..end(place)
}

#[expect(clippy::cast_precision_loss, reason = "texts are bounded to a few thousand words")]
fn count(words: usize) -> f32 {
    words as f32
}

fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// What each word says of a tool, before saturation.
fn weights(document: &Document<'_>) -> BTreeMap<String, f32> {
    let mut weights = BTreeMap::new();
    let (summary, details) = first_sentence(&document.description);
    let mut add = |text: &str, field: &Field, noise: &[&str]| {
        let words = stems(text, noise);
        let length = count(words.len());
        let size = 1.0 - field.shrinks + field.shrinks * length / field.typical_words;
        for word in words {
            *weights.entry(word).or_insert(0.0) += field.weight / size;
        }
    };
    add(document.counted_name(), &NAME, &[]);
    add(&document.title, &TITLE, &["tool"]);
    add(&document.server, &SERVER, &SERVER_NOISE);
    add(summary, &SUMMARY, &[]);
    add(details, &DETAILS, &[]);
    add(&document.arguments, &ARGUMENTS, &[]);
    weights
}

/// The stems of the words of a text that say something, with the parts of those that have some.
fn stems(text: &str, noise: &[&str]) -> Vec<String> {
    let words = words(text).into_iter().flat_map(|word| std::iter::once(word.whole).chain(word.parts));
    words.filter(|word| !is_stop_word(word) && !noise.contains(&word.as_str())).map(|word| stem(&word)).collect()
}
