//! How well each tool fits a question: BM25 over weighted fields, with what helps where texts are as short as these.
//!
//! What a word says of a tool is known when the tool is indexed. Here that is multiplied with how rare the word is, the best
//! of the words that stand for one of the question counts, and the sum is corrected: by how much of the question the tool
//! has, by how much of the tool's name the question has, and by what the server's other tools are about.

use super::query::Concept;
use super::segment::{Posting, Segment, Sought};

/// How much of the score depends on how many of the question's words a tool has.
const COVERAGE: f32 = 0.4;
/// How much a tool gains whose name has been said in full.
const NAMED: f32 = 0.5;
/// The least that a word for what is done counts.
const LEAST_ACTION: f32 = 0.5;
/// How much a tool gains from what its server's tools are about: their mean score, as if there were some more without any.
const SURROUNDINGS: f32 = 0.7;
const MORE_WITHOUT: f32 = 2.0;

/// What is known of a tool while its score is made.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    score: f32,
    /// How much of the question it has.
    covered: f32,
    /// How much of its name the question has.
    named: f32,
    /// The best of the words that stand for the one of the question that is looked at, and how much of the name it is.
    best: f32,
    share: f32,
}

/// How well each tool fits, part after part of the index.
pub(crate) fn scores(concepts: &[Concept], segments: &[&Segment]) -> Vec<f32> {
    let documents = segments.iter().map(|segment| segment.len()).sum();
    let mut tallies = vec![Tally::default(); documents];
    let total: f32 = concepts.iter().map(|concept| count(concept, segments, &mut tallies)).sum();
    let corrected = |tally: &Tally| {
        let covered = 1.0 - COVERAGE + COVERAGE * tally.covered / total.max(f32::MIN_POSITIVE);
        tally.score * covered * (1.0 + NAMED * tally.named.min(1.0).powi(2))
    };
    let mut scores: Vec<f32> = tallies.iter().map(corrected).collect();
    let mut rest = scores.as_mut_slice();
    for segment in segments {
        let Some((own, others)) = rest.split_at_mut_checked(segment.len()) else { break };
        add_surroundings(own);
        rest = others;
    }
    scores
}

/// Counts one word of the question, and returns how much it can be worth.
fn count(concept: &Concept, segments: &[&Segment], tallies: &mut [Tally]) -> f32 {
    let found = concept.stems.iter().map(|(stem, weight)| Word::find(stem, *weight, segments));
    let found: Vec<Word<'_>> = found.filter(|word| word.having > 0.0).collect();
    let all = tallies.len();
    let together = rarity(found.iter().map(|word| word.weight * word.having).sum(), all).max(LEAST_ACTION);
    // What stands for a word is no rarer than the word itself, if anybody says that.
    let itself = found.first().filter(|word| word.weight >= 1.0);
    let most = itself.map_or(f32::INFINITY, |word| rarity(word.having, all));
    let mut touched: Vec<usize> = Vec::new();
    let mut importance = 0.0_f32;
    for word in &found {
        let worth = word.weight * if concept.is_action { together } else { rarity(word.having, all).min(most) };
        importance = importance.max(worth);
        for (first, postings) in &word.postings {
            for posting in *postings {
                let document = first + posting.document as usize;
                let Some(tally) = tallies.get_mut(document) else { continue };
                if concept.is_implied && tally.score == 0.0 {
                    continue;
                }
                if tally.best == 0.0 {
                    touched.push(document);
                }
                tally.best = tally.best.max(worth * posting.gain);
                tally.share = tally.share.max(word.weight * posting.share);
            }
        }
    }
    for document in touched {
        let Some(tally) = tallies.get_mut(document) else { continue };
        tally.score += std::mem::take(&mut tally.best);
        tally.named += std::mem::take(&mut tally.share);
        tally.covered += importance;
    }
    importance
}

/// Lets the tools of a server that have something gain from what all of them have: "when coins arrive" is asked of the
/// server whose other tools are about coins.
#[expect(clippy::cast_precision_loss, reason = "a count of tools is far below what is exact")]
fn add_surroundings(scores: &mut [f32]) {
    let mean = scores.iter().sum::<f32>() / (scores.len() as f32 + MORE_WITHOUT);
    for score in scores.iter_mut().filter(|score| **score > 0.0) {
        *score += SURROUNDINGS * mean;
    }
}

/// A stem that is looked for, and where it is.
struct Word<'a> {
    /// How well it stands for the word of the question.
    weight: f32,
    /// How many tools have it.
    having: f32,
    /// The tools, by part of the index: the number of its first tool, and what it knows.
    postings: Vec<(usize, &'a [Posting])>,
}

impl<'a> Word<'a> {
    #[expect(clippy::cast_precision_loss, reason = "a count of tools is far below what is exact")]
    fn find(stem: &str, weight: f32, segments: &[&'a Segment]) -> Self {
        let mut word = Self { weight, having: 0.0, postings: Vec::new() };
        let sought = Sought::new(stem);
        let mut first = 0;
        for segment in segments {
            let postings = segment.postings(sought);
            if !postings.is_empty() {
                word.having += postings.len() as f32;
                word.postings.push((first, postings));
            }
            first += segment.len();
        }
        word
    }
}

/// What it says that a tool has what so many of all have.
#[expect(clippy::cast_precision_loss, reason = "a count of tools is far below what is exact")]
fn rarity(having: f32, documents: usize) -> f32 {
    (1.0 + ((documents as f32 - having).max(0.0) + 0.5) / (having + 0.5)).ln()
}
