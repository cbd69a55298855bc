//! Cuts texts and identifiers into words: `listMessages`, `list_messages` and "List messages" have the same ones.

use super::synonyms;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The longest word, in characters; the rest of a longer one is left out.
const LONGEST_WORD: usize = 48;

/// Words that say nothing about what a tool does.
const STOP_WORDS: &str = "a able about according actually after again along already also am an and another any anybody anything are aren \
    as at be because been before being belong belongs between both but by can cannot case certain could couldn did \
    didn do does doesn don during each etc ever everybody everyone everything far for from given go goes going \
    gone had happen happened happens has hasn have haven having he her here hers him his how i if in instead into \
    is isn it its just know known knows let like liked likes ll may maybe me might mine more most much must my \
    need no nobody not nothing now of off on one only or other our ours out over per perhaps please quite re \
    really right several shall she should shouldn slightly so some somebody somehow someone something somewhere \
    specific specified still such than that the their them then there these they thing things this those three \
    through to today tomorrow too tool two upon us ve very via want wants was wasn we went were what when whenever \
    where whether which while who whose why will with without won would wouldn yesterday yet you your";

/// What ends a pair of words also at a distance: "turn it off", "what does this mean".
const SEPARABLE: [&str; 7] = ["away", "back", "down", "mean", "off", "on", "up"];
/// How far the words of such a pair may be apart.
const FARTHEST: usize = 5;

/// A word of a text in lower case, and its parts if it was written as several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The whole word: `listmessages`, `sha256`, `files`.
    pub(crate) whole: String,
    /// Its parts: `list` and `messages`; `sha`; none of a plain word.
    pub(crate) parts: Vec<String>,
}

/// The words of a text in their order, pairs that mean one thing made one.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for written in text.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '\'' | '’'))) {
        let Some(written) = without_apostrophe(written) else { continue };
        let word = cut(written);
        let reach = if SEPARABLE.contains(&word.whole.as_str()) { FARTHEST } else { 1 };
        let meaning = words.iter_mut().rev().take(reach).find_map(|before| {
            let meaning = synonyms::phrase(&before.whole, &word.whole)?;
            Some((before, meaning))
        });
        match meaning {
            Some((before, meaning)) => *before = Word { whole: meaning.to_owned(), parts: Vec::new() },
            None => words.push(word),
        }
    }
    words
}

/// Whether a word says nothing about what a tool does.
pub(crate) fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    is_number || WORDS.contains(word)
}

/// `what's` → `what`, `can't` → `can`, `'name'` → `name`.
fn without_apostrophe(written: &str) -> Option<&str> {
    let written = written.trim_matches(['\'', '’']);
    written.split(['\'', '’']).next().filter(|start| !start.is_empty())
}

/// A word as written, cut where its letters change: at a capital, before the last of several capitals, at digits.
fn cut(written: &str) -> Word {
    // Most words are plain.
    let is_plain = written.len() <= LONGEST_WORD && written.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_plain && !written.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()) {
        return Word { whole: written.to_ascii_lowercase(), parts: Vec::new() };
    }
    let letters: Vec<char> = written.chars().take(LONGEST_WORD).collect();
    let mut parts: Vec<String> = Vec::new();
    let mut start = 0;
    for place in 1..=letters.len() {
        let is_border = match (letters.get(place - 1), letters.get(place)) {
            (Some(before), Some(here)) => {
                // `URLs` is one word, `URLPart` two.
                let is_plural = letters.get(place + 1) == Some(&'s') && letters.get(place + 2).is_none();
                let next_is_small = letters.get(place + 1).is_some_and(|next| next.is_lowercase()) && !is_plural;
                (before.is_lowercase() && here.is_uppercase())
                    || (before.is_uppercase() && here.is_uppercase() && next_is_small)
                    || before.is_numeric() != here.is_numeric()
            }
            _ => true,
        };
        if is_border {
            let part = letters.get(start..place).unwrap_or_default();
            // Letters beside digits are worth looking for only if they can be a word.
            if !part.iter().any(|letter| letter.is_numeric()) {
                parts.push(part.iter().flat_map(|letter| letter.to_lowercase()).collect());
            }
            start = place;
        }
    }
    let whole: String = letters.iter().flat_map(|letter| letter.to_lowercase()).collect();
    if letters.iter().any(|letter| letter.is_numeric()) {
        parts.retain(|part| part.chars().count() > 2);
    }
    if parts.len() == 1 && parts.first() == Some(&whole) {
        parts.clear();
    }
    Word { whole, parts }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
