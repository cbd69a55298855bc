//! Makes a question into what is looked for: for each of its words the ones that may stand for it, with their weights.

use super::segment::{Segment, Sought};
use super::spelling::is_one_slip;
use super::stem::stem;
use super::synonyms;
use super::text::start;
use super::words::{Word, is_stop_word, words};
use std::collections::HashSet;

/// How many bytes of a question count.
const LONGEST_QUERY: usize = 1024;
/// How many words of it count.
const MOST_WORDS: usize = 24;
/// How many words a beginning or a slip may stand for.
const MOST_GUESSES: usize = 24;
/// The shortest word that is taken for a beginning, and the shortest that may be a slip.
const SHORTEST_BEGINNING: usize = 4;
const SHORTEST_SLIP: usize = 5;

/// How well another word stands for one that was asked for: it and its neighbour written as one, one that people use for
/// it, the initials of it and its neighbours, a word that is one slip away, and one that begins like the last word.
const JOINED: f32 = 0.95;
const SYNONYM: f32 = 0.75;
const INITIALS: f32 = 0.8;
const SLIP: f32 = 0.6;
const BEGINNING: f32 = 0.2;

/// One word of a question.
#[derive(Debug)]
pub(crate) struct Concept {
    /// Its own stem first, then those that may stand for it, each with how well it does.
    pub(crate) stems: Vec<(String, f32)>,
    /// Whether it is a word for what is done. Each tool does something, and each server has its own words for that, so
    /// that such a word is as rare as all that may stand for it are together.
    pub(crate) is_action: bool,
    /// Whether nobody said it: it tells tools apart that have something else.
    pub(crate) is_implied: bool,
}

/// What tools are called that only look.
const LOOKING: [&str; 8] = ["get", "list", "search", "find", "lookup", "query", "read", "check"];
/// Nouns that people use as verbs, and what they do then.
const VERBED: [(&str, &str); 12] = [
    ("bill", "create"),
    ("book", "create"),
    ("bookmark", "add"),
    ("comment", "add"),
    ("email", "send"),
    ("invoice", "create"),
    ("label", "add"),
    ("mail", "send"),
    ("message", "send"),
    ("schedule", "create"),
    ("tag", "add"),
    ("text", "send"),
];

/// What a question looks for in these parts of an index.
pub(crate) fn concepts(question: &str, segments: &[&Segment]) -> Vec<Concept> {
    let mut words = words(start(question, LONGEST_QUERY));
    if words.iter().any(|word| !is_stop_word(&word.whole)) {
        words.retain(|word| !is_stop_word(&word.whole));
    }
    let taken_apart = words.into_iter().take(MOST_WORDS).flat_map(|word| taken_apart(word, segments));
    let words: Vec<String> = taken_apart.take(MOST_WORDS).collect();
    let mut seen = HashSet::new();
    let mut concepts: Vec<Concept> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let stem = stem(word);
        if seen.insert(stem.clone()) {
            let is_action = synonyms::is_action(&stem);
            let stems = alternatives(&words, place, stem, segments);
            concepts.push(Concept { stems, is_action, is_implied: false });
        }
    }
    concepts.extend(intent(&words, concepts.iter().any(|concept| concept.is_action)));
    concepts
}

/// The stem of a word, and those that may stand for it.
fn alternatives(words: &[String], place: usize, stem: String, segments: &[&Segment]) -> Vec<(String, f32)> {
    let word = words.get(place).map(String::as_str).unwrap_or_default();
    let synonyms = synonyms::of(&stem);
    let mut offered: Vec<(String, f32)> = synonyms.iter().map(|synonym| (synonym.clone(), SYNONYM)).collect();
    let neighbours = words.get(place.saturating_sub(1)..=place).into_iter().chain(words.get(place..=place + 1));
    let joined = neighbours.filter(|pair| pair.len() == 2).map(|pair| super::stem::stem(&pair.concat()));
    offered.extend(joined.filter(|joined| is_known(joined, segments)).map(|joined| (joined, JOINED)));
    if place + 1 == words.len() && word.chars().count() >= SHORTEST_BEGINNING {
        let guesses = guesses(segments, |segment| segment.words_from(word));
        offered.extend(guesses.into_iter().map(|guess| (guess.to_owned(), BEGINNING)));
    }
    if !is_known(&stem, segments) {
        let initials = initials(words, place).filter(|initials| is_known(initials, segments));
        offered.extend(initials.map(|initials| (initials, INITIALS)));
        if stem.chars().count() >= SHORTEST_SLIP && synonyms.is_empty() {
            let first = stem.chars().next().map(String::from).unwrap_or_default();
            let slips =
                guesses(segments, |segment| segment.words_from(&first).filter(|known| is_one_slip(known, &stem)));
            offered.extend(slips.into_iter().map(|slip| (slip.to_owned(), SLIP)));
        }
    }
    // Each once, as what it is best at.
    offered.sort_by(|(one, weight), (other, other_weight)| one.cmp(other).then(other_weight.total_cmp(weight)));
    offered.dedup_by(|(one, _), (other, _)| one == other);
    offered.retain(|(other, _)| *other != stem);
    std::iter::once((stem, 1.0)).chain(offered).collect()
}

/// Whether any tool has a stem.
fn is_known(stem: &str, segments: &[&Segment]) -> bool {
    let sought = Sought::new(stem);
    segments.iter().any(|segment| !segment.postings(sought).is_empty())
}

/// What is to be done if the question has no verb for it: what its first word does as a verb, or else look.
fn intent(words: &[String], is_said: bool) -> Option<Concept> {
    let first = words.first()?;
    let verbs: Vec<&str> = match VERBED.iter().find(|(noun, _)| noun == first) {
        Some((_, verb)) => vec![*verb],
        None if is_said => return None,
        None => LOOKING.to_vec(),
    };
    let stems = verbs.into_iter().map(|verb| (stem(verb), 1.0)).collect();
    Some(Concept { stems, is_action: true, is_implied: true })
}

/// The initials of three or four words that follow one another, this one among them: `fts` of "full text search".
fn initials(words: &[String], place: usize) -> impl Iterator<Item = String> {
    let windows = [3, 4].into_iter().flat_map(move |length| words.windows(length).zip(0..).map(move |it| (length, it)));
    let around = windows.filter(move |(length, (_, first))| (*first..first + length).contains(&place));
    around.map(|(_, (words, _))| words.iter().filter_map(|word| word.chars().next()).collect())
}

/// The word itself, or its parts if nobody knows it as a whole.
fn taken_apart(word: Word, segments: &[&Segment]) -> Vec<String> {
    if word.parts.is_empty() || is_known(&stem(&word.whole), segments) {
        return vec![word.whole];
    }
    word.parts.into_iter().filter(|part| !is_stop_word(part)).collect()
}

/// The first words in their order that the parts of the index name.
fn guesses<'a, Words>(segments: &[&'a Segment], name: impl Fn(&'a Segment) -> Words) -> Vec<&'a str>
where
    Words: Iterator<Item = &'a str>,
{
    let mut guesses: Vec<&str> = Vec::new();
    for segment in segments {
        guesses.extend(name(segment).take(MOST_GUESSES));
        if guesses.len() > 8 * MOST_GUESSES {
            guesses.sort_unstable();
            guesses.dedup();
            guesses.truncate(MOST_GUESSES);
        }
    }
    guesses.sort_unstable();
    guesses.dedup();
    guesses.truncate(MOST_GUESSES);
    guesses
}
